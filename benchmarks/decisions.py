"""What decisions promise, in simulations with a known truth: coverage of sets, risk of referral.

python benchmarks/decisions.py   writes results/decisions.jsonl, about an hour on one thread
python benchmarks/decisions.py --check   exit code 1 if a recorded line breaks its promise
python benchmarks/decisions.py --table   the tables of docs/decisions.md

Part "sets": logits of a model that is too confident; sets are fitted to n examples of 500 data sets
and judged on 20 fresh examples per class. Part "referral": the same logits, the true error rate
from 20,000 fresh examples. Parts "member sets" and "member referral" train Gaussian classifiers on
five folds of n examples, as ``oko.fit`` trains networks: "members" decide together (CV+);
"ensemble" and "refit" use the out-of-fold scores for the mean of the members, and for a classifier
that is trained on everything.
"""

import sys
from itertools import product
from pathlib import Path

import lines
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from simulated import class_shares, predictions

from oddkout.decisions import PredictionSets, Referral

LINES = lines.FOLDER / "decisions.jsonl"
DRAWS = 500
PER_CLASS = 20
FRESH = 20_000
FEATURES = 10
FOLDS = 5
COVERAGE = 0.9


def wanted():
    """Every simulation, the fast ones first."""
    sizes, kinds, ratios = (60, 200, 1000), (3, 10, 20), (1.0, 50.0)
    for n, classes, ratio, risk in product(sizes, kinds, ratios, (0.05, 0.1, 0.2)):
        yield {"part": "referral", "examples": n, "classes": classes, "ratio": ratio, "risk": risk}
    for n, classes, ratio, score in product(sizes, kinds, ratios, ("lac", "aps", "raps")):
        for by_class, is_random in product((False, True, "clustered"), (False, True)):
            yield {"part": "sets", "examples": n, "classes": classes, "ratio": ratio,
                   "score": score, "by_class": by_class, "is_random": is_random}  # fmt: skip
    for n, classes, ratio in product(sizes, (3, 10), ratios):
        for by_class, score in product((False, True), ("lac", "aps")):
            yield {"part": "member sets", "examples": n, "classes": classes, "ratio": ratio,
                   "score": score, "by_class": by_class}  # fmt: skip
        yield {"part": "member referral", "examples": n, "classes": classes, "ratio": ratio,
               "risk": 0.1}  # fmt: skip


def perform(part, **options):
    """Perform one simulation and give its line."""
    functions = {"sets": sets, "referral": referral}
    functions |= {"member sets": member_sets, "member referral": member_referral}
    return {"part": part, **options, "draws": DRAWS, **functions[part](**options)}


def balanced_predictions(shares, rng):
    """Predictions of as many examples of each class, by a model that assumes the frequencies."""
    classes = len(shares)
    labels = np.repeat(np.arange(classes), PER_CLASS)
    evidence = rng.normal(size=(len(labels), classes)) + 2 * np.eye(classes)[labels]
    return 1.5 * (2 * evidence + np.log(shares)), labels


def summary(hits, shares, sizes, always):
    """Mean coverage, overall and of the worst class, with standard errors over data sets."""
    overall = hits @ shares
    error = hits.std(axis=0, ddof=1) / len(hits) ** 0.5
    means = hits.mean(axis=0)
    z = (means - COVERAGE) / np.maximum(error, 1e-9)
    worst = int(z.argmin())
    return {
        "coverage": overall.mean(),
        "error": overall.std(ddof=1) / len(hits) ** 0.5,
        "worst_class": means[worst],
        "worst_error": error[worst],
        "size": float(np.mean(sizes)),
        "always": float(np.mean(always)),
    }


def sets(examples, classes, ratio, score, by_class, is_random):
    rng, shares = np.random.default_rng(0), class_shares(classes, ratio)
    hits, sizes, always = [], [], []
    for draw in range(DRAWS):
        logits, labels = predictions(examples, shares, rng)
        new, truth = balanced_predictions(shares, rng)
        seed = draw if is_random else None
        fitted = PredictionSets(COVERAGE, by_class=by_class, score=score, seed=seed)
        is_in = fitted.fit(logits, labels).predict(new)
        hits.append(is_in[np.arange(len(truth)), truth].reshape(classes, PER_CLASS).mean(axis=1))
        sizes.append(is_in.sum(axis=1).reshape(classes, PER_CLASS).mean(axis=1) @ shares)
        always.append(len(fitted.always) / classes)
    return summary(np.array(hits), shares, sizes, always)


