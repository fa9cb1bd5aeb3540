"""What was tried to find the recipe of version 0.1.0: on validation images, never on the test.

python benchmarks/recipe.py RUN... [--seeds 0,1]   performs what is missing of these rows
python benchmarks/recipe.py --markdown             prints the tables from results/recipe.jsonl
"""

import argparse
from dataclasses import asdict
from statistics import fmean

import lines
import torch
import torch.nn.functional as F

import oddkout as oko
from oddkout.calibrators import TemperatureScaling
from oddkout.fitting.methods import METHODS
from oddkout.fitting.networks import train_network
from oddkout.fitting.preparation import Standardisation
from oddkout.fitting.recipe import Recipe
from oddkout.fitting.training import predict_logits
from oddkout.paper.first_recipe import FIRST_RECIPE, first_recipe

LINES = lines.FOLDER / "recipe.jsonl"
FEW = {
    "MNIST, 10 per class": ("mnist", "uniform", 100),
    "FashionMNIST, 10 per class": ("fashion_mnist", "uniform", 100),
    "MNIST, heavy-tailed 200": ("mnist", "heavy-tailed", 200),
    "FashionMNIST, heavy-tailed 200": ("fashion_mnist", "heavy-tailed", 200),
}
MORE = {
    "MNIST, 20 per class": ("mnist", "uniform", 200),
    "MNIST, 50 per class": ("mnist", "uniform", 500),
    "MNIST, 100 per class": ("mnist", "uniform", 1000),
    "FashionMNIST, 50 per class": ("fashion_mnist", "uniform", 500),
    "MNIST, heavy-tailed 500": ("mnist", "heavy-tailed", 500),
    "FashionMNIST, heavy-tailed 500": ("fashion_mnist", "heavy-tailed", 500),
    "MNIST, heavy-tailed 1,000": ("mnist", "heavy-tailed", 1000),
    "FashionMNIST, heavy-tailed 1,000": ("fashion_mnist", "heavy-tailed", 1000),
}
SETTINGS = FEW | MORE

# The prototypes' recipe with standardised inputs: 24,000 examples forwarded, no weight decay.
LONG = {"updates": 800, "examples": 30, "weight_decay": 0.0}
# Half of it: 12,000 examples, in updates of 30 or of 20.
SHORT = LONG | {"updates": 400}
SMALL = {"updates": 600, "examples": 20, "weight_decay": 0.0}
ROWS = {
    "30 x 800": ("oko", LONG | {"dropout": 0.0}),
    "30 x 800, dropout 0.3": ("oko", LONG),
    "30 x 800, dropout 0.5": ("oko", LONG | {"dropout": 0.5}),
    "30 x 800, dropout 0.5, no odd-class head": (
        "oko",
        LONG | {"dropout": 0.5, "head_weight": 0.0},
    ),
    "30 x 400, dropout 0.5": ("oko", SHORT | {"dropout": 0.5}),
    "30 x 400, dropout 0.3": ("oko", SHORT),
    "30 x 400, dropout 0.3, head constant": ("oko", SHORT | {"head_until": 0.0}),
    "30 x 400, dropout 0.3, head until 0.9": ("oko", SHORT | {"head_until": 0.9}),
    "30 x 400, dropout 0.3, head weight 5": ("oko", SHORT | {"head_weight": 5.0}),
    "30 x 400, dropout 0.3, decay 0.002": ("oko", SHORT | {"weight_decay": 2e-3}),
    "30 x 400, dropout 0.3, 256 sets": ("oko", SHORT | {"sets": 256}),
    "paper layout, 10 sets x 400, dropout 0.3": ("oko", SHORT | {"layout": "paper", "sets": 10}),
    "20 x 600, dropout 0.3": ("oko", SMALL),
    "20 x 600, decay 0.002": ("oko", SMALL | {"dropout": 0.0, "weight_decay": 2e-3}),
    "20 x 600, dropout 0.3, decay 0.002": ("oko", SMALL | {"weight_decay": 2e-3}),
    "20 x 600, dropout 0.3, decay 0.005": ("oko", SMALL | {"weight_decay": 5e-3}),
    "20 x 600, dropout 0.3, decay 0.002, head weight 5": (
        "oko",
        SMALL | {"weight_decay": 2e-3, "head_weight": 5.0},
    ),
    **{
        f"{method}, {name} (seeds 0-4)": (method, changes)
        for name, changes in (
            ("20 x 600", {}),
            ("20 x 300", {"updates": 300}),
            ("20 x 400, head until 0.3", {"updates": 400, "head_until": 0.3}),
            ("20 x 300, head until 0.3", {"updates": 300, "head_until": 0.3}),
            ("20 x 300, head weight 1", {"updates": 300, "head_weight": 1.0}),
            ("20 x 600, no dropout", {"dropout": 0.0}),
            ("20 x 600, shifts of 2 pixels", {"shift": 2}),
            ("20 x 600, 256 sets, chosen", {"sets": 256}),
            ("20 x 600, 1024 sets", {"sets": 1024}),
            ("20 x 1200, 256 sets", {"updates": 1200, "sets": 256}),
            ("20 x 300, 256 sets", {"updates": 300, "sets": 256}),
            ("20 x 150, 256 sets", {"updates": 150, "sets": 256}),
            ("20 x 150", {"updates": 150}),
        )
        for method in (("oko",) if "head" in name or "sets" in name else ("oko", "bb+ls"))
    },
    "bb+ls, 30 x 800, rate 0.1": ("bb+ls", LONG | {"dropout": 0.0, "learning_rate": 0.1}),
    "bb+ls, 30 x 800, dropout 0.5": ("bb+ls", LONG | {"dropout": 0.5}),
    "bb+ls, 30 x 400, dropout 0.3": ("bb+ls", SHORT),
    "bb+ls, 20 x 600, dropout 0.3": ("bb+ls", SMALL),
    "bb+ls, 20 x 600, decay 0.002": ("bb+ls", SMALL | {"dropout": 0.0, "weight_decay": 2e-3}),
    "bb+ls, 20 x 600, dropout 0.3, decay 0.002": ("bb+ls", SMALL | {"weight_decay": 2e-3}),
    "bb+noise, 30 x 800, dropout 0.5": ("bb+noise", LONG | {"dropout": 0.5}),
    "bb+noise, 30 x 400, dropout 0.3": ("bb+noise", SHORT),
}

