"""Comparisons of simulated data whose truth is known: do intervals and verdicts hold?

python benchmarks/simulated_comparisons.py --part NAME [--simulations 200] [--slice 0/2]

Everything goes through ``oddkout.compare``. Lines are kept in
``results/simulated-comparisons.jsonl`` and performed once. ``--page`` writes
``docs/simulated-comparisons.md`` from them. Set OMP_NUM_THREADS=1.

* coverage: do the intervals of accuracy and NLL cover the expected performance of the procedure,
  for 36, 200 and 2,000 test examples and 3, 5 and 10 seeds? The truth is the mean of independent
  repetitions, each measured on 20,000 further examples (--part truth).
* noise: labels are independent of features; twelve contestants. Is the verdict "nothing beats
  guessing"?
* equal: twelve contestants that see exchangeable blocks of features. Is any pair separated?
* many-equal: the same without calibration, where fits take little time: 2,000 simulations. The
  predictions are judged by the same ``Comparison``.
* groups: 120 patients with six visits, features that identify the patient and say nothing about
  the label. Does the interval of accuracy cover 0.5 if patients are kept together?
"""

import argparse
import tempfile
import warnings
from collections import defaultdict
from dataclasses import replace
from functools import cache

import lines
import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import oddkout as oko
from oddkout.comparing.comparison import Comparison
from oddkout.comparing.outsiders import fit_outsider
from oddkout.comparing.perform import perform
from oddkout.fitting.preparation import prepared

FILE = lines.FOLDER / "simulated-comparisons.jsonl"
PAGE = lines.FOLDER.parent / "docs" / "simulated-comparisons.md"
# Test examples, and their share of the data.
SIZES = {36: 0.2, 200: 0.5, 2000: 0.5}
SEEDS = (3, 5, 10)
HIDDEN, REPETITIONS = 20_000, 300
QUICK = {"learning_rates": [0.1], "recipe": {"updates": 60}}


def here(jobs):
    """Performs runs in this process."""
    for job in jobs:
        yield perform(job)


