"""Methods for imbalanced classes: the choices of each method, and the protocol's comparison.

python benchmarks/imbalance.py --develop             the power of class frequencies in oko+la
python benchmarks/imbalance.py --tune [--part 0/2]   candidates of every method, seeds 0 to 3
python benchmarks/imbalance.py --test [--part 0/2]   the protocol, seeds 23 to 32
python benchmarks/imbalance.py --decide [--part 0/2] decisions that ``--test`` has not measured yet

``--tune`` uses training data only and chooses out of fold. ``--test`` uses what it chose, on the
official test sets. ``imbalance_page.py`` writes the page.
"""

import argparse
import time
from dataclasses import replace

import choosing
import lines
import numpy as np
import torch
from choosing import start
from decided import decision_measures
from folds import measured

import oddkout as oko
from oddkout.fitting.methods import METHODS, parts_of
from oddkout.fitting.networks import train_network
from oddkout.fitting.pipeline import fit_network
from oddkout.fitting.preparation import prepared
from oddkout.fitting.search import chosen_stop
from oddkout.fitting.stack import combined_views
from oddkout.fitting.training import predict_logits
from oddkout.prior import uniform

TUNED = lines.FOLDER / "imbalance-tuning.jsonl"
TESTED = lines.FOLDER / "imbalance-test.jsonl"
DECIDED = lines.FOLDER / "imbalance-decisions.jsonl"
KINDS = ("mnist", "fashion_mnist", "digits", "cifar10 grey")
HEAVY, EXPONENTIAL, UNIFORM = (
    ("heavy-tailed", 200), ("exponential", 500), ("uniform", 100),
)  # fmt: skip
SETTINGS = {
    f"{kind}, {name}": (kind, *subset)
    for kind in KINDS
    for name, subset in (
        ("heavy-tailed 200", HEAVY), ("exponential 500", EXPONENTIAL), ("10 per class", UNIFORM),
    )
    if kind in KINDS[:2] or subset == HEAVY
}  # fmt: skip
TUNING = {f"{kind}, heavy-tailed 200": seed for seed, kind in enumerate(KINDS)}
POWERS = (0.75, 0.5, 0.0)
CHOICES = {"learning_rate": (0.1, 0.2), "dropout": (0.3, 0.5), "own": (0.3, 1.0)}
PRIMARY = ("oko+la", "vanilla+ls+la")
OTHERS = ("oko", "vanilla+ls", "vanilla", "weighted", "bb+ls", "vanilla+la", "focal", "bb",
          "ldam+drw", "crt", "mixup", "remix")  # fmt: skip
# These differ from bb by what follows training.
SHARING = ("bb+ts", "bb+ts-fit")
# Settings in which one network is trained on everything, too.
SINGLE = ("mnist, heavy-tailed 200", "fashion_mnist, heavy-tailed 200")
TEST_SEEDS = range(23, 33)
TEN, FIVE = 10, 5

# With equal class sizes these train exactly like the method named here.
SAME_ON_UNIFORM = {"weighted": "vanilla", "vanilla+la": "vanilla",
                   "vanilla+ls+la": "vanilla+ls"}  # fmt: skip
SHARED = {"folds": 5, "population": "uniform", "choices": {}, "members": "folds",
          "calibration": "folds", "processes": 1}  # fmt: skip


def data_of(setting, seed):
    """The data of a setting; CIFAR-10 in grey, cropped to 28 x 28."""
    kind, distribution, examples = SETTINGS[setting]
    name = kind.removesuffix(" grey")
    data = oko.load_data(name, distribution=distribution, train_examples=examples, seed=seed)
    if name == kind:
        return data
    return replace(data, x_train=grey(data.x_train), x_test=grey(data.x_test))


def grey(images):
    """Luminance of colour images, without a margin of two pixels."""
    weights = np.array([0.299, 0.587, 0.114])
    return (np.asarray(images)[:, 2:-2, 2:-2] @ weights).round().astype(np.uint8)


def variant(name):
    """A method of the table, or ``oko+la q=0.5`` with another power of the class frequencies."""
    name, _, power = name.partition(" q=")
    method = METHODS[name]
    return replace(method, balance=replace(method.balance, power=float(power))) if power else method


def tuning_line(method, setting, seed, changes):
    """One fit with members, scored out of fold."""
    ready = prepared(data_of(setting, seed))
    recipe = replace(start(ready.y.bincount().tolist()), **changes)
    began = time.process_time()
    fitted = fit_network(ready, method=variant(method), recipe=recipe, seed=seed, **SHARED)
    return {
        "method": method,
        "setting": setting,
        "seed": seed,
        "changes": changes,
        "nll": fitted.scores.metrics["nll"],
        "accuracy": fitted.scores.metrics["accuracy"],
        "updates": fitted.updates,
        "seconds": time.process_time() - began,
    }


def searched(method, *, perform=False):
    """The choices of a method, see ``choosing``."""
    return choosing.searched(
        method, variant(method), choices=CHOICES, seeds=TUNING, file=TUNED,
        perform=tuning_line if perform else None,
    )  # fmt: skip