# With more examples: single changes, then regularisation that falls with the examples per class.
PRIOR = {"suited": ("weight_decay", "head_weight")}
ALL = {"by_all": ("weight_decay", "head_weight")}  # rare classes notwithstanding
MANY_SETS = PRIOR | {"sets": 256}
LIGHT = {"weight_decay": 5e-4}
BOTH = {
    "defaults": {},
    "no dropout": {"dropout": 0.0},
    "decay 0.0005": LIGHT,
    "20 x 1200": {"updates": 1200},
    "60 x 400": {"examples": 60, "updates": 400},
    "suited decay and head": PRIOR,
    "decay and head by all examples": ALL,
    "suited decay and head, rate 0.4": PRIOR | {"learning_rate": 0.4},
    "suited decay and head, 256 sets, 40 x 300": MANY_SETS | {"examples": 40, "updates": 300},
    "suited decay and head, 256 sets, 60 x 200": MANY_SETS | {"examples": 60, "updates": 200},
    "suited decay and head, 128 sets, 20 x 1200": PRIOR | {"sets": 128, "updates": 1200},
    "suited (chosen)": MANY_SETS | {"suited": ("updates", "weight_decay", "head_weight")},
}
SETS_ONLY = {
    "head until 0.3": {"head_until": 0.3},
    "no head": {"head_weight": 0.0},
    "256 sets": {"sets": 256},
    "decay 0.0005, head until 0.3": LIGHT | {"head_until": 0.3},
    "decay 0.0005, head until 0.3, 256 sets": LIGHT | {"head_until": 0.3, "sets": 256},
    "decay 0.0002, no head, 256 sets": {"weight_decay": 2e-4, "head_weight": 0.0, "sets": 256},
    "suited decay and head, 256 sets": MANY_SETS,
    "suited decay, no head, 256 sets": MANY_SETS | {"head_weight": 0.0},
    "decay and head by all examples, 256 sets": ALL | {"sets": 256},
    "decay by all examples, no head, 256 sets": ALL | {"sets": 256, "head_weight": 0.0},
    "suited decay and head, 1024 sets": PRIOR | {"sets": 1024},
    "suited decay and head, 256 sets, dropout 0.1": MANY_SETS | {"dropout": 0.1},
    "suited decay and head, 256 sets, rate 0.4": MANY_SETS | {"learning_rate": 0.4},
    "suited decay and head, 256 sets, rate 0.4, dropout 0.5": MANY_SETS
    | {"learning_rate": 0.4, "dropout": 0.5},
}
MORE_ROWS = {
    f"{method}, {name}": (method, changes)
    for method, rows in (("oko", BOTH | SETS_ONLY), ("bb+ls", BOTH))
    for name, changes in rows.items()
}
# Every method with more dropout than was chosen, seeds 0 to 4; the control at its own rate.
DROPOUT_ROWS = {
    f"{method}, dropout {dropout}": (
        method,
        {"sets": 256, "dropout": dropout, "learning_rate": 0.1 if method == "bb+noise" else 0.2},
    )
    for method in ("vanilla", "vanilla+ls", "weighted", "focal", "bb", "bb+ls", "bb+noise", "oko")
    for dropout in (0.3, 0.5)
}
TABLES = ((FEW, ROWS), (MORE, MORE_ROWS), (FEW, DROPOUT_ROWS))
ALL_ROWS = ROWS | MORE_ROWS | DROPOUT_ROWS