def compared(data, **options):
    """A comparison in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return oko.compare(data, out=folder, executor=here, **options)


def three_classes(count, rng):
    """Three classes, two of four features with a signal."""
    y = rng.choice(3, size=count, p=[0.6, 0.3, 0.1])
    centres = np.zeros((3, 4))
    centres[1, 0], centres[2, 1] = 1.2, 1.5
    return rng.normal(size=(count, 4)) + centres[y], y


def coverage_line(part, size, simulation):
    """The intervals of logistic regression and naive Bayes, with the first seeds of ten."""
    rng = np.random.default_rng([17, size, simulation])
    whole = compared(
        three_classes(round(size / SIZES[size]), rng),
        methods=["vanilla"], contestants={"bayes": GaussianNB()}, seeds=max(SEEDS),
        test_size=SIZES[size], learning_rates=[0.1], recipe={"updates": 1},
    )  # fmt: skip
    found = {}
    for seeds in SEEDS:
        comparison = Comparison(runs=[run for run in whole.runs if run.config.seed < seeds])
        found[str(seeds)] = {
            f"{name} {metric}": [float(value) for value in (limits.mean, limits.low, limits.high)]
            for name in ("logistic", "bayes")
            for metric in ("accuracy", "nll")
            for limits in [comparison.mean(name, metric, is_tempered=True)]
        }
    return {"part": part, "size": size, "simulation": simulation, "found": found}


def truth_line(part, size):
    """Expected performance of the same procedure, from independent repetitions."""
    values = defaultdict(list)
    for repetition in range(REPETITIONS):
        rng = np.random.default_rng([8, size, repetition])
        x, y = three_classes(round(size / SIZES[size] * (1 - SIZES[size])), rng)
        hidden = three_classes(HIDDEN, rng)
        ready = prepared(oko.load_data((x, y), test=hidden, seed=repetition))
        for name, estimator in (("logistic", None), ("bayes", GaussianNB())):
            fitted = fit_outsider(
                ready, name=name, estimator=estimator, folds=5, calibration="folds",
                population="train", seed=repetition,
            )  # fmt: skip
            logits = fitted.calibrated.logits(fitted.test_logits.double())
            hits = (logits.argmax(dim=1) == ready.y_test).double().mean()
            values[f"{name} accuracy"].append(hits.item())
            values[f"{name} nll"].append(
                torch.nn.functional.cross_entropy(logits, ready.y_test).item()
            )
    return {
        "part": part,
        "size": size,
        "truth": {name: float(np.mean(own)) for name, own in values.items()},
    }


def noise_line(part, simulation):
    """Labels are independent of the features."""
    rng = np.random.default_rng([9, simulation])
    x, y = rng.normal(size=(180, 6)), rng.choice(3, size=180, p=[0.5, 0.3, 0.2])
    rivals = {
        "bayes": GaussianNB(), "lda": LinearDiscriminantAnalysis(),
        "near": KNeighborsClassifier(15), "tree": DecisionTreeClassifier(max_depth=3),
        "trees": ExtraTreesClassifier(50), "weak": LogisticRegression(C=0.01),
        "strong": LogisticRegression(C=100.0), "nearest": KNeighborsClassifier(5),
    }  # fmt: skip
    comparison = compared(
        (x, y), methods=["oko", "vanilla+ls"], contestants=rivals, seeds=5, **QUICK
    )
    return {
        "part": part,
        "simulation": simulation,
        "contestants": len(comparison.methods),
        "is_guessing": comparison.verdict.startswith("Nothing beats guessing"),
    }


class Block(ClassifierMixin, BaseEstimator):
    """Logistic regression on one block of two features."""

    def __init__(self, block=0):
        self.block = block

    def fit(self, x, y):
        """Fit to the block."""
        self.classes_ = np.unique(y)
        self._model = LogisticRegression().fit(self._part(x), y)
        return self

    def predict_proba(self, x):
        """Probabilities from the block."""
        return self._model.predict_proba(self._part(x))

    def _part(self, x):
        return x[:, 2 * self.block : 2 * self.block + 2]


def equal_line(part, simulation):
    """Twelve contestants on exchangeable blocks of features."""
    x, y = _blocks(np.random.default_rng([20, simulation]))
    rivals = {f"block {number}": Block(number) for number in range(12)}
    whole = compared(
        (x, y), methods=["vanilla"], contestants=rivals, seeds=5, learning_rates=[0.1],
        recipe={"updates": 1},
    )  # fmt: skip
    alone = Comparison(runs=[run for run in whole.runs if run.config.method in rivals])
    return {
        "part": part,
        "simulation": simulation,
        "separated": {
            metric: len(alone.methods) - len(alone.tied(metric, is_tempered=True))
            for metric in ("nll", "accuracy")
        },
    }


@cache
def _equal_runs():
    """The runs of one comparison of blocks; many-equal replaces their predictions."""
    rivals = {f"block {number}": Block(number) for number in range(12)}
    x, y = _blocks(np.random.default_rng([21, 0]))
    return [
        run
        for run in compared((x, y), methods=[], contestants=rivals, seeds=5, folds=2).runs
        if run.config.method in rivals
    ]


def _blocks(rng):
    """Two classes, and twelve blocks of two features that tell as much about them."""
    y = rng.choice(2, size=180)
    return rng.normal(size=(180, 24)) + 0.5 * y[:, None], y


def _with_predictions(run, logits, labels, rows):
    """A run as if these were its predictions, with no calibration."""
    values = {
        "nll": {"value": float(-logits[np.arange(len(labels)), labels].mean())},
        "accuracy": {"value": float((logits.argmax(axis=1) == labels).mean())},
    }
    both = {"logits": logits, "calibrated_logits": logits}
    return replace(run, labels=labels, test_rows=rows, as_trained=values, tempered=values, **both)


def many_equal_line(part, simulation):
    """A hundred simulations of equal contestants, without calibration."""
    separated = {"nll": 0, "accuracy": 0}
    for number in range(100 * simulation, 100 * simulation + 100):
        rng = np.random.default_rng([21, 1, number])
        x, y = _blocks(rng)
        splits = [
            train_test_split(np.arange(180), test_size=0.2, stratify=y, random_state=state)
            for state in rng.integers(2**31, size=5)
        ]
        runs = []
        for run in _equal_runs():
            train, test = splits[run.config.seed]
            block = Block(int(run.config.method.split()[1])).fit(x[train], y[train])
            logits = np.log(block.predict_proba(x[test]))
            runs.append(_with_predictions(run, logits, y[test], test))
        comparison = Comparison(runs=runs)
        for metric in separated:
            tied = comparison.tied(metric, is_tempered=True)
            separated[metric] += len(tied) < len(comparison.methods)
    return {"part": part, "simulation": simulation, "comparisons": 100, "separated": separated}


def groups_line(part, simulation):
    """Visits that identify a patient, whose label is chance."""
    rng = np.random.default_rng([11, simulation])
    patients = np.repeat(np.arange(120), 6)
    y = rng.permutation(np.repeat([0, 1], 60))[patients]
    x = rng.normal(size=(120, 8))[patients] + 0.3 * rng.normal(size=(720, 8))
    options = {
        "methods": ["oko"], "contestants": {"nearest": KNeighborsClassifier(5)}, "seeds": 5, **QUICK
    }  # fmt: skip
    line = {"part": part, "simulation": simulation}
    for name, groups in (("split by rows", None), ("split by patients", patients)):
        comparison = compared((x, y), groups=groups, **options)
        line[name] = {
            method: [float(value) for value in (limits.mean, limits.low, limits.high)]
            for method in comparison.methods
            for limits in [comparison.mean(method, "accuracy", is_tempered=True)]
        }
    return line


PARTS = {
    "coverage": coverage_line, "truth": truth_line, "noise": noise_line, "equal": equal_line,
    "many-equal": many_equal_line, "groups": groups_line,
}  # fmt: skip


def wanted_of(part, simulations):
    """The lines of a part."""
    numbers = range(simulations // 10 if part == "many-equal" else simulations)  # 100 in a line
    if part == "truth":
        return [{"part": part, "size": size} for size in SIZES]
    if part == "coverage":
        return [
            {"part": part, "size": size, "simulation": number}
            for number in numbers
            for size in SIZES
        ]
    return [{"part": part, "simulation": number} for number in numbers]


def page():
    """The page ``docs/simulated-comparisons.md``."""
    known = defaultdict(list)
    for one in lines.read(FILE):
        known[one["part"]].append(one)
    return "\n".join([_HEAD, *_verdicts(known), _COVERAGE, *_coverage(known), ""])


_HEAD = """# Comparisons of simulated data

