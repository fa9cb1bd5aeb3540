"""How well version 0.1.0 found a temperature out of fold: against 6,000 validation images.

python benchmarks/temperature.py --methods oko,bb+ls --seeds 5,6,7   performs what is missing
python benchmarks/temperature.py --markdown   prints the table from results/temperature.jsonl

Behind the number of folds in ``docs/recipe.md``; the test set is not looked at, and
the seeds are others than those of ``RESULTS.md``.
"""

import argparse
import math
from itertools import product
from statistics import fmean

import lines
import torch
import torch.nn.functional as F
from recipe import FEW, images

import oddkout as oko
from oddkout.calibrators import TemperatureScaling
from oddkout.fitting.methods import METHODS
from oddkout.fitting.pipeline import fit_network
from oddkout.fitting.preparation import Prepared, Standardisation
from oddkout.fitting.recipe import Recipe
from oddkout.fitting.training import predict_logits
from oddkout.paper.first_recipe import first_recipe

LINES = lines.FOLDER / "temperature.jsonl"
HELD_OUT = 6000
FOLDS = (3, 5)
SPREADS = (0.5, 0.35, 0.2)
LOGARITHMS = torch.arange(-2250, 2251, dtype=torch.float64) / 750


def line(method, setting, seed):
    """One training on all examples and those of the folds, measured at every temperature."""
    x, y, x_held, y_held = images(setting, seed, held_out=HELD_OUT)
    recipe = Recipe(**first_recipe(y.bincount().tolist()))
    data = Prepared(
        x=x,
        y=y,
        x_test=x_held,
        y_test=y_held,
        classes=tuple(map(str, range(10))),
        standardisation=Standardisation(),
    )
    fits = {
        count: fit_network(
            data,
            method=METHODS[method],
            recipe=recipe,
            choices={},
            folds=count,
            members="single",
            calibration="none",
            population="uniform",
            seed=seed,
        )
        for count in FOLDS
    }
    held = predict_logits(fits[FOLDS[0]].model, x_held)
    by_folds = {count: fitted.scores.logits for count, fitted in fits.items()}
    return measured(method, setting, seed, y, by_folds, held, y_held)


def measured(method, setting, seed, y, by_folds, held, y_held):
    """Every temperature, with the ECE and NLL that it gives the model on held-out images."""
    found = {"none": 1.0, "best": TemperatureScaling().fit(held, y_held).temperature.item()}
    for count, logits in by_folds.items():
        for rule, is_balanced in (("likeliest", True), ("likeliest, examples alike", False)):
            fit = TemperatureScaling().fit(logits, y, is_balanced=is_balanced)
            found[f"{count} folds, {rule}"] = fit.temperature.item()
        for spread in SPREADS:
            found[f"{count} folds, spread {spread}"] = most_probable(logits, y, spread)
    return {
        "method": method,
        "setting": setting,
        "seed": seed,
        "estimates": {
            name: {
                "temperature": temperature,
                "ece": oko.metrics.expected_calibration_error(
                    (held / temperature).softmax(dim=1), y_held, bins=10
                ).item(),
                "nll": F.cross_entropy(held / temperature, y_held).item(),
            }
            for name, temperature in found.items()
        },
    }


def most_probable(logits, y, spread):
    """The temperature with a normal prior on its logarithm, all classes weighing the same."""
    share = 1 / (y.bincount()[y] * len(y.unique())).double()
    examples = 1 / share.square().sum()  # so many equal ones give a mean the same variance
    losses = [
        share @ F.cross_entropy(logits.double() / t.exp(), y, reduction="none") for t in LOGARITHMS
    ]
    energies = examples * torch.stack(losses) + (LOGARITHMS / spread) ** 2 / 2
    return LOGARITHMS[energies.argmin()].exp().item()


def markdown(known):
    """Means over all lines: the error of log T, and what it costs in NLL; ECE by method."""
    methods = sorted({each["method"] for each in known})
    text = [
        f"| temperature | error of log T | its mean | NLL above best | "
        f"{' | '.join(f'ECE, {name}' for name in methods)} |",
        f"| --- | --- | --- | --- |{' --- |' * len(methods)}",
    ]
    for name in known[0]["estimates"]:
        pairs = [(each["estimates"][name], each["estimates"]["best"]) for each in known]
        errors = [math.log(own["temperature"] / best["temperature"]) for own, best in pairs]
        cells = [
            f"{math.sqrt(fmean(error**2 for error in errors)):.3f}",
            f"{fmean(errors):+.3f}",
            f"{fmean(own['nll'] - best['nll'] for own, best in pairs):.4f}",
        ]
        cells += [
            f"{fmean(e['estimates'][name]['ece'] for e in known if e['method'] == method):.3f}"
            for method in methods
        ]
        text.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", default="oko,bb+ls,vanilla,oko-soft")
    parser.add_argument("--seeds", default="")
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    if arguments.markdown:
        print(markdown(lines.read(LINES)))
    seeds = [int(seed) for seed in arguments.seeds.split(",") if seed]
    order = product(seeds, arguments.methods.split(","), FEW)
    wanted = [
        {"method": method, "setting": setting, "seed": seed} for seed, method, setting in order
    ]
    lines.perform_missing(LINES, wanted, line)


if __name__ == "__main__":
    main()
