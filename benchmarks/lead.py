"""What was tried to lead label smoothing by more on FashionMNIST, ten examples of a class.

python benchmarks/lead.py [ROW...] --seeds 5,6   performs what is missing of the rows, or of all
python benchmarks/lead.py --markdown   prints the tables from results/lead.jsonl

Behind "How far two points are" in ``docs/recipe.md``: on 6,000 validation images, never on the test
set, and on other seeds than those of ``RESULTS.md``. Several processes may share the rows by seeds.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from statistics import fmean, stdev
from typing import Any

import lines
import patched
import torch
import torch.nn.functional as F
from patched import RECIPE, Patch
from recipe import images
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from oddkout.calibrators import TemperatureScaling
from oddkout.fitting.methods import chosen_method
from oddkout.fitting.networks import train_network
from oddkout.fitting.training import predict_logits

LINES = lines.FOLDER / "lead.jsonl"
SETTING = "FashionMNIST, 10 per class"
HELD_OUT = 6000
TOGETHER = 5  # networks of an ensemble


@dataclass(frozen=True)
class Options:
    """The library's own training with other options of the recipe, of k or the head."""

    method: str = "oko"
    changes: dict[str, Any] = field(default_factory=dict)
    k: int | None = None
    head: bool | None = None
    networks: int = 1

    def logits(self, x, y, x_held, seed):
        method = chosen_method(self.method, k=self.k, head=self.head)
        recipe = replace(RECIPE, **self.changes)
        probs = []
        for number in range(self.networks):
            trained = train_network(
                x, y, recipe=recipe, method=method, classes=10, seed=seed + 1000 * number
            )
            probs.append(predict_logits(trained.model, x_held).softmax(dim=1))
        return torch.stack(probs).mean(dim=0).log()


@dataclass(frozen=True)
class Learner:
    """A learner of scikit-learn on standardised pixels."""

    make: Callable[[], Any]

    def logits(self, x, y, x_held, seed):
        fitted = self.make().fit(x.flatten(1).numpy(), y.numpy())
        return F.one_hot(torch.as_tensor(fitted.predict(x_held.flatten(1).numpy())), 10).double()


# The recipe that the prototypes had: no dropout, no decay, twice the examples forwarded.
PROTOTYPE = {
    "dropout": 0.0,
    "weight_decay": 0.0,
    "examples": 30,
    "updates": 800,
    "sets": 64,
}
# What both methods can have: one row of OKO, one of BB + LS.
SHARED = {
    "the recipe": Options(),
    "the prototypes' recipe, rate 0.2": Options(changes=PROTOTYPE),
    "the prototypes' recipe, rate 0.1": Options(changes=PROTOTYPE | {"learning_rate": 0.1}),
    "no dropout": Options(changes={"dropout": 0.0}),
    "dropout 0.5": Options(changes={"dropout": 0.5}),
    "rate 0.4": Options(changes={"learning_rate": 0.4}),
    "300 updates": Options(changes={"updates": 300}),
    "1,200 updates": Options(changes={"updates": 1200}),
    "averaged weights, decay 0.98": Options(changes={"averaging": 0.98}),
    "shifts of one pixel": Options(changes={"shift": 1}),
    "shifts of two, mirrored": Options(changes={"shift": 2, "flip": True}),
    "dropout 0.3 before the dense layer, too": Patch(patched.odd_k_out, hidden_dropout=0.3),
    "sharpness-aware steps of 0.05": Patch(patched.odd_k_out, sharpness=0.05),
    f"mean prediction of {TOGETHER} networks": Options(networks=TOGETHER),
}
# What only sets can have.
SETS = {
    "no odd-class head": Options(head=False),
    "k = 2": Options(k=2),
    "k = 3": Options(k=3),
    "k = 9, all other classes": Options(k=9),
    "odd-class head of weight 5": Options(changes={"head_weight": 5.0}),
    "1,024 sets": Options(changes={"sets": 1024}),
    "three tenths soft targets": Patch(patched.partly_soft),
    "set logits times 2": Patch(patched.scaled(2)),
    "set logits times 0.5": Patch(patched.scaled(0.5)),
    "hardest half of the sets": Patch(patched.hardest(0.5)),
    "hardest quarter of the sets": Patch(patched.hardest(0.25)),
    "dropout drawn for every set": Patch(patched.dropped_per_set),
    "members of random weights": Patch(patched.weighted_members),
    "sets averaged before the last ReLU": Patch(patched.averaged_early),
    "the same, and logits summed": Patch(patched.averaged_early_too),
    "mean images of sets, and logits summed": Patch(patched.averaged_images),
    "odd-class head with a hidden layer": Patch(patched.deep_head, head=patched.hidden_layer),
    "odd-class head before the last ReLU": Patch(patched.early_head),
    "odd-one-out head": Patch(patched.odd_one_out, head=patched.EMBEDDING),
    "contrastive head, weight 1": Patch(patched.contrastive(1.0), head=patched.EMBEDDING),
    "contrastive head, weight 0.3": Patch(patched.contrastive(0.3), head=patched.EMBEDDING),
}
LEARNERS = {
    "logistic regression, C = 0.01": Learner(lambda: LogisticRegression(C=0.01, max_iter=2000)),
    "logistic regression, C = 0.001": Learner(lambda: LogisticRegression(C=0.001, max_iter=2000)),
    "support vector machine, C = 10": Learner(lambda: SVC(C=10)),
    "1,000 random trees": Learner(lambda: ExtraTreesClassifier(1000, random_state=0)),
    "3 nearest neighbours": Learner(lambda: KNeighborsClassifier(3)),
}