<!-- Written by: python benchmarks/simulated_comparisons.py --page -->

Do the intervals and verdicts of `compare` hold? Each line is a share of whole comparisons of
simulated data whose truth is known, with its 95 % interval (Clopper and Pearson). The design is in
`benchmarks/simulated_comparisons.py`, the lines are in `results/simulated-comparisons.jsonl`.

| simulation | aim | result |
| --- | ---: | ---: |"""

_COVERAGE = """
## Intervals

How often the 95 % interval covers the truth: the expected accuracy and NLL of the whole procedure,
calibration included, from 300 independent training samples, each measured on 20,000 examples.
Aim: 92 to 98 %. Seeds split the same data anew; the same simulated data serve all numbers of seeds
and both classifiers, so cells of a block depend on each other.

| test examples | seeds | logistic: accuracy | NLL | naive Bayes: accuracy | NLL |
| ---: | ---: | ---: | ---: | ---: | ---: |"""


def _verdicts(known):
    noise = [one["is_guessing"] for one in known["noise"]]
    name = "labels independent of the features, 12 contestants, 5 seeds: nothing beats guessing"
    yield f"| {name} | at least 95 % | {share(noise)} |"
    for metric, title in (("nll", "NLL"), ("accuracy", "accuracy")):
        separated = [one["separated"][metric] > 0 for one in known["equal"]]
        name = f"12 equal contestants, 5 seeds: some pair is separated by {title}"
        yield f"| {name} | at most 5 % | {share(separated)} |"
    for metric, title in (("nll", "NLL"), ("accuracy", "accuracy")):
        found = sum(one["separated"][metric] for one in known["many-equal"])
        total = sum(one["comparisons"] for one in known["many-equal"])
        name = f"the same without calibration: some pair is separated by {title}"
        yield f"| {name} | at most 5 % | {share([True] * found + [False] * (total - found))} |"
    for split, aim in (("split by patients", "at least 93 %"), ("split by rows", "-")):
        for method in ("guess", "logistic", "oko", "nearest"):
            limits = [one[split][method] for one in known["groups"]]
            hits = [low <= 0.5 <= high for _, low, high in limits]
            mean = np.mean([value for value, _, _ in limits])
            name = f"120 patients with six visits, {split}, {method} (mean accuracy {mean:.3f})"
            yield f"| {name}: the interval of accuracy covers 0.5 | {aim} | {share(hits)} |"


def _coverage(known):
    truth = {one["size"]: one["truth"] for one in known["truth"]}
    for size in SIZES:
        for seeds in SEEDS:
            cells = [
                share(
                    [
                        limits[1] <= truth[size][f"{name} {metric}"] <= limits[2]
                        for one in known["coverage"]
                        if one["size"] == size
                        for limits in [one["found"][str(seeds)][f"{name} {metric}"]]
                    ]
                )
                for name in ("logistic", "bayes")
                for metric in ("accuracy", "nll")
            ]
            yield f"| {size:,} | {seeds} | {' | '.join(cells)} |"


def share(hits):
    """A share with its interval, as text."""
    from scipy.stats import binomtest

    if not hits:
        return "not yet performed"
    found = binomtest(sum(hits), len(hits))
    limits = found.proportion_ci(0.95)
    percent = f"{100 * found.statistic:.1f} % [{100 * limits.low:.1f}, {100 * limits.high:.1f}]"
    return f"{percent}, {sum(hits)} of {len(hits)}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=PARTS)
    parser.add_argument("--simulations", type=int, default=200)
    parser.add_argument("--slice", default="0/1", help="which simulations of how many, e.g. 0/2")
    parser.add_argument("--page", action="store_true", help="write the page")
    given = parser.parse_args()
    if given.part:
        first, step = map(int, given.slice.split("/"))
        wanted = wanted_of(given.part, given.simulations)[first::step]
        lines.perform_missing(FILE, wanted, PARTS[given.part])
    if given.page:
        PAGE.write_text(page())