def test_line(method, setting, seed):
    """One fit, measured on the official test set; a stack measures its parts, too.

    Decisions of heavy-tailed MNIST and FashionMNIST go to a file of their own.
    """
    data = data_of(setting, seed)
    ready = prepared(data)
    sizes = ready.y.bincount(minlength=10).tolist()
    began = time.process_time()
    views = tuple(
        fit_network(
            ready, method=part, recipe=replace(start(sizes), **chosen(part.name)), seed=seed,
            **SHARED,
        )
        for part in parts_of(METHODS[method], sizes)
    )  # fmt: skip
    found, weights, decisions, all_logits = {}, {}, {}, []

    def combine(method, views):
        return combined_views(method, views, ready.y, calibration="folds", judged=uniform(10))

    for view in views:
        logits = predict_logits(view.model, ready.x_test)
        all_logits.append(logits)
        names = [view.method.name, *(SHARING if view.method.name == "bb" else ())]
        for name in names:
            own = replace(view, method=METHODS[name])
            found[name] = {
                "as trained": own.as_trained.combined(logits),
                "calibrated": own.calibrated.combined(logits),
            }
        if setting in SINGLE:
            found[view.method.name]["one network"] = one_network(view, ready, seed)
            decisions[view.method.name] = decision_measures(
                combine(view.method, (view,)), ready, logits
            )
    if len(views) > 1:
        stack = combine(METHODS[method], views)
        logits = torch.cat(all_logits, dim=1)
        found[method] = {
            "as trained": stack.as_trained.combined(logits),
            "calibrated": stack.calibrated.combined(logits),
        }
        weights = dict(zip((v.method.name for v in views), stack.weights, strict=True))
        weights["exponent"] = stack.exponent
        if setting in SINGLE:
            decisions[method] = decision_measures(stack, ready, logits)
    if decisions:
        line = {"method": method, "setting": setting, "seed": seed, "decisions": decisions}
        lines.append(DECIDED, line)
    groups = oko.metrics.frequency_groups(ready.y, classes=10)
    return {
        "method": method,
        "setting": setting,
        "seed": seed,
        "metrics": {
            name: {key: grouped(rows, ready.y_test, groups) for key, rows in own.items()}
            for name, own in found.items()
        },
        "fitted": {
            v.method.name: [v.calibrated.temperature, v.calibrated.strength, v.updates]
            for v in views
        },
        "weights": weights,
        "seconds": time.process_time() - began,
    }


def chosen(method):
    """What was chosen for a method."""
    best, _, is_complete = searched(method)
    assert is_complete, f"tune {method} first"
    return best


def one_network(view, ready, seed):
    """Logits of one network that is trained on everything, stopped where the folds say."""
    stop = list(view.curve)[chosen_stop(list(view.curve.values()))]
    updates = max(1, round(stop * view.recipe.updates))
    trained = train_network(
        ready.x, ready.y, recipe=view.recipe, method=view.method, classes=10, seed=seed,
        stops=[updates],
    )  # fmt: skip
    return view.as_trained.logits(predict_logits(trained.model, ready.x_test))


def grouped(logits, labels, groups):
    """Accuracy, NLL and ECE, and the accuracy of frequent, middle and rare classes."""
    hits = (logits.argmax(dim=1) == labels).double()
    shares = {
        name: hits[torch.isin(labels, torch.as_tensor(classes))].mean().item()
        for name, classes in groups.items()
    }
    return measured(logits, labels) | shares


def runs_of(setting):
    """The fits of a setting, each with the number of its seeds."""
    is_uniform = setting.endswith("10 per class")
    runs = {"stack": TEN}
    if is_uniform:
        runs["oko+la"] = TEN
    for method in OTHERS:
        is_part = is_uniform and method in ("oko", "vanilla+ls")
        if not is_part and not (is_uniform and method in SAME_ON_UNIFORM):
            runs[method] = FIVE
    return runs


def test(part, parts):
    """Perform what is missing of the protocol: all fits of a seed, then those of the next."""
    wanted = [
        {"method": method, "setting": setting, "seed": seed}
        for seed in TEST_SEEDS
        for setting in SETTINGS
        for method, seeds in runs_of(setting).items()
        if seed - TEST_SEEDS[0] < seeds
    ]
    lines.perform_missing(TESTED, wanted[part::parts], test_line)


def decide(part, parts):
    """Repeat the fits of heavy-tailed MNIST and FashionMNIST whose decisions have no line."""
    known = [(one["method"], one["setting"], one["seed"]) for one in lines.read(DECIDED)]
    torch.set_num_threads(1)
    missing = [
        (method, setting, seed)
        for seed in TEST_SEEDS
        for setting in SINGLE
        for method, seeds in runs_of(setting).items()
        if seed - TEST_SEEDS[0] < seeds and (method, setting, seed) not in known
    ]
    for one in missing[part::parts]:
        test_line(*one)


def develop(part, parts):
    """The power of the class frequencies in ``oko+la``, with the recipe before all choices."""
    wanted = [
        {"method": f"oko+la q={power}", "setting": setting, "seed": seed, "changes": {}}
        for power in POWERS
        for setting, seed in TUNING.items()
    ]
    lines.perform_missing(TUNED, wanted[part::parts], tuning_line)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--develop", action="store_true")
    parser.add_argument("--tune", action="store_true")
    parser.add_argument("--test", action="store_true")
    parser.add_argument("--decide", action="store_true")
    parser.add_argument("--methods", default=",".join((*PRIMARY, *OTHERS)))
    parser.add_argument("--part", default="0/1", help="which part of how many, e.g. 0/2")
    return parser.parse_args()


if __name__ == "__main__":
    given = arguments()
    part, parts = map(int, given.part.split("/"))
    if given.develop:
        develop(part, parts)
    if given.tune:
        for method in given.methods.split(",")[part::parts]:
            searched(method, perform=True)
    if given.test:
        test(part, parts)
    if given.decide:
        decide(part, parts)
