"""Quality of every method on four few-shot settings: the runs behind the first table of RESULTS.md.

    ODDKOUT_DATA=... python benchmarks/quality.py --out RUNS

One recipe for all four settings: every method chooses one learning rate for all of them, by the
mean out-of-fold NLL on the first seed; the test set is not looked at. Goes on where it stopped.
"""

import argparse
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from oddkout.experiments.config import RunConfig
from oddkout.experiments.grid import perform_grid
from oddkout.experiments.store import RunStore

RATES, SEEDS = (0.1, 0.2), range(5)
SETTINGS = [
    RunConfig(data=data, distribution=distribution, train_examples=examples, population="uniform")
    for distribution, examples in (("uniform", 100), ("heavy-tailed", 200))
    for data in ("mnist", "fashion_mnist")
]
# Those that train alike train once; the most wanted come first.
FAMILIES = (
    ("oko",),
    ("bb+ls",),
    ("vanilla+ls",),
    ("bb+noise",),
    ("bb", "bb+ts", "bb+ts-fit"),
    ("vanilla",),
    ("focal",),
    ("weighted",),
    ("oko-soft",),
    ("pair",),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for the runs")
    store = RunStore(parser.parse_args().out)

    def show(done: int, total: int, run: object) -> None:
        if run is not None:
            print(f"    {done} of {total}", flush=True)

    for family in FAMILIES:
        print(", ".join(family), flush=True)
        first = [
            replace(setting, method=name, learning_rate=rate, seed=SEEDS[0])
            for name in family
            for setting in SETTINGS
            for rate in RATES
        ]
        tuning = perform_grid(first, store, progress=show)
        nll = {
            rate: fmean(
                run.out_of_fold["nll"] for run in tuning if run.config.learning_rate == rate
            )
            for rate in RATES
        }
        best = min(RATES, key=lambda rate: nll[rate])
        print(f"    learning rate {best}: {nll}", flush=True)
        rest = [
            replace(config, seed=seed)
            for config in first
            if config.learning_rate == best
            for seed in SEEDS
        ]
        perform_grid(rest, store, progress=show)


if __name__ == "__main__":
    main()
