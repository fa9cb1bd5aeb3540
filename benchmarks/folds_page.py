"""Writes ``docs/folds.md`` from the lines of ``folds.py`` and ``known_truth.py``.

python benchmarks/folds_page.py
"""

import math
from itertools import product
from statistics import fmean

import known_truth
import lines
import many_classes
import sizes
from folds import CONTESTANTS, TESTED, TUNED, searched
from recipe import FEW

from oddkout.comparing.statistics import t_interval
from oddkout.fitting.recipe import Recipe

PAGE = lines.FOLDER.parent / "docs" / "folds.md"

# Columns of the tables: arm and key of the metrics.
COLUMNS = {
    "0.1.0, T": ("0.1.0", "single, T"),
    "0.2, as trained": ("0.2", "members, as trained"),
    "0.2": ("0.2", "members, calibrated"),
    "0.2, one network": ("0.2", "single, calibrated"),
    "one network, 4 x the updates, best possible T and tau": ("0.2", "long, best possible"),
}


def values(known, method, setting, column, metric):
    """A metric by seed."""
    arm, key = COLUMNS[column]
    return {
        one["seed"]: one["metrics"][key][metric]
        for one in known
        if (one["method"], one["setting"], one["arm"]) == (method, setting, arm)
        and key in one["metrics"]
    }


def ratio(known, method, first, second):
    """Geometric mean over settings and seeds of the NLL of one column over another, with its CI."""
    logs = []
    for setting in FEW:
        own, other = (values(known, method, setting, column, "nll") for column in (first, second))
        logs.append({seed: math.log(own[seed] / other[seed]) for seed in own.keys() & other.keys()})
    seeds = sorted(set.intersection(*map(set, logs)))
    if len(seeds) < 2:
        return None
    interval = t_interval([fmean(by_seed[seed] for by_seed in logs) for seed in seeds])
    return *(math.exp(value) for value in (interval.mean, interval.low, interval.high)), len(seeds)


def page():
    """The page ``docs/folds.md``."""
    known = lines.read(TESTED)
    return "\n".join(
        [
            _HEAD,
            "## What each method chose",
            "",
            "On seeds 0 to 3, out of fold; the number of runs spent on it in brackets.",
            "",
            *_chosen(),
            "",
            "## Calibration without held-out data",
            "",
            "NLL of five members on 6,000 validation images above the best possible, where T, tau",
            "and the exponent are fitted to these images themselves. Means of all tuning runs.",
            "",
            *calibration_table(lines.read(TUNED)),
            "",
            "The same where the truth is known (`python benchmarks/known_truth.py`):",
            "",
            known_truth.markdown(),
            "",
            "## Test sets",
            "",
            "Accuracy in % / NLL / ECE, means over seeds; their number in brackets.",
            "",
            *_test_table(known),
            "",
            "## Comparisons",
            "",
            "NLL ratios: geometric means over the four settings, with 95 % intervals over seeds.",
            "",
            *_ratios(known),
            "",
            "Accuracy of OKO, 0.2 minus 0.1.0, in points, paired by seed:",
            "",
            *_accuracies(known),
            "",
            "## Larger data",
            "",
            "With the defaults for each size, no choice for a method; CIFAR-100 in a narrow",
            "ResNet18, 400 updates, without folds (`python benchmarks/sizes.py`).",
            "",
            *sizes.table(),
            "",
            *sizes.differences(),
            "",
            "Variants of OKO on CIFAR-100, one network, validation images",
            "(`python benchmarks/many_classes.py`):",
            "",
            *many_classes.table(),
            "",
        ]
    )


_HEAD = """# What the folds are worth

<!-- Written by: python benchmarks/folds_page.py -->

Version 0.2 trains one network without each of five folds. Out-of-fold predictions choose when to
stop, and fit a temperature T and the strength tau of prior adjustment; the five networks predict
together. This page compares that with version 0.1.0, which trained one network and fitted T alone,
by a [protocol](protocol.md) that was written before. Everything on it is made from
`results/folds-tuning.jsonl`, `results/folds-test.jsonl`, `results/known-truth.jsonl`,
`results/sizes.jsonl` and `results/many-classes.jsonl`.
"""


def _chosen():
    for method in CONTESTANTS:
        best, compared, is_complete = searched(method)
        fields = {name: value for name, value in best.items() if value != getattr(Recipe, name)}
        text = ", ".join(f"{name} {value:g}" for name, value in fields.items()) or "the defaults"
        state = "" if is_complete else ", not finished"
        yield f"* `{method}`: {text} ({4 * len(compared)} runs{state})"


def _test_table(known):
    yield f"| method, setting | {' | '.join(COLUMNS)} |"
    yield f"| --- |{' --- |' * len(COLUMNS)}"
    for method, setting in product(CONTESTANTS, FEW):
        cells = []
        for column in COLUMNS:
            found = {
                metric: list(values(known, method, setting, column, metric).values())
                for metric in ("accuracy", "nll", "ece")
            }
            means = {name: fmean(own) for name, own in found.items() if own}
            cells.append(
                f"{100 * means['accuracy']:.1f} / {means['nll']:.3f} / {means['ece']:.3f} "
                f"({len(found['nll'])})"
                if means
                else "-"
            )
        yield f"| {method}, {setting} | {' | '.join(cells)} |"


def _ratios(known):
    for method, first, second in (
        *(product(CONTESTANTS, ("0.2",), ("0.1.0, T",))),
        ("oko", "0.2", "0.2, one network"),
        ("oko", "0.2", list(COLUMNS)[-1]),
    ):
        if found := ratio(known, method, first, second):
            mean, low, high, count = found
            interval = f"{mean:.3f} [{low:.3f}, {high:.3f}]"
            yield f"* {method}, {first} over {second}: {interval}, {count} seeds"


def _accuracies(known):
    for setting in FEW:
        own, other = (values(known, "oko", setting, one, "accuracy") for one in ("0.2", "0.1.0, T"))
        gaps = [100 * (own[seed] - other[seed]) for seed in sorted(own.keys() & other.keys())]
        if len(gaps) > 1:
            gap = t_interval(gaps)
            interval = f"{gap.mean:+.1f} [{gap.low:+.1f}, {gap.high:+.1f}]"
            yield f"* {setting}: {interval}, {len(gaps)} seeds"


def calibration_table(known):
    """Loss in NLL of every rule, by method and setting."""
    names = [name for name in known[0]["rules"] if name not in ("fitted", "best", "best possible")]
    yield f"| method, setting | best possible | {' | '.join(names)} | runs |"
    yield f"| --- |{' --- |' * (len(names) + 2)}"
    for method, setting in product(CONTESTANTS, FEW):
        own = [o["rules"] for o in known if (o["method"], o["setting"]) == (method, setting)]
        if not own:
            continue
        best = fmean(one["best possible"]["nll"] for one in own)
        losses = [
            fmean(one[name]["nll"] - one["best possible"]["nll"] for one in own) for name in names
        ]
        cells = " | ".join(f"+{loss:.3f}" for loss in losses)
        yield f"| {method}, {setting} | {best:.3f} | {cells} | {len(own)} |"


if __name__ == "__main__":
    PAGE.write_text(page())
