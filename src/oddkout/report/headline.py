"""The answer of a comparison in one sentence, which claims no more than the runs allow."""

from oddkout.comparing.comparison import Comparison


def headline(comparison: Comparison) -> str:
    """Which method is best, or that it cannot be told.

    Args:
        comparison: The comparison.
    """
    if not comparison.methods:
        return "Every method failed"
    if len(comparison.methods) == 1:
        return f"{comparison.methods[0]} alone has run: there is nothing to compare it with"
    accurate, likely = comparison.best("accuracy"), comparison.best("nll")
    if comparison.seeds < 2:
        return f"{accurate} leads in accuracy, but one seed cannot tell methods apart"
    is_accurate, is_likely = (len(comparison.tied(metric)) == 1 for metric in ("accuracy", "nll"))
    if is_accurate and is_likely:
        if accurate == likely:
            return f"{accurate} is the most accurate method and has the best probabilities"
        return f"{accurate} is the most accurate method, {likely} has the best probabilities"
    if is_accurate:
        return f"{accurate} is the most accurate method; whose probabilities are best is open"
    if is_likely:
        return f"{likely} has the best probabilities; which method is most accurate is open"
    if accurate == likely:
        return f"{accurate} leads, but {comparison.seeds} seeds do not tell it from the next best"
    return (
        f"{accurate} leads in accuracy and {likely} in probabilities; {comparison.seeds} seeds "
        "settle neither"
    )
