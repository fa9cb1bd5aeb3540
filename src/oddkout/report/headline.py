"""The result of a comparison in one sentence that claims no more than the runs allow."""

from oddkout.comparing.comparison import Comparison


def headline(comparison: Comparison) -> str:
    """Which method is best, or that the runs do not show it."""
    if not comparison.methods:
        return "Every method failed"
    if len(comparison.methods) == 1:
        return f"Only {comparison.methods[0]} took part: there is nothing to compare it with"
    accurate, likely = (comparison.best(metric, is_tempered=True) for metric in ("accuracy", "nll"))
    if comparison.seeds < 2:
        return f"{accurate} leads in accuracy; one seed cannot show a significant difference"
    is_accurate, is_likely = (
        len(comparison.tied(metric, is_tempered=True)) == 1 for metric in ("accuracy", "nll")
    )
    if is_accurate and is_likely:
        if accurate == likely:
            return f"{accurate} is the most accurate method and has the best probabilities"
        return f"{accurate} is the most accurate method, {likely} has the best probabilities"
    if is_accurate:
        return f"{accurate} is the most accurate method; no method has the best probabilities"
    if is_likely:
        return f"{likely} has the best probabilities; no method is the most accurate"
    if accurate == likely:
        return f"{accurate} leads, but its lead over the next best is within chance"
    return f"{accurate} leads in accuracy, {likely} in probabilities; both leads are within chance"
