"""How often the 95 % intervals of ``evaluate`` cover the truth: rare classes and groups.

python benchmarks/intervals.py   writes results/intervals.jsonl, a few minutes

Two kinds of data. "classes": independent examples of three classes, whose evidence is normal, with
the class frequencies of the line. The truth is that of 300,000 examples. "patients": 24 groups of 6
visits; all visits of a patient have its label and its prediction, and a fair coin decides whether
they are right, so that the true accuracy is 0.5.
"""

import json
from collections import Counter

import lines
import numpy as np

import oddkout as oko

LINES = lines.FOLDER / "intervals.jsonl"
METRICS = ("accuracy", "balanced_accuracy", "mcc", "auroc", "average_precision", "nll", "skill")
SHARES = {"equal": [1 / 3, 1 / 3, 1 / 3], "rare": [0.85, 0.1, 0.05]}
DRAWS = 400


def sample(examples, shares, rng):
    """Probabilities of a calibrated model, and labels."""
    labels = rng.choice(3, size=examples, p=shares)
    evidence = 1.5 * np.eye(3)[labels] + rng.normal(size=(examples, 3))
    logits = 1.5 * evidence + np.log(shares)
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True), labels


def classes(shares, examples):
    """Coverage for independent examples."""
    rng = np.random.default_rng(examples)
    prior = SHARES[shares]
    probs, labels = sample(300_000, prior, rng)
    given = {"probs": probs, "labels": labels}
    truth = {
        "accuracy": oko.metrics.accuracy(**given),
        "balanced_accuracy": oko.metrics.balanced_accuracy(**given),
        "mcc": oko.metrics.matthews_correlation(**given),
        "auroc": oko.metrics.auroc(**given),
        "average_precision": oko.metrics.average_precision(**given),
        "nll": oko.metrics.negative_log_likelihood(**given),
        "skill": oko.metrics.log_loss_skill(**given, prior=prior),
    }
    recall = oko.metrics.per_class_accuracy(**given)[2].item()
    covered = Counter()
    for _ in range(DRAWS):
        probs, labels = sample(examples, prior, rng)
        report = oko.evaluate(probs=probs, labels=labels, prior=prior, replicates=200)
        for name in METRICS:
            covered[name] += report[name].low <= truth[name].item() <= report[name].high
        third = report.classes[2].recall
        covered["recall of the third class"] += third.low <= recall <= third.high
    return {name: count / DRAWS for name, count in covered.items()}


def patients(is_grouped):
    """Coverage of the accuracy for examples in groups."""
    rng = np.random.default_rng(0)
    groups = np.arange(24).repeat(6) if is_grouped else None
    covered = 0
    for _ in range(DRAWS):
        labels = rng.integers(2, size=24).repeat(6)
        predicted = np.where((rng.random(24) < 0.5).repeat(6), labels, 1 - labels)
        probs = 0.2 + 0.6 * np.eye(2)[predicted]
        report = oko.evaluate(probs=probs, labels=labels, groups=groups, replicates=40)
        covered += report["accuracy"].low <= 0.5 <= report["accuracy"].high
    return {"accuracy": covered / DRAWS}


def perform(data, **setting):
    """One line: the setting and the coverage of each metric."""
    coverage = classes(**setting) if data == "classes" else patients(**setting)
    line = {"data": data, **setting, "draws": DRAWS, "coverage": coverage}
    print(json.dumps(line), flush=True)
    return line


def main():
    wanted = [
        {"data": "classes", "shares": shares, "examples": examples}
        for shares in SHARES
        for examples in (60, 200, 1000)
    ]
    wanted += [{"data": "patients", "is_grouped": is_grouped} for is_grouped in (True, False)]
    lines.perform_missing(LINES, wanted, perform)


if __name__ == "__main__":
    main()