def true_error(fitted, confidence, is_wrong, predicted):
    """Error rate among the answered, and the share that is answered."""
    is_answered = confidence > fitted.thresholds[predicted]
    share = is_answered.mean()
    return (is_wrong[is_answered].mean() if share else 0.0), share


def softmax(logits):
    raised = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)


def referral(examples, classes, ratio, risk):
    rng, shares = np.random.default_rng(0), class_shares(classes, ratio)
    new, truth = predictions(FRESH, shares, rng)
    probs = softmax(new)
    confidence, predicted = probs.max(axis=1), probs.argmax(axis=1)
    found = [
        true_error(
            Referral(risk=risk).fit(*predictions(examples, shares, rng)),
            confidence,
            predicted != truth,
            predicted,
        )
        for _ in range(DRAWS)
    ]
    return {
        "exceeded": float(np.mean([error > risk for error, _ in found])),
        "answered": float(np.mean([share for _, share in found])),
        "error_rate": float(np.mean(np.concatenate([[e] for e, s in found if s] or [[0.0]]))),
    }


def points(labels, means, rng):
    return means[labels] + rng.normal(size=(len(labels), FEATURES))


def gaussian(x, y, classes):
    """Log-probabilities of a classifier with a mean per class and one covariance."""
    sizes = np.bincount(y, minlength=classes)
    means = np.zeros((classes, x.shape[1]))
    np.add.at(means, y, x)
    means /= (sizes + 1)[:, None]
    gaps = x - means[y]
    inverse = np.linalg.inv((gaps.T @ gaps + np.eye(x.shape[1])) / len(x))
    bias = np.log(np.maximum(sizes, 0.5) / len(x)) - 0.5 * ((means @ inverse) * means).sum(axis=1)

    def predict(new):
        return new @ (inverse @ means.T) + bias

    return predict


def fold_trained(examples, shares, rng, means):
    """Out-of-fold logits, labels, folds, the members, and a classifier trained on everything."""
    classes = len(shares)
    labels = rng.choice(classes, size=examples, p=shares)
    x = points(labels, means, rng)
    folds = np.empty(examples, int)
    folds[np.lexsort((rng.random(examples), labels))] = np.arange(examples) % FOLDS
    members = [gaussian(x[folds != k], labels[folds != k], classes) for k in range(FOLDS)]
    logits = np.empty((examples, classes))
    for k, member in enumerate(members):
        logits[folds == k] = member(x[folds == k])
    return logits, labels, folds, members, gaussian(x, labels, classes)


def member_sets(examples, classes, ratio, score, by_class):
    rng, shares = np.random.default_rng(0), class_shares(classes, ratio)
    found = {name: ([], [], []) for name in ("members", "ensemble", "refit")}
    truth = np.repeat(np.arange(classes), PER_CLASS)
    for _ in range(DRAWS):
        means = rng.normal(size=(classes, FEATURES)) * 0.8
        logits, labels, folds, members, refit = fold_trained(examples, shares, rng, means)
        new = points(truth, means, rng)
        each = np.stack([member(new) for member in members], axis=1)
        plain = PredictionSets(COVERAGE, by_class=by_class, score=score).fit(logits, labels)
        crossed = PredictionSets(COVERAGE, by_class=by_class, score=score)
        crossed.fit(logits, labels, folds=folds)
        mean = softmax(each).mean(axis=1)
        answers = {"members": crossed.predict(each), "ensemble": plain.predict(probs=mean)}
        answers["refit"] = plain.predict(refit(new))
        for name, is_in in answers.items():
            by = is_in[np.arange(len(truth)), truth].reshape(classes, PER_CLASS).mean(axis=1)
            found[name][0].append(by)
            found[name][1].append(
                is_in.sum(axis=1).reshape(classes, PER_CLASS).mean(axis=1) @ shares
            )
            found[name][2].append(len(plain.always) / classes)
    return {
        name: summary(np.array(hits), shares, sizes, always)
        for name, (hits, sizes, always) in found.items()
    }


