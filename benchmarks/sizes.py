"""Data of other sizes: 500 examples per class, all of MNIST, and CIFAR-100; see docs/protocol.md.

python benchmarks/sizes.py [--part 0/2]   performs what is missing
python benchmarks/sizes.py --markdown     prints the table from results/sizes.jsonl
"""

import argparse
import math
import resource
import time
from statistics import fmean

import lines

import oddkout as oko
from oddkout.comparing.statistics import t_interval

LINES = lines.FOLDER / "sizes.jsonl"
SEEDS = (13, 14, 15)
SHARED = {"learning_rates": [0.2]}
HALF = {"mixed_precision": True}
FIVE_HUNDRED = {"distribution": "uniform", "train_examples": 5000}
CASES = {
    "MNIST, 500 per class": (("mnist", FIVE_HUNDRED, HALF), ("oko", "bb+ls"), SEEDS),
    "FashionMNIST, 500 per class": (
        ("fashion_mnist", FIVE_HUNDRED, HALF),
        ("oko", "bb+ls"),
        SEEDS,
    ),
    "MNIST, all": (("mnist", {}, HALF), ("oko",), SEEDS[:1]),
    "CIFAR-100, 40 per class": (
        (
            "cifar100",
            {"distribution": "uniform", "train_examples": 4000, "folds": 0},
            HALF | {"model": "resnet18-narrow", "updates": 400, "shift": 4, "flip": True},
        ),
        ("oko", "bb"),
        SEEDS,
    ),
}


def line(case, method, seed):
    """One fit and its metrics on the official test set."""
    (name, options, recipe), *_ = CASES[case]
    began = time.perf_counter()
    classifier = oko.fit(
        name, method=method, seed=seed, recipe=recipe, processes=1, **SHARED | options
    )
    metrics = classifier.evaluation
    return {
        "case": case,
        "method": method,
        "seed": seed,
        "metrics": {name: metrics[name].value for name in ("accuracy", "nll", "ece")},
        "p_value": metrics["ece"].null.p_value,
        "verdict": metrics.verdict,
        "members": classifier.members,
        "updates": classifier.details["stopped"]["updates"],
        "seconds": time.perf_counter() - began,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def table():
    """A row for each case and method: means over seeds."""
    yield "| | method | accuracy, % | NLL | ECE | p of the ECE | memory, MB | seeds |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    known = lines.read(LINES)
    for case, (_, methods, _) in CASES.items():
        for method in methods:
            own = [one for one in known if (one["case"], one["method"]) == (case, method)]
            if own:
                accuracy, nll, ece = (
                    fmean(one["metrics"][name] for one in own)
                    for name in ("accuracy", "nll", "ece")
                )
                lowest = min(one["p_value"] for one in own)
                memory = max(one["peak_mb"] for one in own)
                yield (
                    f"| {case} | {method} | {100 * accuracy:.2f} | {nll:.4f} | {ece:.4f} | "
                    f"{'at least ' if len(own) > 1 else ''}{lowest:.3f} | {memory:,} | {len(own)} |"
                )


def differences():
    """OKO against the other method, paired by seed, with 95 % intervals."""
    known = lines.read(LINES)
    for case, (_, methods, seeds) in CASES.items():
        if len(methods) < 2:
            continue
        found = {
            (one["method"], one["seed"]): one["metrics"] for one in known if one["case"] == case
        }
        pairs = [
            (found["oko", seed], found[methods[1], seed])
            for seed in seeds
            if ("oko", seed) in found and (methods[1], seed) in found
        ]
        if len(pairs) < 2:
            continue
        points = t_interval(
            [100 * (ours["accuracy"] - theirs["accuracy"]) for ours, theirs in pairs]
        )
        nll = t_interval([math.log(ours["nll"] / theirs["nll"]) for ours, theirs in pairs])
        mean, low, high = (math.exp(value) for value in (nll.mean, nll.low, nll.high))
        yield (
            f"* {case}, `oko` against `{methods[1]}`: {points.mean:+.2f} [{points.low:+.2f}, "
            f"{points.high:+.2f}] points of accuracy, NLL ratio {mean:.3f} [{low:.3f}, "
            f"{high:.3f}], {len(pairs)} seeds"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", default="0/1", help="which part of how many, e.g. 0/2")
    parser.add_argument("--markdown", action="store_true")
    given = parser.parse_args()
    if given.markdown:
        print(*table(), "", *differences(), sep="\n")
    else:
        part, parts = map(int, given.part.split("/"))
        wanted = [
            {"case": case, "method": method, "seed": seed}
            for case, (_, methods, seeds) in CASES.items()
            for seed in seeds
            for method in methods
        ]
        lines.perform_missing(LINES, wanted[part::parts], line)
