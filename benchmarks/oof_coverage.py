"""How often the interval of ``oof_score_`` covers the NLL on a large hidden sample.

``python benchmarks/oof_coverage.py`` simulates 200 tables with known truth, fits the estimator to
each, and appends a line to ``results/oof-coverage.jsonl``; ``--page`` prints the summary from these
lines alone. Seeds 0 to 199 were measured first, with the plain interval of a mean; the present rule
was chosen on seeds 0 to 99 and is measured on new ones, 200 to 399.
"""

import argparse
import math

import numpy as np
from lines import FOLDER, perform_missing, read
from scipy.stats import beta

import oddkout as oko

FILE = FOLDER / "oof-coverage.jsonl"
SEEDS, RULE, HIDDEN = range(200, 400), "one unseen loss", 5_000
UPDATES = 300  # at most, to save time: most of these tables stop earlier


def simulated(seed: int):
    """A table drawn from a mixture of normal classes of unequal sizes, and how to draw more."""
    generator = np.random.default_rng(seed)
    examples = int(generator.choice([100, 200, 400]))
    classes, columns = int(generator.integers(2, 6)), int(generator.integers(2, 9))
    prior = generator.dirichlet(np.full(classes, 5.0))
    means = generator.normal(scale=generator.uniform(0.4, 1.5), size=(classes, columns))
    scales = generator.uniform(0.5, 1.5, size=(classes, columns))
    is_skewed = generator.random(columns) < 0.3

    def draw(count: int):
        y = generator.choice(classes, size=count, p=prior)
        x = means[y] + scales[y] * generator.normal(size=(count, columns))
        return np.where(is_skewed, np.exp(x), x), y

    return draw, examples


def perform(*, seed: int, max_updates: int, rule: str) -> dict:
    """Fit the estimator to one table, and measure it on a hidden sample."""
    draw, examples = simulated(seed)
    x, y = draw(examples)
    model = oko.OddKOutClassifier(max_updates=max_updates, random_state=seed).fit(x, y)
    hidden_x, hidden_y = draw(HIDDEN)
    is_known = np.isin(hidden_y, model.classes_)
    probs = model.predict_proba(hidden_x[is_known])
    own = probs[np.arange(len(probs)), np.searchsorted(model.classes_, hidden_y[is_known])]
    score = model.oof_score_
    line = {"seed": seed, "max_updates": max_updates, "rule": rule, "examples": examples}
    line |= {"classes": len(model.classes_)}
    line |= {"columns": x.shape[1], "value": score.value, "low": score.low, "high": score.high}
    print(seed, flush=True)
    return line | {"hidden": float(-np.log(own).mean()), "version": oko.__version__}


def page(lines) -> str:
    """Share of tables whose interval covers the hidden NLL, and on which side it misses."""
    covered = sum(line["low"] <= line["hidden"] <= line["high"] for line in lines)
    above = sum(line["hidden"] > line["high"] for line in lines)
    count = len(lines)
    low, high = beta.ppf(
        [0.025, 0.975], [covered, covered + 1], [count - covered + 1, count - covered]
    )
    ratio = math.exp(np.mean([math.log(line["value"] / line["hidden"]) for line in lines]))
    return (
        f"The interval covers the NLL on {HIDDEN:,} hidden examples for {covered} of {count} "
        f"tables, {covered / count:.1%} [{low:.1%}, {high:.1%}]; the hidden NLL is higher for "
        f"{above} and lower for {count - covered - above}. The score is {ratio:.3f} times the "
        "hidden NLL in the geometric mean."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", action="store_true", help="print the summary, fit nothing")
    if parser.parse_args().page:
        lines = read(FILE)
        for rule in dict.fromkeys(line["rule"] for line in lines):
            found = [line for line in lines if line["rule"] == rule]
            print(f"Rule: {rule}. {page(found)}")
            for size in sorted({line["examples"] for line in found}):
                print(f"{size} rows: {page([x for x in found if x['examples'] == size])}")
        return
    wanted = [{"seed": seed, "max_updates": UPDATES, "rule": RULE} for seed in SEEDS]
    perform_missing(FILE, wanted, perform)


if __name__ == "__main__":
    main()
