"""The verdict of a comparison: a few sentences that claim no more than the runs support."""

import math
from collections.abc import Sequence
from statistics import fmean, median
from typing import TYPE_CHECKING

from oddkout.comparing.criterion import in_words, mean_out_of_fold
from oddkout.comparing.differences import difference_of_runs
from oddkout.comparing.statistics import Interval
from oddkout.metrics.catalogue import CATALOGUE

if TYPE_CHECKING:
    from oddkout.comparing.comparison import Comparison

# What is always compared with: guessing the class frequencies, and the simplest real classifier.
GUESS, SIMPLE = "guess", "logistic"

# One contestant is cheaper than another if its training takes at most this share of the time; a
# smaller difference may be the machine's.
_CHEAPER = 2 / 3

# A test part is too small to decide if it cannot show this difference in NLL, which is about 10 %
# more probability on the true class.
_LARGE = 0.1


def verdict(comparison: "Comparison") -> str:
    """The result of a comparison in a few sentences."""
    if not comparison.methods:
        return "Every method failed; see the reasons."
    chosen = _chosen(comparison)
    if GUESS in comparison.methods and not better_than(comparison, GUESS):
        sentences = [_nothing_beats_guessing(comparison), _cheapest(comparison), chosen]
    else:
        sentences = [_claim(comparison, "accuracy"), _claim(comparison, "nll")]
        sentences += [_simple(comparison), _cheapest(comparison), chosen, _close(comparison)]
    sentences += [f"Warning: {warning}." for warning in comparison.warnings]
    return " ".join(filter(None, sentences))


def better_than(comparison: "Comparison", reference: str, metric: str = "nll") -> list[str]:
    """The contestants that are significantly better than another one.

    The comparisons with the reference hold at once with 95 % probability.

    Args:
        reference: Name of the contestant to beat.
        metric: Name of the metric.
    """
    others = [name for name in comparison.methods if name != reference]
    return [
        name for name in others if _gain(comparison, name, reference, len(others), metric).high < 0
    ]


def _gain(
    comparison: "Comparison", name: str, reference: str, comparisons: int, metric: str = "nll"
) -> Interval:
    """By how much a contestant is worse than the reference; negative if it is better."""
    return difference_of_runs(
        comparison.by_method[name],
        comparison.by_method[reference],
        metric,
        is_tempered=True,
        comparisons=comparisons,
        pooled=comparison.pooled(metric, is_tempered=True),
    )


def _chosen(comparison: "Comparison") -> str:
    """The winner, and what it was chosen by."""
    winner, criterion = comparison.winner, comparison.criterion
    if winner is None:
        return ""
    if criterion == "nll":
        return f"{winner} has the {in_words(criterion)}."
    metric = CATALOGUE[criterion]
    value = metric.written(mean_out_of_fold(comparison.by_method[winner], criterion))
    unit = " per case" if criterion == "cost" else " %"
    return f"{winner} wins, as asked for, by the {in_words(criterion)}, {value}{unit}."


def _cheapest(comparison: "Comparison") -> str:
    """Who has the lowest cost on the test part, and whether a model pays at all."""
    if comparison.costs is None:
        return ""
    text = _claim(comparison, "cost")
    if GUESS in comparison.methods and not better_than(comparison, GUESS, "cost"):
        cost = CATALOGUE["cost"].written(comparison.mean(GUESS, "cost", is_tempered=True).mean)
        text += (
            " Nothing is significantly cheaper than one answer to all cases, the best by the class "
            f"frequencies (cost {cost})."
        )
    return text


def _nothing_beats_guessing(comparison: "Comparison") -> str:
    """No contestant is better than the class frequencies."""
    nll = CATALOGUE["nll"].written(comparison.mean(GUESS, "nll", is_tempered=True).mean)
    examples = _test_examples(comparison)
    others = [name for name in comparison.methods if name != GUESS]
    text = (
        "Nothing beats guessing: no contestant predicts better than the class frequencies "
        f"(NLL {nll})"
    )
    if not others or examples is None:
        return f"{text}."
    gaps = [_gain(comparison, name, GUESS, len(others)) for name in others]
    # Those that predict nearly the class frequencies would make the smallest one tiny.
    halves = [gap.mean - gap.low for gap in gaps if not math.isnan(gap.low)]
    if not halves:
        return f"{text}."
    return f"{text}. {_too_few(examples, median(halves))}"


