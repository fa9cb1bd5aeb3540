"""What the folds are worth: choices, calibration and ensembles out of fold, against version 0.1.0.

python benchmarks/folds.py --tune [--part 0/2]   candidates of every method, seeds 0 to 3
python benchmarks/folds.py --test [--part 0/2]   the protocol of docs/protocol.md, seeds 13 to 22
python benchmarks/folds.py --markdown            the tables, from results/folds-*.jsonl

``--tune`` uses training and validation images only, and chooses out of fold. ``--test`` uses what
it chose, on the official test sets.
"""

import argparse
import math
import time
from dataclasses import replace
from itertools import product
from statistics import fmean

import lines
import torch.nn.functional as F
from recipe import FEW, images

import oddkout as oko
from oddkout.calibrators import TemperatureScaling
from oddkout.comparing.comparison import t_interval
from oddkout.fitting.folds import fitted_ledger
from oddkout.fitting.methods import METHODS
from oddkout.fitting.networks import train_network
from oddkout.fitting.pipeline import ensemble_exponent, fit_network
from oddkout.fitting.preparation import Prepared, Standardisation, prepared
from oddkout.fitting.recipe import Recipe, suited_to
from oddkout.fitting.search import chosen_stop
from oddkout.fitting.selection import alternatives
from oddkout.fitting.training import predict_logits
from oddkout.paper.first_recipe import first_recipe

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


def start(sizes):
    """The recipe before all choices."""
    return Recipe(**suited_to(sizes) | {"mixed_precision": True})