def images(setting, seed, held_out=2000):
    """Standardised training examples, and some images of the validation part."""
    name, distribution, examples = SETTINGS[setting]
    data = oko.load_data(name)
    first, last = oko.last_split(len(data.y_train))
    labels = data.y_train[first]
    chosen = first[oko.subset(labels, examples=examples, distribution=distribution, seed=seed)]
    held = last[:held_out]
    standardised = Standardisation.of(data.x_train[chosen], is_encoded=False)
    x, x_held = (standardised(data.x_train[part]) for part in (chosen, held))
    y, y_held = (torch.tensor(data.y_train[part]) for part in (chosen, held))
    return x, y, x_held, y_held


def line(row, setting, seed):
    """One training, measured as it is and with the temperature that validation would choose."""
    method, changes = ALL_ROWS[row]
    x, y, x_held, y_held = images(setting, seed)
    options = {"sets": 64} | changes  # as it was when the search began
    for key, sizes in (("suited", y.bincount().tolist()), ("by_all", [len(y) / 10])):
        own = first_recipe(sizes)
        options = {name: own[name] for name in options.pop(key, ())} | options
    recipe = Recipe(**FIRST_RECIPE | options)
    trained = train_network(x, y, recipe=recipe, method=METHODS[method], classes=10, seed=seed)
    logits = predict_logits(trained.model, x_held)
    temperature = TemperatureScaling().fit(logits, y_held).temperature.item()
    ece = oko.metrics.expected_calibration_error
    return {
        "row": row,
        "method": method,
        "recipe": asdict(recipe),
        "setting": setting,
        "seed": seed,
        "accuracy": (logits.argmax(dim=1) == y_held).double().mean().item(),
        "ece": ece(logits.softmax(dim=1), y_held, bins=10).item(),
        "nll": F.cross_entropy(logits, y_held).item(),
        "temperature": temperature,
        "tempered_nll": F.cross_entropy(logits / temperature, y_held).item(),
    }


def markdown(known, settings, rows):
    """Accuracy in %, ECE, best temperature and NLL at it, means over seeds; a dash: not tried.

    Where the seeds of a row are not said in its name, their number is in brackets.
    """
    text = [f"| | {' | '.join(settings)} |", f"| --- |{' --- |' * len(settings)}"]
    for row in rows:
        cells = []
        for setting in settings:
            matching = [each for each in known if (each["row"], each["setting"]) == (row, setting)]
            mean = {
                name: fmean(each[name] for each in matching)
                for name in ("accuracy", "ece", "temperature", "tempered_nll")
                if matching
            }
            count = "" if settings is FEW else f" ({len(matching)})"
            cells.append(
                f"{100 * mean['accuracy']:.1f} / {mean['ece']:.3f} / {mean['temperature']:.2f} / "
                f"{mean['tempered_nll']:.3f}{count}"
                if matching
                else "-"
            )
        if any(cell != "-" for cell in cells):
            text.append(f"| {row} | {' | '.join(cells)} |")
    return "\n".join(text)


def settings_of(row):
    """The settings of the table that a row is in."""
    return next(settings for settings, rows in TABLES if row in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="RUN", help=f"of {'; '.join(ALL_ROWS)}")
    parser.add_argument("--seeds", default="0,1")
    parser.add_argument("--settings", help="separated by semicolons; all of the row's table")
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    if arguments.markdown:
        known = lines.read(LINES)
        print("\n\n".join(markdown(known, settings, rows) for settings, rows in TABLES))
    wanted = [
        {"row": row, "setting": setting, "seed": int(seed)}
        for row in arguments.rows
        for setting in (arguments.settings.split(";") if arguments.settings else settings_of(row))
        for seed in arguments.seeds.split(",")
    ]
    lines.perform_missing(LINES, wanted, line)


if __name__ == "__main__":
    main()
