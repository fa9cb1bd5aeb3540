"""What the folds are worth: choices, calibration and ensembles out of fold, against version 0.1.0.

python benchmarks/folds.py --tune [--part 0/2]   candidates of every method, seeds 0 to 3
python benchmarks/folds.py --test [--part 0/2]   the protocol of docs/protocol.md, seeds 13 to 22

``--tune`` uses training and validation images only, and chooses out of fold. ``--test`` uses what
it chose, on the official test sets. ``folds_page.py`` writes the page.
"""

import argparse
import time
from dataclasses import replace
from itertools import product

import choosing
import lines
import torch.nn.functional as F
from choosing import start
from recipe import FEW, images

import oddkout as oko
from oddkout.calibrators import TemperatureScaling
from oddkout.fitting.folds import fitted_ledger
from oddkout.fitting.methods import METHODS
from oddkout.fitting.networks import train_network
from oddkout.fitting.pipeline import ensemble_exponent, fit_network
from oddkout.fitting.preparation import Prepared, Standardisation, prepared
from oddkout.fitting.recipe import Recipe
from oddkout.fitting.search import chosen_stop
from oddkout.fitting.training import predict_logits
from oddkout.paper.first_recipe import first_recipe
from oddkout.prior import uniform

TUNED = lines.FOLDER / "folds-tuning.jsonl"
TESTED = lines.FOLDER / "folds-test.jsonl"
CONTESTANTS = ("oko", "bb+ls", "vanilla+ls", "bb+ts-fit", "focal")
CHOICES = {"learning_rate": (0.1, 0.2, 0.4), "dropout": (0.3, 0.5), "own": (0.3, 1.0)}
# One seed for each setting; a choice is by the mean of log NLL over the four settings.
TUNING_SEEDS = dict(zip(FEW, range(4), strict=True))
TEST_SEEDS = range(13, 23)
FIRST_SEEDS_END = 18  # the baselines of version 0.1.0 have five seeds, OKO ten
HELD_OUT = 6000
SHARED = {"folds": 5, "population": "uniform", "choices": {}}


def tuning_line(method, setting, seed, changes):
    """One fit with members: its out-of-fold NLL, and rules of calibration on held-out images."""
    x, y, x_held, y_held = images(setting, seed, held_out=HELD_OUT)
    data = prepared_tensors(x, y, x_held, y_held)
    recipe = replace(start(y.bincount().tolist()), **changes)
    began = time.perf_counter()
    fitted = fit_network(
        data, method=METHODS[method], recipe=recipe, members="folds", calibration="folds",
        seed=seed, **SHARED,
    )  # fmt: skip
    seconds = time.perf_counter() - began
    held = predict_logits(fitted.model, x_held)
    return {
        "method": method,
        "setting": setting,
        "seed": seed,
        "changes": changes,
        "nll": fitted.scores.metrics["nll"],
        "updates": fitted.updates,
        "rules": rules(fitted, y, held, y_held),
        "seconds": seconds,
    }


def rules(fitted, y, held, y_held):
    """NLL and ECE of the ensemble on held-out images with every rule of calibration."""
    scores, exponent = fitted.scores, ensemble_exponent(fitted.members)
    plain = replace(scores.ledger, temperature=1.0, strength=0.0)
    is_scored = scores.fold_of >= 0
    only = fitted_ledger(
        plain,
        scores.logits[is_scored],
        y[is_scored],
        calibration="temperature",
        judged=uniform(10),
    )
    best = fitted_ledger(
        plain, held.flatten(0, 1), y_held.repeat_interleave(held.shape[1]), calibration="folds",
        judged=None,
    )  # fmt: skip
    ledgers = {
        "none": plain,
        "temperature": only,
        "both": scores.ledger,
        "temperature, exponent": replace(only, exponent=exponent),
        "both, exponent": replace(scores.ledger, exponent=exponent),
    }
    found = {name: measured(ledger.combined(held), y_held) for name, ledger in ledgers.items()}
    sharpest = best.combined(held)
    power = 1 / TemperatureScaling().fit(sharpest, y_held).temperature.item()
    found["best possible"] = measured(power * sharpest, y_held)
    return found | {
        "fitted": [scores.ledger.temperature, scores.ledger.strength],
        "best": [best.temperature, best.strength, power],
    }


def prepared_tensors(x, y, x_test, y_test):
    return Prepared(
        x=x,
        y=y,
        x_test=x_test,
        y_test=y_test,
        classes=tuple(map(str, range(10))),
        standardisation=Standardisation(),
    )


