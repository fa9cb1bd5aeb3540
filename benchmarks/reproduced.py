"""Perform recorded runs again and compare: ``python benchmarks/reproduced.py --runs 10``.

Runs are drawn from ``results/paper-*.jsonl`` by a seed, as many methods and settings as possible.
With the same instruction sets (see ``oddkout.version``) their lines are equal to the digit, but
for seconds and versions; otherwise accuracy is within 0.3 points and NLL within 0.01. ``--record``
adds the outcome to ``results/reproduced.jsonl``. ``--kind choices`` is for the runs that made the
choices, ``--kind runs`` for those of version 0.1.0.
"""

import argparse
import json
import random
from dataclasses import replace
from pathlib import Path

from oddkout.comparing.perform import perform
from oddkout.paper.choosing import perform_choice
from oddkout.paper.digest import digest
from oddkout.paper.lines import as_line, read_lines

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


def performed(old, *, kind):
    """A recorded run, performed again as its grid does."""
    if kind == "choices":
        [new] = perform_choice([old.config])
    else:
        [new] = perform([old.config])
    if kind == "paper":
        new = replace(new, extras=digest(new))
    return replace(new, protocol=old.protocol)


def compared(old, new):
    """Whether the lines are equal, and the largest differences of accuracy, NLL and ECE."""
    first, second = (json.loads(as_line(run)) for run in (old, new))
    for line in (first, second):
        del line["seconds"], line["versions"]
    gaps = {
        metric: max(
            abs(old.value(metric, is_tempered=kind) - new.value(metric, is_tempered=kind))
            for kind in (False, True)
        )
        for metric in ("accuracy", "nll", "ece")
        if metric in old.as_trained
    }
    kinds = [run.versions.get("instructions") for run in (old, new)]
    return {"equal": first == second, "same_instructions": kinds[0] == kinds[1]} | gaps


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", default="paper", choices=("paper", "choices", "runs"))
    parser.add_argument("--data", default="mnist,fashion_mnist")
    parser.add_argument("--record", action="store_true")
    arguments = parser.parse_args()
    is_fine = True
    data = arguments.data.split(",")
    for old in sampled(arguments.runs, arguments.seed, data=data, kind=arguments.kind):
        new = performed(old, kind=arguments.kind)
        config = old.config
        row = {
            "kind": arguments.kind,
            "run": config.id,
            "method": config.method,
            "setting": f"{config.data}, {config.distribution}, {config.train_examples}",
            "seed": config.seed,
        }
        if new.has_failed:
            is_fine, row = False, row | {"equal": False, "failed": new.reason.splitlines()[0]}
        else:
            row |= compared(old, new)
            is_fine &= row["equal"] or not row["same_instructions"]
            is_fine &= row.get("accuracy", 0) <= POINTS and row.get("nll", 0) <= NLL
        print(json.dumps(row), flush=True)
        if arguments.record:
            with (RESULTS / "reproduced.jsonl").open("a") as stream:
                stream.write(json.dumps(row) + "\n")
    print("reproduced" if is_fine else "NOT REPRODUCED")
    return 0 if is_fine else 1


if __name__ == "__main__":
    raise SystemExit(main())
