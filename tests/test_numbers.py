"""Every number in the README and on the first page of the documentation follows from results.

A statement with numbers is written here as a function of the lines of ``results/``. What is left of
a page without these statements, code and the phrases below has no digits.
"""

import json
import math
import re
from pathlib import Path
from statistics import fmean

import pytest

from oddkout.comparing.statistics import t_interval

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs/index.md")
FEW, MANY = (10, 20, 30, 40, 50, 100), (500, 1000, 2000)

# Phrases with digits that are not results, and why.
ALLOWED = {
    "README.md": {
        "version 0.1.0": "a version of this package",
        "ICLR 2024": "a citation",
        "10 to 100 examples each": "settings",
        "500 to 2,000 examples per class": "settings",
        "Apache-2.0": "a licence",
    },
    "docs/index.md": {
        "ICLR 2024": "a citation",
        "10 to 100 per class": "settings",
        "500 to 2,000 per class": "settings",
        "200 examples": "a setting",
        "That is never 0.": "a mathematical fact",
    },
}


def lines(name):
    return [json.loads(line) for line in (ROOT / "results" / name).read_text().splitlines()]


def interval(values, text):
    """A mean with its 95 % interval, each written as ``text`` says."""
    found = t_interval(values)
    mean, low, high = (text(value) for value in (found.mean, found.low, found.high))
    return f"{mean} [{low}, {high}]"


def ratio(logs):
    return interval(logs, lambda value: f"{math.exp(value):.3f}")


def points(values):
    return interval(values, lambda value: f"{100 * value:+.2f}")


def gaps_of_folds(first, second, kind, gap):
    """A gap between two entries of ``folds-test.jsonl`` by seed, averaged over settings."""
    known = {
        (one["method"], one["arm"], key, one["setting"], one["seed"]): metrics
        for one in lines("folds-test.jsonl")
        for key, metrics in one["metrics"].items()
    }
    settings = sorted({key[3] for key in known if kind in key[3]})
    seeds = [
        {key[4] for key in known if key[:4] == (*entry, setting)}
        for entry in (first, second)
        for setting in settings
    ]
    return [
        fmean(gap(known[*first, setting, seed], known[*second, setting, seed])
              for setting in settings)
        for seed in sorted(set.intersection(*seeds))
    ]  # fmt: skip


def ratio_of_tables(own, peer):
    """NLL of a model over another on the tables of confirmation; ``None`` is the best peer."""
    values = {}
    for one in lines("small-tables-confirm.jsonl"):
        values.setdefault((one["data"], one["model"]), []).append(one["nll"])
    means = {key: fmean(found) for key, found in values.items()}
    tables = sorted({data for data, _ in means})
    peers = sorted({model for _, model in means if not model.startswith("stack")})
    if peer == "best single":  # TabPFN cannot fit every table, by the protocol
        peer = min(
            (model for model in peers if model != "TabPFN"),
            key=lambda model: fmean(math.log(means[data, model]) for data in tables),
        )
    return ratio(
        [
            math.log(means[data, own])
            - math.log(
                min(means[data, model] for model in peers) if peer is None else means[data, peer]
            )
            for data in tables
        ]
    )


