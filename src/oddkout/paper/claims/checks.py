"""What runs say about a claim: functions of the evidence to a finding."""

from collections.abc import Callable, Sequence

import numpy as np

from oddkout.checks import Number
from oddkout.comparing.comparison import Interval, t_interval
from oddkout.paper.claims.claim import Outcome, Verdict, verdict_on
from oddkout.paper.evidence import Evidence, Measure, measure
from oddkout.paper.settings import Distribution, Setting

BASELINES = ("vanilla", "vanilla+ls", "weighted", "focal", "bb", "bb+ls")
CALIBRATED = (*BASELINES, "bb+ts")

NOTHING = Outcome(verdict="no data", numbers="no runs")


def compares(
    columns: Sequence[tuple[str, Distribution]],
    first: str,
    second: str,
    of: Measure,
    *,
    above: Number | None = None,
    below: Number | None = None,
    scale: Number = 1,
    unit: str = "",
) -> Callable[[Evidence], Outcome]:
    """A check of first minus second, averaged over sizes, against limits."""

    def check(evidence: Evidence) -> Outcome:
        settings = [
            setting
            for data, distribution in columns
            for setting in evidence.shared_settings(data, distribution, first, second)
        ]
        found = evidence.lead(settings, first, second, of) if settings else None
        if found is None:
            return NOTHING
        own, other = (evidence.by_seed(settings, name, of) for name in (first, second))
        seeds = sorted(own.keys() & other.keys())
        means = [sum(side[seed] for seed in seeds) / len(seeds) for side in (own, other)]
        digits = 1 if scale == 100 else 3
        shown = " against ".join(f"{scale * mean:.{digits}f}" for mean in means)
        sizes = sorted({setting.per_class for setting in settings})
        return Outcome(
            verdict=verdict_on(found, above=above, below=below),
            numbers=f"{shown}{unit}: {_signed(found, scale, digits)}; {_seeds(len(seeds))}, "
            f"{', '.join(map(str, sizes))} per class",
            value=found.mean,
            low=_known(found.low),
            high=_known(found.high),
            seeds=len(seeds),
        )

    return check


def reaches(
    setting: Setting, of: Measure, *, above: Number, best_seed: bool = False
) -> Callable[[Evidence], Outcome]:
    """A check of OKO's mean in one setting, or of its best seed, against a number."""

    def check(evidence: Evidence) -> Outcome:
        found = evidence.mean([setting], "oko", of)
        if found is None:
            return NOTHING
        values = list(evidence.by_seed([setting], "oko", of).values())
        if best_seed:
            best = max(values)
            return Outcome(
                verdict="holds" if best >= above else "does not hold",
                numbers=f"best of {_seeds(len(values))}: {100 * best:.2f} %",
                value=best,
                seeds=len(values),
            )
        return Outcome(
            verdict=verdict_on(found, above=above),
            numbers=f"{100 * found.mean:.2f} % [{100 * found.low:.2f}, {100 * found.high:.2f}]; "
            f"{_seeds(len(values))}, best {100 * max(values):.2f} %",
            value=found.mean,
            low=_known(found.low),
            high=_known(found.high),
            seeds=len(values),
        )

    return check


def ranks(data: str, distribution: Distribution, rank: int) -> Callable[[Evidence], Outcome]:
    """A check that OKO's gap is among the lowest: fewer than so many baselines have a lower one."""
    of = measure("entropy_gap")

    def check(evidence: Evidence) -> Outcome:
        leads = {}
        for name in BASELINES:
            settings = evidence.shared_settings(data, distribution, "oko", name)
            found = evidence.lead(settings, "oko", name, of) if settings else None
            if found is None:
                return Outcome(verdict="no data", numbers=f"no runs of {name} beside oko")
            leads[name] = found
        ahead = [name for name, found in leads.items() if found.low > 0]
        possible = [name for name, found in leads.items() if not found.high < 0]
        verdict: Verdict = "undecided"
        if len(possible) < rank:
            verdict = "holds"
        elif len(ahead) >= rank:
            verdict = "does not hold"
        named = ", ".join(ahead) or "none"
        unsure = ", ".join(name for name in possible if name not in ahead) or "none"
        return Outcome(
            verdict=verdict,
            numbers=f"lower than OKO: {named}; cannot be told from it: {unsure}",
            value=float(len(ahead)),
        )

    return check