def measured(logits, labels):
    """Accuracy, NLL and ECE."""
    probs = logits.double().softmax(dim=1)
    return {
        "accuracy": (logits.argmax(dim=1) == labels).double().mean().item(),
        "nll": F.cross_entropy(logits.double(), labels).item(),
        "ece": oko.metrics.expected_calibration_error(probs, labels, bins=10).item(),
    }


def tune(methods, part, parts):
    """Perform what is missing of the search of every method; the search is deterministic."""
    for method in methods[part::parts]:
        searched(method, perform=True)


def searched(method, *, perform=False):
    """The choices of a method, see ``choosing``."""
    return choosing.searched(
        method, METHODS[method], choices=CHOICES, seeds=TUNING_SEEDS, file=TUNED,
        perform=tuning_line if perform else None,
    )  # fmt: skip


def test_line(method, setting, seed, arm):
    """One fit of one arm, measured on the official test set."""
    name, distribution, examples = FEW[setting]
    data = oko.load_data(name, distribution=distribution, train_examples=examples, seed=seed)
    ready = prepared(data)
    perform = first_arm if arm == "0.1.0" else second_arm
    began = time.process_time()
    found, details = perform(ready, method, seed)
    return {
        "method": method,
        "setting": setting,
        "seed": seed,
        "arm": arm,
        "metrics": {key: measured(value, ready.y_test) for key, value in found.items()},
        "details": details,
        "seconds": time.process_time() - began,
    }


def first_arm(data, method, seed):
    """Version 0.1.0: one network, cosine schedule, temperature by five folds."""
    changes = first_recipe(data.y.bincount().tolist()) | {"learning_rate": 0.2}
    fitted = fit_network(
        data, method=METHODS[method], recipe=Recipe(**changes, mixed_precision=True),
        members="single", calibration="none", seed=seed, **SHARED,
    )  # fmt: skip
    logits = predict_logits(fitted.model, data.x_test)
    fit = TemperatureScaling().fit(fitted.scores.logits, data.y, is_balanced=True)
    details = {"temperature": fit.temperature.item()}
    return {"single, as trained": logits, "single, T": fit(logits)}, details


def second_arm(data, method, seed):
    """Version 0.2 with members; for OKO also one network, and one trained four times as long."""
    best, _, is_complete = searched(method)
    assert is_complete, f"tune {method} first"
    recipe = replace(start(data.y.bincount().tolist()), **best)
    fitted = fit_network(
        data, method=METHODS[method], recipe=recipe, members="folds", calibration="folds",
        seed=seed, **SHARED,
    )  # fmt: skip
    logits = predict_logits(fitted.model, data.x_test)
    found = {
        "members, as trained": fitted.as_trained.combined(logits),
        "members, calibrated": fitted.calibrated.combined(logits),
    }
    stop = list(fitted.curve)[chosen_stop(list(fitted.curve.values()))]
    if method == "oko":
        for name, updates, factor in (
            ("single", round(stop * recipe.updates), 1),
            ("long", 4 * recipe.updates, 4),
        ):
            trained = train_network(
                data.x, data.y, recipe=replace(recipe, updates=factor * recipe.updates),
                method=METHODS[method], classes=10, seed=seed, stops=[updates],
            )  # fmt: skip
            logits = predict_logits(trained.model, data.x_test)
            if name == "single":
                found["single, calibrated"] = replace(fitted.calibrated, exponent=1).logits(logits)
            else:  # with what is best on the test set: an upper bound
                ledger = replace(fitted.calibrated, temperature=1.0, strength=0.0, exponent=1.0)
                found["long, best possible"] = fitted_ledger(
                    ledger, logits, data.y_test, calibration="folds", judged=None
                ).logits(logits)
    ledger = fitted.calibrated
    return found, {
        "temperature": ledger.temperature, "strength": ledger.strength, "stop": stop,
        "recipe": best,
    }  # fmt: skip


def test(methods, part, parts):
    """Perform what is missing of the protocol, the costly ones first."""
    wanted = [
        {"method": method, "setting": setting, "seed": seed, "arm": arm}
        for seed, setting, method, arm in product(TEST_SEEDS, FEW, methods, ("0.2", "0.1.0"))
        if arm == "0.2" or method == "oko" or seed < FIRST_SEEDS_END
    ]
    lines.perform_missing(TESTED, wanted[part::parts], test_line)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tune", action="store_true")
    parser.add_argument("--test", action="store_true")
    parser.add_argument("--methods", default=",".join(CONTESTANTS))
    parser.add_argument("--part", default="0/1", help="which part of how many, e.g. 0/2")
    return parser.parse_args()


if __name__ == "__main__":
    given = arguments()
    share = tuple(map(int, given.part.split("/")))
    methods = given.methods.split(",")
    if given.tune:
        tune(methods, *share)
    if given.test:
        test(methods, *share)