def member_referral(examples, classes, ratio, risk):
    rng, shares = np.random.default_rng(0), class_shares(classes, ratio)
    found = {"ensemble": [], "refit": []}
    for _ in range(DRAWS):
        means = rng.normal(size=(classes, FEATURES)) * 0.8
        logits, labels, _, members, refit = fold_trained(examples, shares, rng, means)
        truth = rng.choice(classes, size=FRESH, p=shares)
        new = points(truth, means, rng)
        fitted = Referral(risk=risk).fit(logits, labels)
        mean = np.mean([softmax(member(new)) for member in members], axis=0)
        for name, probs in (("ensemble", mean), ("refit", softmax(refit(new)))):
            predicted = probs.argmax(axis=1)
            pair = true_error(fitted, probs.max(axis=1), predicted != truth, predicted)
            found[name].append(pair)
    return {
        name: {
            "exceeded": float(np.mean([error > risk for error, _ in pairs])),
            "answered": float(np.mean([share for _, share in pairs])),
        }
        for name, pairs in found.items()
    }


def broken_promises(found):
    """Lines whose promise fails by more than four standard errors; classes are many."""
    broken = []
    for line in found:
        if line["part"] == "sets":
            is_low = line["coverage"] < COVERAGE - 4 * line["error"]
            if line["by_class"] is True:
                is_low |= line["worst_class"] < COVERAGE - 4 * line["worst_error"]
            broken += [line] if is_low else []
        elif line["part"] == "member sets":  # 1 - 2 alpha, and far more in fact
            broken += [line] if line["members"]["coverage"] < 2 * COVERAGE - 1 else []
        elif line["part"] == "referral":
            limit = 0.05 + 3 * (0.05 * 0.95 / line["draws"]) ** 0.5
            broken += [line] if line["exceeded"] > limit else []
    return broken


def markdown(found):
    """The recorded lines as two tables: the lowest and highest over all settings."""
    rows = [
        "| promise | lines | lowest to highest | mean size of sets |",
        "| --- | --- | --- | --- |",
    ]
    names = {False: "on average", True: "worst class, `by_class=True`", "clustered": "clustered"}
    for by_class, is_random in product(names, (False, True)):
        mine = [
            line for line in found
            if (line["part"], line.get("by_class"), line.get("is_random"))
            == ("sets", by_class, is_random)
        ]  # fmt: skip
        key = "worst_class" if by_class is True else "coverage"
        kind = ", randomised" if is_random else ""
        rows.append(
            f"| coverage at least 0.9, {names[by_class]}{kind} | {_span(mine, key)} | "
            f"{np.mean([line['size'] for line in mine]):.2f} |"
        )
    mine = [line for line in found if line["part"] == "referral"]
    rows.append(
        f"| the risk is exceeded in at most 0.05 of data sets | {_span(mine, 'exceeded')} | |"
    )
    rows += [
        "",
        "| examples | out-of-fold scores used for | coverage on average (asked: 0.9) | "
        "worst class, `by_class=True` | mean size | risk of 0.1 exceeded in | answered |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for examples, name in product((60, 200, 1000), ("members", "ensemble", "refit")):
        mine = [line for line in found if line["examples"] == examples]
        sets_of = {
            by_class: [
                line[name]
                for line in mine
                if line["part"] == "member sets" and line["by_class"] is by_class
            ]
            for by_class in (False, True)
        }
        referrals = [
            line[name] for line in mine if line["part"] == "member referral" and name in line
        ]
        size = np.mean([one["size"] for one in sets_of[False]])
        rest = (
            f"{_range(referrals, 'exceeded')} | {_range(referrals, 'answered')}"
            if referrals
            else "- | -"
        )
        rows.append(
            f"| {examples} | {name} | {_range(sets_of[False], 'coverage')} | "
            f"{_range(sets_of[True], 'worst_class')} | {size:.2f} | {rest} |"
        )
    return "\n".join(rows)


def _range(mine, key):
    values = [line[key] for line in mine]
    return f"{min(values):.3f} to {max(values):.3f}"


def _span(mine, key):
    return f"{len(mine)} | {_range(mine, key)}"


if __name__ == "__main__":
    if sys.argv[1:] == ["--table"]:
        print(markdown(lines.read(LINES)))
        sys.exit()
    if sys.argv[1:] == ["--check"]:
        problems = broken_promises(lines.read(LINES))
        print(*problems, sep="\n")
        sys.exit(bool(problems))
    lines.perform_missing(LINES, wanted(), perform)
    print(markdown(lines.read(LINES)))
