"""What members cost: five against one network, eight batched perceptrons against one, bfloat16.

Run with ``make bench``. Every number is a ratio of two things measured in turn in this run, on one
thread. ``python benchmarks/members.py --precision`` trains OKO and label smoothing in float32 and
in bfloat16 on validation images of ten seeds, and ``--markdown`` prints the table of
``results/precision.jsonl``.
"""

import argparse
from statistics import fmean

import lines
import torch
import torch.nn.functional as F
from ratio import line, quartiles
from recipe import FEW, images

from oddkout.calibrators import TemperatureScaling
from oddkout.comparing.statistics import t_interval
from oddkout.fitting.batched import train_batched
from oddkout.fitting.methods import METHODS
from oddkout.fitting.networks import built_network, train_network
from oddkout.fitting.pipeline import fit_network
from oddkout.fitting.preparation import Prepared, Standardisation
from oddkout.fitting.recipe import Recipe, suited_to
from oddkout.fitting.training import predict_logits

ROUNDS = 7
LINES = lines.FOLDER / "precision.jsonl"
SETTINGS = ("MNIST, 10 per class", "FashionMNIST, heavy-tailed 200")
METHOD = METHODS["oko"]


def some_images(examples=100):
    source = torch.Generator().manual_seed(0)
    return torch.randn(examples, 1, 28, 28, generator=source), torch.arange(examples) % 10


def five_members():
    """A fit with five members, 120 updates, against one network trained on everything."""
    x, y = some_images()
    names = tuple(map(str, range(10)))
    data = Prepared(x=x, y=y, x_test=x, y_test=y, classes=names, standardisation=Standardisation())
    recipe = Recipe(updates=120)

    def members():
        fit_network(
            data, method=METHOD, recipe=recipe, choices={}, folds=5, members="folds",
            calibration="folds", population="train", seed=0, processes=1,
        )  # fmt: skip

    def one():
        train_network(x, y, recipe=recipe, method=METHOD, classes=10, seed=0)

    return quartiles(members, one, ROUNDS)


def eight_perceptrons(method):
    """Eight members of 64 features trained together, against one of them alone."""
    source = torch.Generator().manual_seed(0)
    x = torch.randn(400, 64, generator=source)
    y = torch.arange(400) % 5
    recipe = Recipe(updates=200)
    is_trained = [torch.arange(400) % 8 != fold for fold in range(8)]

    def together():
        networks = [
            built_network(recipe, method=method, shape=(64,), classes=5, seed=seed)
            for seed in range(8)
        ]
        train_batched(
            networks, x, y, is_trained=is_trained, seeds=range(8), recipe=recipe, method=method,
            classes=5, stops=[200],
        )  # fmt: skip

    def alone():
        train_network(
            x[is_trained[0]], y[is_trained[0]], recipe=recipe, method=method, classes=5, seed=0
        )

    return quartiles(together, alone, ROUNDS)


def half_precision(examples):
    """Training the CNN in bfloat16 against float32."""
    x, y = some_images()
    data = x.repeat(2, 1, 1, 1), y.repeat(2)

    def trained(is_half):
        recipe = Recipe(updates=40, examples=examples, mixed_precision=is_half)
        return lambda: train_network(*data, recipe=recipe, method=METHOD, classes=10, seed=0)

    return quartiles(trained(True), trained(False), ROUNDS)


def precision_line(method, setting, seed, bfloat16):
    """One network, measured on validation images."""
    x, y, x_held, y_held = images(setting, seed, held_out=4000)
    recipe = Recipe(**suited_to(y.bincount().tolist()), mixed_precision=bfloat16)
    trained = train_network(x, y, recipe=recipe, method=METHODS[method], classes=10, seed=seed)
    logits = predict_logits(trained.model, x_held).double()
    fit = TemperatureScaling().fit(logits, y_held)
    return {
        "method": method,
        "setting": setting,
        "seed": seed,
        "bfloat16": bfloat16,
        "accuracy": (logits.argmax(dim=1) == y_held).double().mean().item(),
        "nll": F.cross_entropy(fit(logits), y_held).item(),
    }


def markdown():
    """Differences of bfloat16 from float32, paired by seed."""
    known = lines.read(LINES)
    print("| method, setting | accuracy, points | NLL at the best T | seeds |")
    print("| --- | --- | --- | --- |")
    for method, setting in sorted({(one["method"], one["setting"]) for one in known}):
        own = [one for one in known if (one["method"], one["setting"]) == (method, setting)]
        by_seed = {
            half: {o["seed"]: o for o in own if o["bfloat16"] is half} for half in (True, False)
        }
        seeds = sorted(by_seed[True].keys() & by_seed[False].keys())
        cells = []
        for name, scale, digits in (("accuracy", 100, 2), ("nll", 1, 4)):
            gap = t_interval(
                [scale * (by_seed[True][s][name] - by_seed[False][s][name]) for s in seeds]
            )
            mean = scale * fmean(by_seed[False][s][name] for s in seeds)
            cells.append(
                f"{gap.mean:+.{digits}f} [{gap.low:+.{digits}f}, {gap.high:+.{digits}f}] "
                f"(float32: {mean:.{digits}f})"
            )
        print(f"| {method}, {setting} | {' | '.join(cells)} | {len(seeds)} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--precision", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(1)
    if given.markdown:
        markdown()
    elif given.precision:
        assert set(SETTINGS) <= set(FEW)
        wanted = [
            {"method": method, "setting": setting, "seed": seed, "bfloat16": half}
            for seed in range(10)
            for setting in SETTINGS
            for method in ("oko", "vanilla+ls")
            for half in (False, True)
        ]
        lines.perform_missing(LINES, wanted, precision_line)
    else:
        line("fit with five members / one network", five_members(), ROUNDS, "target: at most 4.2")
        for name in ("vanilla", "oko"):
            line(
                f"eight batched perceptrons / one, {name}",
                eight_perceptrons(METHODS[name]),
                ROUNDS,
                "target: at most 2.5",
            )
        for examples in (20, 100):
            line(
                f"training in bfloat16 / in float32, {examples} examples an update",
                half_precision(examples),
                ROUNDS,
                "no target",
            )