def costs(first: str, second: str, *, below: Number) -> Callable[[Evidence], Outcome]:
    """A check of the CPU-seconds of whole runs, as the ratio of two variants in the same settings.

    Runs of an older version, which do not know their CPU-seconds, have no say. Neither variant may
    share its training with others, whose evaluation would be counted with it.
    """

    def seconds(evidence: Evidence, setting: Setting, name: str) -> dict[tuple[int, int], float]:
        return {
            (run.config.seed, run.config.folds): run.seconds["cpu"]
            for run in evidence.runs(setting, name)
            if "cpu" in run.seconds
        }

    def check(evidence: Evidence) -> Outcome:
        ratios = []
        for setting in evidence.settings:
            own, other = (seconds(evidence, setting, name) for name in (first, second))
            ratios += [own[key] / other[key] for key in sorted(own.keys() & other.keys())]
        if not ratios:
            return NOTHING
        found = t_interval(ratios)
        interval = f" [{found.low:.2f}, {found.high:.2f}]" if len(ratios) > 1 else ""
        return Outcome(
            verdict=verdict_on(found, below=below),
            numbers=f"ratio {found.mean:.2f}{interval} in {len(ratios)} pairs of runs",
            value=found.mean,
            low=_known(found.low),
            high=_known(found.high),
            seeds=len(ratios),
        )

    return check


def gains_in_tail(data: str) -> Callable[[Evidence], Outcome]:
    """A check that the mean lead over the baselines is larger where the tail is heavy."""
    of = measure("accuracy")

    def check(evidence: Evidence) -> Outcome:
        by_seed: dict[str, dict[int, list[float]]] = {}
        for distribution in ("heavy-tailed", "uniform"):
            table: dict[int, list[float]] = {}
            for name in BASELINES:
                settings = evidence.shared_settings(data, distribution, "oko", name)
                own, other = (evidence.by_seed(settings, who, of) for who in ("oko", name))
                for seed in own.keys() & other.keys():
                    table.setdefault(seed, []).append(own[seed] - other[seed])
            by_seed[distribution] = {
                seed: leads for seed, leads in table.items() if len(leads) == len(BASELINES)
            }
        heavy, even = by_seed["heavy-tailed"], by_seed["uniform"]
        seeds = sorted(heavy.keys() & even.keys())
        if not seeds:
            return NOTHING
        gains = [(sum(heavy[s]) - sum(even[s])) / len(BASELINES) for s in seeds]
        found = t_interval(gains)
        means = [
            100 * sum(map(sum, table.values())) / len(table) / len(BASELINES)
            for table in (heavy, even)
        ]
        return Outcome(
            verdict=verdict_on(found, above=0),
            numbers=f"mean lead {means[0]:.1f} heavy-tailed, {means[1]:.1f} uniform: "
            f"{_signed(found, 100, 1)}; {_seeds(len(seeds))}",
            value=found.mean,
            low=_known(found.low),
            high=_known(found.high),
            seeds=len(seeds),
        )

    return check


def knows_when_right(data: str, distribution: Distribution) -> Callable[[Evidence], Outcome]:
    """A check that most right predictions are certain and most wrong ones uncertain."""

    def check(evidence: Evidence) -> Outcome:
        shares = []
        for setting in evidence.shared_settings(data, distribution, "oko"):
            for run in evidence.runs(setting, "oko"):
                if run.logits is None or run.labels is None:
                    continue
                logits = run.logits.astype(np.float64)
                log_probs = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
                entropy = -(np.exp(log_probs) * log_probs).sum(axis=1)
                is_certain = entropy < np.log(logits.shape[1]) / 2
                is_right = logits.argmax(axis=1) == run.labels
                shares.append((is_certain[is_right].mean(), 1 - is_certain[~is_right].mean()))
        if not shares:
            return Outcome(verdict="no data", numbers="no runs with predictions")
        right, wrong = np.mean(shares, axis=0)
        return Outcome(
            verdict="holds" if min(right, wrong) > 0.5 else "does not hold",
            numbers=f"{100 * right:.0f} % of right ones below half of log C, {100 * wrong:.0f} % "
            f"of wrong ones above; {len(shares)} runs",
            value=float(min(right, wrong)),
        )

    return check


def shows(size: int) -> Callable[[Evidence], Outcome]:
    """Our number, where the paper does not say what it compares with."""

    def check(evidence: Evidence) -> Outcome:
        found = evidence.mean([Setting("mnist", "uniform", size)], "oko", measure("accuracy"))
        if found is None:
            return NOTHING
        return Outcome(
            verdict="no data",
            numbers=f"{100 * found.mean:.2f} % [{100 * found.low:.2f}, {100 * found.high:.2f}] "
            "here; the paper does not say what the best result before was",
            value=found.mean,
            low=_known(found.low),
            high=_known(found.high),
        )

    return check


def _signed(found: Interval, scale: Number, digits: int) -> str:
    """A difference with its sign and interval."""
    mean, low, high = (scale * value for value in (found.mean, found.low, found.high))
    if low != low:
        return f"{mean:+.{digits}f}"
    return f"{mean:+.{digits}f} [{low:+.{digits}f}, {high:+.{digits}f}]"


def _seeds(count: int) -> str:
    return "one seed" if count == 1 else f"{count} seeds"


def _known(value: float) -> float | None:
    """A limit as JSON has it: none for NaN."""
    return None if value != value else value
