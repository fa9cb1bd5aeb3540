"""The result of a comparison in one sentence, which claims no more than the runs support."""

from oddkout.comparing.comparison import Comparison
from oddkout.comparing.verdict import GUESS, better_than


def headline(comparison: Comparison) -> str:
    """The best method, or that no difference is significant."""
    if not comparison.methods:
        return "Every method failed"
    if len(comparison.methods) == 1:
        return f"{comparison.methods[0]} is the only method: there is nothing to compare it with"
    if GUESS in comparison.methods and not better_than(comparison, GUESS):
        return "Nothing beats guessing the class frequencies"
    by_accuracy, by_nll = (
        comparison.best(metric, is_tempered=True) for metric in ("accuracy", "nll")
    )
    if comparison.seeds < 2:
        return f"{by_accuracy} leads in accuracy; one seed cannot show a significant difference"
    is_most_accurate, has_best_nll = (
        len(comparison.tied(metric, is_tempered=True)) == 1 for metric in ("accuracy", "nll")
    )
    if is_most_accurate and has_best_nll:
        if by_accuracy == by_nll:
            return f"{by_accuracy} is the most accurate method and has the best probabilities"
        return f"{by_accuracy} is the most accurate method, {by_nll} has the best probabilities"
    if is_most_accurate:
        return (
            f"{by_accuracy} is the most accurate method; the best probabilities are a tie within "
            "chance"
        )
    if has_best_nll:
        return f"{by_nll} has the best probabilities; the best accuracy is a tie within chance"
    if by_accuracy == by_nll:
        return f"{by_accuracy} leads, but its lead over the next best is within chance"
    return (
        f"{by_accuracy} leads in accuracy, {by_nll} in probabilities; both leads are within chance"
    )