def changes_of(recipe, base):
    """The chosen fields of a recipe."""
    names = ("learning_rate", "dropout", "smoothing", "gamma", "head_weight")
    return {name: getattr(recipe, name) for name in names} if recipe != base else {}


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
        plain, scores.logits[is_scored], y[is_scored], calibration="temperature", is_balanced=True
    )
    best = fitted_ledger(
        plain, held.flatten(0, 1), y_held.repeat_interleave(held.shape[1]), calibration="folds",
        is_balanced=False,
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
    """The chosen fields of a method, all compared ones with mean log NLL, and whether all are."""
    base = {setting: start(class_sizes(setting)) for setting in FEW}
    best, compared = {}, {}
    for name, values in CHOICES.items():
        # The fields do not depend on the setting, except for factors of the head's weight.
        some = next(iter(FEW))
        current = replace(base[some], **best)
        for candidate in alternatives(
            current, name, values, method=METHODS[method], start=base[some]
        ):
            changes = changes_of(candidate, base[some])
            key = tuple(sorted(changes.items(), key=str))
            if key not in compared:
                wanted = [
                    {"method": method, "setting": setting, "seed": seed, "changes": changes}
                    for setting, seed in TUNING_SEEDS.items()
                ]
                if perform:
                    lines.perform_missing(TUNED, wanted, tuning_line)
                known = lines.read(TUNED)
                found = [one for one in known if any(w.items() <= one.items() for w in wanted)]
                if len(found) < len(wanted):
                    return best, compared, False
                compared[key] = fmean(math.log(one["nll"]) for one in found)
        best = dict(min(compared, key=lambda key: compared[key]))
    return best, compared, True


def class_sizes(setting):
    return images(setting, TUNING_SEEDS[setting], held_out=1)[1].bincount().tolist()


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
    members, _ = changes.pop("members"), changes.pop("calibrate")
    fitted = fit_network(
        data, method=METHODS[method], recipe=Recipe(**changes, mixed_precision=True),
        members=members, calibration="none", seed=seed, **SHARED,
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
                    ledger, logits, data.y_test, calibration="folds", is_balanced=False
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


# Columns of the tables: arm and key of the metrics.
COLUMNS = {
    "0.1.0, T": ("0.1.0", "single, T"),
    "0.2, as trained": ("0.2", "members, as trained"),
    "0.2": ("0.2", "members, calibrated"),
    "0.2, one network": ("0.2", "single, calibrated"),
    "one network, 4 x the updates, best possible T and tau": ("0.2", "long, best possible"),
}


def values(known, method, setting, column, metric):
    """A metric by seed."""
    arm, key = COLUMNS[column]
    return {
        one["seed"]: one["metrics"][key][metric]
        for one in known
        if (one["method"], one["setting"], one["arm"]) == (method, setting, arm)
        and key in one["metrics"]
    }


def ratio(known, method, first, second):
    """Geometric mean over settings and seeds of the NLL of one column over another, with its CI."""
    logs = []
    for setting in FEW:
        own, other = (values(known, method, setting, column, "nll") for column in (first, second))
        logs.append({seed: math.log(own[seed] / other[seed]) for seed in own.keys() & other.keys()})
    seeds = sorted(set.intersection(*map(set, logs)))
    if len(seeds) < 2:
        return None
    interval = t_interval([fmean(by_seed[seed] for by_seed in logs) for seed in seeds])
    return *(math.exp(value) for value in (interval.mean, interval.low, interval.high)), len(seeds)


def markdown():
    """All tables of the protocol."""
    known = lines.read(TESTED)
    print("What each method chose on seeds 0 to 3:\n")
    for method in CONTESTANTS:
        best, compared, _ = searched(method)
        print(f"* {method}: {best or 'the defaults'} ({4 * len(compared)} runs)")
    print(
        "\nCalibration on 6,000 validation images: NLL above the best possible, all tuning runs\n"
    )
    calibration_table(lines.read(TUNED))
    print("\nTest sets: accuracy in % / NLL / ECE, means over seeds\n")
    print(f"| method, setting | {' | '.join(COLUMNS)} |\n| --- |{' --- |' * len(COLUMNS)}")
    for method, setting in product(CONTESTANTS, FEW):
        cells = []
        for column in COLUMNS:
            found = {
                metric: list(values(known, method, setting, column, metric).values())
                for metric in ("accuracy", "nll", "ece")
            }
            count = len(found["nll"])
            means = {name: fmean(own) for name, own in found.items() if own}
            cells.append(
                f"{100 * means['accuracy']:.1f} / {means['nll']:.3f} / {means['ece']:.3f} ({count})"
                if means
                else "-"
            )
        print(f"| {method}, {setting} | {' | '.join(cells)} |")
    print("\nNLL ratios: geometric mean over the four settings, 95 % interval over seeds\n")
    for method, first, second in (
        *(product(CONTESTANTS, ("0.2",), ("0.1.0, T",))),
        ("oko", "0.2", "0.2, one network"),
        ("oko", "0.2", list(COLUMNS)[-1]),
    ):
        found = ratio(known, method, first, second)
        if found:
            mean, low, high, count = found
            interval = f"{mean:.3f} [{low:.3f}, {high:.3f}]"
            print(f"* {method}, {first} over {second}: {interval}, {count} seeds")
    print("\nAccuracy of OKO, 0.2 minus 0.1.0, points, paired by seed\n")
    for setting in FEW:
        own, other = (values(known, "oko", setting, one, "accuracy") for one in ("0.2", "0.1.0, T"))
        gaps = [100 * (own[seed] - other[seed]) for seed in sorted(own.keys() & other.keys())]
        if len(gaps) > 1:
            gap = t_interval(gaps)
            print(
                f"* {setting}: {gap.mean:+.1f} [{gap.low:+.1f}, {gap.high:+.1f}], {len(gaps)} seeds"
            )


def calibration_table(known):
    """Loss in NLL of every rule, by method and setting."""
    names = [name for name in known[0]["rules"] if name not in ("fitted", "best", "best possible")]
    print(f"| method, setting | best possible | {' | '.join(names)} | runs |")
    print(f"| --- |{' --- |' * (len(names) + 2)}")
    for method, setting in product(CONTESTANTS, FEW):
        own = [o["rules"] for o in known if (o["method"], o["setting"]) == (method, setting)]
        if not own:
            continue
        best = fmean(one["best possible"]["nll"] for one in own)
        losses = [
            fmean(one[name]["nll"] - one["best possible"]["nll"] for one in own) for name in names
        ]
        cells = " | ".join(f"+{loss:.3f}" for loss in losses)
        print(f"| {method}, {setting} | {best:.3f} | {cells} | {len(own)} |")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tune", action="store_true")
    parser.add_argument("--test", action="store_true")
    parser.add_argument("--markdown", action="store_true")
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
    if given.markdown:
        markdown()