def gaps_of_grid(first, second, distribution, gap, *, data=("mnist", "fashion_mnist"), sizes=FEW):
    """A gap between two methods in the paper's grid by seed, averaged over settings.

    Sizes are tenths of the training examples, which is examples per class for ten classes.
    """
    known = {}
    for name in data:
        for one in lines(f"paper-{name}.jsonl"):
            config = one["config"]
            if config["distribution"] == distribution and not config.keys() & {"k", "head"}:
                metrics = {key: entry["value"] for key, entry in one["as_trained"].items()}
                metrics["nll with T"] = one["extras"]["temperature"]["nll"]
                setting = (name, config["train_examples"] // 10)
                known[config.get("method", "oko"), setting, config["seed"]] = metrics
    settings = [(name, size) for name in data for size in sizes]
    seeds = sorted({seed for _, one, seed in known if one == settings[-1]})
    return [
        fmean(gap(known[first, one, seed], known[second, one, seed]) for one in settings)
        for seed in seeds
    ]


def nll(first, second):
    return math.log(first["nll"] / second["nll"])


def nll_with_temperature(first, second):
    return math.log(first["nll with T"] / second["nll with T"])


def accuracy(first, second):
    return first["accuracy"] - second["accuracy"]


BALANCED, ADJUSTED = ("oko", "bb+ls"), ("oko", "vanilla+ls+la")
NEW, OLD = ("0.2", "members, calibrated"), ("0.1.0", "single, T")
OKO, SMOOTHED = ("oko", *NEW), ("vanilla+ls", *NEW)

STATEMENTS = {
    "folds": lambda: f"OKO's NLL to {ratio(gaps_of_folds(OKO, ('oko', *OLD), '', nll))}",
    "NLL, ten per class": lambda: (
        f"NLL is {ratio(gaps_of_folds(OKO, SMOOTHED, '10 per class', nll))} of label smoothing's"
    ),
    "NLL, uniform": lambda: (
        f"NLL is {ratio(gaps_of_grid(*BALANCED, 'uniform', nll))} of that of balanced batches with "
        "label smoothing"
    ),
    "accuracy, uniform": lambda: (
        f"accuracy {points(gaps_of_grid(*BALANCED, 'uniform', accuracy))} points higher"
    ),
    "NLL with T, uniform": lambda: " and ".join(
        ratio(gaps_of_grid(*BALANCED, "uniform", nll_with_temperature, data=(data,)))
        + f" on {title}"
        for data, title in (("fashion_mnist", "FashionMNIST"), ("mnist", "MNIST"))
    ),
    "NLL, heavy tails": lambda: f"NLL is {ratio(gaps_of_grid(*ADJUSTED, 'heavy-tailed', nll))} of",
    "accuracy, heavy tails": lambda: (
        f"accuracy differs by {points(gaps_of_grid(*ADJUSTED, 'heavy-tailed', accuracy))} points"
    ),
    "NLL, heavy tails, folds": lambda: (
        f"OKO has {ratio(gaps_of_folds(OKO, SMOOTHED, 'heavy-tailed', nll))} of label smoothing's "
        "NLL"
    ),
    "500 to 2,000 per class": lambda: (
        f"by {points(gaps_of_grid(*BALANCED, 'uniform', accuracy, sizes=MANY))} points"
    ),
    "CIFAR-100": lambda: (
        "behind the same method by "
        + points(gaps_of_grid(*BALANCED, "uniform", accuracy, data=("cifar100",), sizes=(400,)))
        + " points on CIFAR-100"
    ),
    "CIFAR-10": lambda: (
        "and by "
        + points(
            gaps_of_grid(*BALANCED, "heavy-tailed", accuracy, data=("cifar10",), sizes=(40, 100))
        )
        + " on heavy-tailed CIFAR-10"
    ),
    "tables": lambda: f"{ratio_of_tables('stack', 'best single')} of",
    "tables, OKO": lambda: f"a factor of {ratio_of_tables('stack', 'stack without sets')}",
    "tables, best peers": lambda: f"{ratio_of_tables('stack', None)} of",
}
ONLY_IN = {
    "folds": "README.md",
    "NLL, ten per class": "docs/index.md",
    "NLL, heavy tails, folds": "docs/index.md",
    "tables, best peers": "docs/index.md",
}
STATED = {page: [name for name in STATEMENTS if ONLY_IN.get(name, page) == page] for page in PAGES}


def prose(text):
    """A page without code, addresses, and the marks of Markdown that hold digits."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"`[^`]*`", "", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return " ".join(text.split())


def unexplained(text, statements, allowed):
    """What is left with digits, and the statements and phrases that the page lacks."""
    absent = [part for part in (*statements, *allowed) if part not in text]
    for part in (*statements, *allowed):
        text = text.replace(part, "")
    return re.findall(r"\S*\d\S*", text), absent


@pytest.mark.parametrize("page", PAGES)
def test_every_number_of_the_page_follows_from_results(page):
    text = prose((ROOT / page).read_text())
    statements = [STATEMENTS[name]() for name in STATED[page]]
    assert unexplained(text, statements, ALLOWED[page]) == ([], [])


def test_a_number_without_a_source_and_a_changed_result_are_found():
    text = "OKO is 0.942 of it, in 7 runs."
    assert unexplained(text, ["0.942 of it"], {}) == (["7"], [])
    assert unexplained(text, ["0.941 of it"], {"in 7 runs": "a count"}) == (
        ["0.942"], ["0.941 of it"],
    )  # fmt: skip
    assert prose("a `b 1` [c](d2.md)\n```sh\nrun 3\n```\nword 4") == "a [c] word 4"


def test_the_readme_is_short():
    assert len(re.findall(r"\w+", prose((ROOT / "README.md").read_text()))) < 450