def _claim(comparison: "Comparison", metric: str) -> str:
    """The verdict on one metric."""
    best = comparison.best(metric, is_tempered=True)
    tied = comparison.tied(metric, is_tempered=True)
    mean = CATALOGUE[metric].written(comparison.mean(best, metric, is_tempered=True).mean)
    lead = {
        "accuracy": f"{best} has the highest mean accuracy, {mean} %",
        "nll": f"{best} has the best probabilities (NLL {mean})",
        "cost": f"{best} has the lowest cost, {mean} per case",
    }[metric]
    worse = [name for name in comparison.methods if name not in tied]
    others = [name for name in tied if name != best]
    if len(comparison.methods) == 1:
        return f"{lead}; no other method took part."
    if comparison.seeds < 2:
        return f"{lead}; one seed cannot show a significant difference."
    if not others:
        return f"{lead}: significantly better than every other method ({comparison.seeds} seeds)."
    if not worse:
        return f"{lead}; the difference to every other method is within chance."
    return (
        f"{lead}: significantly better than {listed(worse)} ({comparison.seeds} seeds); the "
        f"difference to {listed(others)} is within chance."
    )


def _simple(comparison: "Comparison") -> str:
    """Whether anything beats logistic regression, and by how much.

    These comparisons are fewer than all pairs, so that they may show a difference that the pairs do
    not; the sentence then says so.
    """
    if SIMPLE not in comparison.methods or len(comparison.methods) < 3:
        return ""
    better = better_than(comparison, SIMPLE)
    if not better:
        return "Nothing beats logistic regression significantly in NLL."
    nll = {name: comparison.mean(name, "nll", is_tempered=True).mean for name in (SIMPLE, *better)}
    best = min(better, key=nll.__getitem__)
    text = f"{best} beats logistic regression significantly: {effect(nll[SIMPLE] - nll[best])}"
    if SIMPLE in comparison.tied("nll", is_tempered=True):
        text += ", in comparisons with logistic regression alone"
    return f"{text}."


def _too_few(examples: int, gap: float, decision: str = "to decide") -> str:
    """Which difference a test part of this size can show, and whether that is enough."""
    text = f"With {examples} test examples, a difference in NLL below about {gap:.2g} is within "
    text += "chance"
    return f"{text}: too few test examples {decision}." if gap > _LARGE else f"{text}."


def _close(comparison: "Comparison") -> str:
    """Which of the two best to take if the difference between them is within chance."""
    tied = comparison.tied("nll", is_tempered=True)
    if comparison.seeds < 2 or len(tied) < 2:
        return ""
    ranked = sorted(tied, key=lambda name: comparison.mean(name, "nll", is_tempered=True).mean)[:2]
    seconds = {name: _seconds(comparison, name) for name in ranked}
    if not all(seconds.values()):
        return ""
    cheap, dear = sorted(ranked, key=lambda name: seconds[name])
    cost = (
        f"{cheap} is the cheaper to train."
        if seconds[cheap] <= _CHEAPER * seconds[dear]
        else "both take about as long to train."
    )
    text = f"The NLL of {ranked[0]} and {ranked[1]} is statistically indistinguishable; {cost}"
    examples, lag = _test_examples(comparison), comparison.lag(ranked[1], "nll", is_tempered=True)
    if examples is None or math.isnan(lag.low):
        return text
    half = (lag.high - lag.low) / 2
    return f"{text} {_too_few(examples, half, 'to decide between them')}"


def effect(gap: float) -> str:
    """A difference in NLL in words.

    Example:
        >>> effect(0.04)
        '0.040 lower NLL: about 4 % more probability on the true class'
    """
    percent = 100 * math.expm1(gap)
    return f"{gap:.3f} lower NLL: about {percent:.0f} % more probability on the true class"


def listed(names: Sequence[str]) -> str:
    """Names joined by commas and "and"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _seconds(comparison: "Comparison", name: str) -> float:
    """Mean CPU time of the runs of a contestant; 0 if it is not known."""
    return fmean(run.seconds.get("cpu", 0.0) for run in comparison.by_method[name])


def _test_examples(comparison: "Comparison") -> int | None:
    """Number of test examples of one seed."""
    labels = next(iter(comparison.runs)).labels
    return None if labels is None else len(labels)
