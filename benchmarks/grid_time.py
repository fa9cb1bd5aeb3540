"""Where the time of the paper's grid goes: ``python benchmarks/grid_time.py``.

Runs of OKO on one thread, as ``oddkout reproduce`` performs them. The rate of operations in
training is compared with that of a large matrix product of the same type, measured in turn.
"""

import argparse
import statistics
import time
from dataclasses import replace

import torch
from torch.utils.flop_counter import FlopCounterMode

from oddkout.comparing.perform import data_for, perform
from oddkout.fitting.preparation import prepared
from oddkout.models import build_model
from oddkout.paper.presets import PRESETS
from oddkout.paper.settings import Setting

CASES = {
    "paper": [Setting("mnist", "uniform", 10), Setting("mnist", "uniform", 2000)],
    "cifar": [Setting("cifar10", "uniform", 40)],
}


def product_rate():
    """Operations per second of a bfloat16 matrix product."""
    size = 1024
    a, b = (torch.randn(size, size, dtype=torch.bfloat16) for _ in range(2))
    began, rounds = time.process_time(), 20
    for _ in range(rounds):
        a @ b
    return 2 * size**3 * rounds / (time.process_time() - began)


def operations(config, shape):
    """Operations of a forward pass of one example; a training step takes three times as many."""
    model = build_model(
        config.model, shape=shape, classes=10, generator=torch.Generator(), dropout=0.0
    )
    with FlopCounterMode(display=False) as counter:
        model(torch.zeros(2, *shape))  # the convolutions of a single one are not counted
    return counter.get_total_flops() / 2


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    for name, settings in CASES.items():
        for setting in settings:
            config = replace(PRESETS[name].config(setting, "oko"), seed=7)
            shape = tuple(prepared(data_for(config)).x.shape[1:])
            perform([replace(config, updates=2)])  # decodes the data
            parts = []
            for _ in range(rounds):
                rate = product_rate()
                [run] = perform([config])
                total, train = run.seconds["cpu"], run.seconds["train"]
                evaluate = run.seconds["evaluate"]
                examples = config.updates * config.examples
                share = 3 * operations(config, shape) * examples / train / rate
                parts.append((total, train, total - train - evaluate, evaluate, share))
            total, train, predict, evaluate, share = map(
                statistics.median, zip(*parts, strict=True)
            )
            print(
                f"{setting}, {config.updates:,} updates of {config.examples}\n"
                f"    {total:.1f} CPU-s   training {100 * train / total:.0f} %, predicting "
                f"{100 * predict / total:.0f} %, metrics {100 * evaluate / total:.0f} %\n"
                f"    training reaches {100 * share:.0f} % of the bfloat16 matrix rate of a core   "
                f"n={rounds}"
            )


if __name__ == "__main__":
    main()