def smoothing(row):
    """A shared row of OKO for batch-balancing with label smoothing."""
    changes = {"method": "bb+ls"}
    return replace(row, **changes | ({"loss": patched.smoothed} if isinstance(row, Patch) else {}))


ROWS = {
    **{f"oko: {name}": row for name, row in (SHARED | SETS).items()},
    **{f"bb+ls: {name}": smoothing(row) for name, row in SHARED.items()},
    **LEARNERS,
}


# Recorded with a decay of the average, which a recipe no longer has.
RETIRED = "averaged weights, decay 0.98"


def line(row, seed):
    """One row on one seed."""
    if row.endswith(RETIRED):
        raise SystemExit(f"{row!r} cannot be performed any more; its lines are kept")
    x, y, x_held, y_held = images(SETTING, seed, held_out=HELD_OUT)
    logits = ROWS[row].logits(x, y, x_held, seed)
    found = {"accuracy": (logits.argmax(dim=1) == y_held).double().mean().item()}
    if row not in LEARNERS:
        temperature = TemperatureScaling().fit(logits, y_held).temperature.item()
        found |= {
            "temperature": temperature,
            "tempered_nll": F.cross_entropy(logits / temperature, y_held).item(),
        }
    return {"row": row, "seed": seed, **found}


def markdown(known):
    """Accuracy and leads over BB + LS, paired by seed, with standard errors."""
    values = {row: {} for row in ROWS}
    for each in known:
        values[each["row"]][each["seed"]] = each

    def mean(row, name="accuracy"):
        return fmean(each[name] for each in values[row].values())

    def lead(row, other="bb+ls: the recipe"):
        gaps = [
            100 * (values[row][seed]["accuracy"] - values[other][seed]["accuracy"])
            for seed in values[row].keys() & values[other].keys()
        ]
        return f"{fmean(gaps):+.1f} ± {stdev(gaps) / len(gaps) ** 0.5:.1f}"

    text = [
        "| both methods with | OKO, % | BB + LS, % | OKO over BB + LS | over BB + LS without it "
        "| OKO: T, NLL | BB + LS: T, NLL |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name in SHARED:
        own, other = f"oko: {name}", f"bb+ls: {name}"
        if not (values[own] and values[other]):
            continue  # not tried yet
        after = [
            f"{mean(row, 'temperature'):.2f}, {mean(row, 'tempered_nll'):.3f}"
            for row in (own, other)
        ]
        text.append(
            f"| {name} | {100 * mean(own):.1f} | {100 * mean(other):.1f} | {lead(own, other)} | "
            f"{lead(own)} | {' | '.join(after)} |"
        )
    text += ["", "| OKO with | % | over BB + LS | T, NLL |", "| --- | --- | --- | --- |"]
    for name in (name for name in SETS if values[f"oko: {name}"]):
        own = f"oko: {name}"
        after = f"{mean(own, 'temperature'):.2f}, {mean(own, 'tempered_nll'):.3f}"
        text.append(f"| {name} | {100 * mean(own):.1f} | {lead(own)} | {after} |")
    text += ["", "| another learner, on pixels | % | over BB + LS |", "| --- | --- | --- |"]
    tried = [name for name in LEARNERS if values[name]]
    text += [f"| {name} | {100 * mean(name):.1f} | {lead(name)} |" for name in tried]
    return "\n".join(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"of {'; '.join(ROWS)}")
    parser.add_argument("--seeds", default="")
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    if arguments.markdown:
        print(markdown(lines.read(LINES)))
    seeds = [int(seed) for seed in arguments.seeds.split(",") if seed]
    wanted = [{"row": row, "seed": seed} for row in arguments.rows or ROWS for seed in seeds]
    lines.perform_missing(LINES, wanted, line)


if __name__ == "__main__":
    main()
