"""Perform recorded runs again and compare: ``python benchmarks/reproduced.py --runs 10``.

Runs are drawn from ``results/paper-*.jsonl`` by a seed, as many methods and settings as possible.
On the same kind of machine every number is the same; elsewhere accuracy is within 0.3 points and
NLL within 0.01. ``--kind runs`` is for the runs of version 0.1.0.
"""

import argparse
import json
import random
from pathlib import Path

from oddkout.comparing.perform import perform
from oddkout.paper.lines import read_lines

RESULTS = Path(__file__).parents[1] / "results"
POINTS, NLL = 0.003, 0.01


def sampled(count, seed, *, data, kind="paper"):
    """Recorded runs of as many methods and settings as possible, in random order."""
    lines = read_lines(RESULTS, kind=kind)
    runs = [run for run in lines if run.config.data in data and not run.has_failed]
    random.Random(seed).shuffle(runs)
    chosen, methods, settings = [], set(), set()
    for run in [*runs, *runs]:  # a second pass, if new methods and settings are not enough
        config = run.config
        setting = (config.data, config.distribution, config.train_examples)
        is_new = config.method not in methods or setting not in settings
        if len(chosen) < count and run not in chosen and (is_new or len(chosen) >= len(methods)):
            chosen.append(run)
            methods.add(config.method)
            settings.add(setting)
    return chosen


def differences(old, new):
    """Largest differences of accuracy and NLL, as trained and tempered, and of the temperature."""
    gaps = {
        metric: max(
            abs(old.value(metric, is_tempered=kind) - new.value(metric, is_tempered=kind))
            for kind in (False, True)
        )
        for metric in ("accuracy", "nll", "ece")
    }
    return gaps | {"temperature": abs(old.temperature - new.temperature)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", default="paper")
    parser.add_argument("--data", default="mnist,fashion_mnist")
    arguments = parser.parse_args()
    is_fine = True
    data = arguments.data.split(",")
    for old in sampled(arguments.runs, arguments.seed, data=data, kind=arguments.kind):
        [new] = perform([old.config])
        config = old.config
        row = {
            "run": config.id,
            "method": config.method,
            "setting": f"{config.data}, {config.distribution}, {config.train_examples}",
            "seed": config.seed,
        }
        if new.has_failed:
            is_fine, row = False, row | {"failed": new.reason.splitlines()[0]}
        else:
            gaps = differences(old, new)
            is_fine &= gaps["accuracy"] <= POINTS and gaps["nll"] <= NLL
            row |= gaps
        print(json.dumps(row), flush=True)
    print("all within the limits" if is_fine else "NOT REPRODUCED")
    return 0 if is_fine else 1


if __name__ == "__main__":
    raise SystemExit(main())
