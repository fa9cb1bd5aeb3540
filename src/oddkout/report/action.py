"""What to do after a comparison: whom to train, why, by which command, and what it promises."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from oddkout.comparing.comparison import Comparison
from oddkout.comparing.contestants import OUTSIDERS, is_outsider
from oddkout.comparing.criterion import in_words, mean_out_of_fold
from oddkout.comparing.deciding import answered_errors
from oddkout.comparing.verdict import GUESS, better_than
from oddkout.decisions.inputs import percent
from oddkout.metrics.catalogue import CATALOGUE
from oddkout.report.invocation import checking_command, training_command


@dataclass(frozen=True, kw_only=True)
class Action:
    """A recommendation.

    Attributes:
        title: What to do, in a few words.
        reasons: Why, one sentence each.
        command: The command that does it.
        promises: What the winner can promise, one sentence each.
        limits: What it cannot promise, one sentence each.
    """

    title: str
    reasons: Sequence[str]
    command: str
    promises: Sequence[str] = ()
    limits: Sequence[str] = ()


def recommended(comparison: Comparison, *, runs: str | Path) -> Action:
    """What a comparison suggests to do.

    Args:
        comparison: A comparison with the predictions of its runs.
        runs: Its folder.
    """
    winner = comparison.winner
    command = training_command(comparison, runs=runs)
    warnings = [f"{_sentence(warning)}" for warning in comparison.warnings]
    if winner is None or command is None:
        reason = (
            "Guessing the class frequencies has the " + in_words(comparison.criterion)
            if winner == GUESS
            else "Every method failed"
            if not comparison.methods
            else "No winner was chosen: without folds there are no out-of-fold predictions"
        )
        return Action(
            title="Check the data first" if winner == GUESS else "Compare again",
            reasons=[f"{reason}."],
            command=checking_command(comparison),
            limits=warnings,
        )
    title = f"Train {winner}"
    reasons = [_lead(comparison, winner), _tested(comparison, winner), *_ahead(comparison, winner)]
    if is_outsider(winner) and winner not in OUTSIDERS:
        title = f"Fit your {winner}, or train {comparison.best_of_ours}"
        reasons.append(
            f"{winner} is your own classifier, and no file may name code to run; the command "
            "trains the best of ours."
        )
    if GUESS in comparison.methods and not better_than(comparison, GUESS):
        reasons.append("But nothing is significantly better than guessing the class frequencies.")
    promises, limits = promised(comparison, winner)
    return Action(
        title=title,
        reasons=reasons,
        command=command,
        promises=promises,
        limits=[*warnings, *limits],
    )


def promised(comparison: Comparison, method: str) -> tuple[list[str], list[str]]:
    """What decisions of a method can and cannot promise, one sentence each.

    The words are those of the first seed, with which ``oddkout train --method best`` repeats it.

    Args:
        method: Name of the method.
    """
    run = comparison.by_method[method][0]
    if not comparison.tried:
        return [], [
            "Nothing is known of prediction sets and referral: the runs have no folds, or were "
            "made by an earlier version."
        ]
    can: list[str] = []
    cannot: list[str] = []
    sets = run.promises["sets"]
    covered, size = (_mean(comparison, method, metric) for metric in ("set_coverage", "set_size"))
    measured = f"on the test part {covered} of sets hold the true class; mean size {size}"
    is_empty = "nothing is guaranteed" in sets["guarantee"]
    (cannot if is_empty else can).append(_sentence(f"{sets['guarantee']}; {measured}"))
    cannot += [_sentence(note) for note in sets["notes"]]
    runs = comparison.by_method[method]
    errors = answered_errors(runs)
    for number, (metric, wrong) in enumerate(zip(comparison.tried[2:], errors, strict=True)):
        share = _mean(comparison, method, metric)
        if wrong is None:
            cannot += [_sentence(note) for note in run.promises["answers"][number]["notes"][:1]]
            continue
        # Some training parts may suffice for a promise, and others not.
        answering = [
            one for one in runs if one.answered is not None and one.answered[:, number].any()
        ]
        guarantee = answering[0].promises["answers"][number]["guarantee"]
        seeds = f" by {len(answering)} of {len(runs)} seeds" if len(answering) < len(runs) else ""
        can.append(
            _sentence(
                f"answer or refer: {guarantee}; on the test part {share} are answered{seeds}, "
                f"{percent(wrong)} of them wrongly"
            )
        )
    if can and any(
        "approximate" in note for one in run.promises["answers"] for note in one["notes"]
    ):
        cannot.append(
            "The confidence in answers is approximate: their thresholds were fitted to out-of-fold "
            "predictions of other networks than those that answer."
        )
    return can, cannot


def _lead(comparison: Comparison, winner: str) -> str:
    """By what the winner leads, and who is next."""
    metric = CATALOGUE[comparison.criterion]

    def value(name: str) -> str:
        mean = mean_out_of_fold(comparison.by_method[name], comparison.criterion)
        return f"{metric.written(mean)} {metric.unit}".strip()

    others = [name for name in comparison.ranked if name != winner]
    text = f"It has the {in_words(comparison.criterion)}, {value(winner)}"
    return f"{text}; next is {others[0]} with {value(others[0])}." if others else f"{text}."


def _tested(comparison: Comparison, winner: str) -> str:
    """What the winner does on the test part, which did not choose it."""
    parts = [
        f"{CATALOGUE[metric].title} {_mean(comparison, winner, metric)}"
        for metric in ("accuracy", "nll", *(("cost",) if comparison.costs is not None else ()))
    ]
    return f"On the test part, which did not choose it: {', '.join(parts)}."


def _ahead(comparison: Comparison, winner: str) -> list[str]:
    """Who is better than the winner on the test part, if anyone."""
    metric = comparison.criterion
    best = comparison.best(metric, is_tempered=True)
    if best == winner or comparison.lag(winner, metric, is_tempered=True).mean == 0:
        return []
    is_tied = winner in comparison.tied(metric, is_tempered=True)
    gap = "by a difference within chance" if is_tied else "significantly"
    return [f"There {best} is ahead, {gap}; the test part must not choose, or it could not judge."]


def _mean(comparison: Comparison, method: str, metric: str) -> str:
    """A mean on the test part, with its interval."""
    interval, own = comparison.mean(method, metric, is_tempered=True), CATALOGUE[metric]
    unit = " %" if own.scale == 100 else ""
    if interval.low != interval.low:
        return f"{own.written(interval.mean)}{unit}"
    limits = f"{own.written(interval.low)} to {own.written(interval.high)}"
    return f"{own.written(interval.mean)}{unit} ({limits})"


def _sentence(text: str) -> str:
    """Text with a capital letter and a full stop."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"
