"""Why OKO is behind with 100 classes: CIFAR-100, 40 examples per class, 400 updates, validation.

python benchmarks/many_classes.py             performs what is missing, seeds 0 and 1
python benchmarks/many_classes.py --markdown  prints the table from results/many-classes.jsonl
"""

import argparse
from statistics import fmean

import lines
import numpy as np
import torch
from folds import measured

import oddkout as oko
from oddkout.calibrators import TemperatureScaling
from oddkout.fitting.methods import METHODS
from oddkout.fitting.networks import train_network
from oddkout.fitting.preparation import Standardisation
from oddkout.fitting.recipe import Recipe, suited_to
from oddkout.fitting.training import predict_logits

LINES = lines.FOLDER / "many-classes.jsonl"
SEEDS = (0, 1)
HELD_OUT = 4000
BASE = suited_to([40] * 100) | {
    "model": "resnet18-narrow", "updates": 400, "shift": 4, "flip": True, "mixed_precision": True,
    "learning_rate": 0.2,
}  # fmt: skip
ROWS = {
    "bb": ("bb", {}),
    "oko (k = 1, head)": ("oko", {}),
    "oko without head": ("oko", {"head_weight": 0.0}),
    "oko without head, 4 x the sets": ("oko", {"head_weight": 0.0, "sets": 4 * BASE["sets"]}),
    "oko without head, learning rate 0.4": ("oko", {"head_weight": 0.0, "learning_rate": 0.4}),
    "pairs alone (k = 0)": ("pair", {}),
}


def line(row, seed):
    """One network, measured on validation images."""
    data = oko.load_data("cifar100")
    first, last = oko.last_split(len(data.y_train))
    chosen = first[
        oko.subset(data.y_train[first], examples=4000, distribution="uniform", seed=seed)
    ]
    held = last[:HELD_OUT]
    scaling = Standardisation.of(np.asarray(data.x_train[chosen]), is_encoded=False)
    x, x_held = (scaling(np.asarray(data.x_train[part])) for part in (chosen, held))
    y, y_held = (torch.tensor(data.y_train[part]) for part in (chosen, held))
    method, changes = ROWS[row]
    trained = train_network(
        x, y, recipe=Recipe(**BASE | changes), method=METHODS[method], classes=100, seed=seed
    )
    logits = predict_logits(trained.model, x_held)
    fit = TemperatureScaling().fit(logits, y_held)
    return {
        "row": row,
        "seed": seed,
        "metrics": measured(logits, y_held),
        "temperature": fit.temperature.item(),
        "nll_at_temperature": measured(fit(logits), y_held)["nll"],
    }


def table():
    """Means over seeds."""
    yield "| | accuracy, % | NLL at the best T | best T | seeds |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    known = lines.read(LINES)
    for row in ROWS:
        own = [one for one in known if one["row"] == row]
        if own:
            accuracy = fmean(one["metrics"]["accuracy"] for one in own)
            nll = fmean(one["nll_at_temperature"] for one in own)
            temperature = fmean(one["temperature"] for one in own)
            yield (f"| {row} | {100 * accuracy:.1f} | {nll:.3f} | {temperature:.2f} | {len(own)} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--markdown", action="store_true")
    if parser.parse_args().markdown:
        print(*table(), sep="\n")
    else:
        wanted = [{"row": row, "seed": seed} for seed in SEEDS for row in ROWS]
        lines.perform_missing(LINES, wanted, line)
