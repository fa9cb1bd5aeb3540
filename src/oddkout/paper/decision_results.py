"""What decisions are worth on images and tables, from the lines that their scripts recorded."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from oddkout.paper.document import Document, Heading, TextTable

_IMAGES = {
    "mnist, heavy-tailed 200": "MNIST, heavy-tailed, 200 examples",
    "fashion_mnist, heavy-tailed 200": "FashionMNIST, heavy-tailed, 200 examples",
}
# Seeds of the protocol; fewer are not shown.
_SEEDS = 10
# Coverage of sets by class: what theory promises of scores of fold members, and what is aimed at.
_PROMISED, _AIM = 0.8, 0.9
_HEADER = (
    "NLL",
    "ECE",
    "sets for 90 %: coverage",
    "size",
    "size at exactly 90 %",
    "answered at 5 % risk, %",
    "wrong among them, %",
    "answerable, %",
)


_EXPLAINED = (
    "Prediction sets and referral from out-of-fold scores, on test sets ([protocol]"
    "(../protocol.md#decisions-from-the-same-fits), [what they promise](../decisions.md)). "
    "Sets are made to cover 90 % of each class; a class with fewer than nine training examples is "
    "in every set. Compare methods by the size at which each class is covered in exactly 90 % of "
    "test cases, and by the answerable share: the most cases that could be answered with 5 % "
    "errors. Both use the test set, which only a comparison may."
)


@dataclass(frozen=True, kw_only=True)
class DecisionResult:
    """Decisions in one setting.

    Attributes:
        title: The setting.
        table: Every method.
        judged: Whether sets by class keep their promise.
    """

    title: str
    table: TextTable
    judged: str

    @property
    def sentence(self) -> str:
        """The outcome in one line."""
        return f"{self.title}: {self.judged[0].lower()}{self.judged[1:]}"


def decision_results(folder: Path) -> list[DecisionResult]:
    """Each setting of images and each real table; empty without lines."""
    results = []
    for setting, title in _IMAGES.items():
        if rows := _image_rows(folder, setting):
            table = TextTable(header=["method (seeds)", *_HEADER], rows=rows)
            judged = _judged(_image_coverages(folder, setting))
            result = DecisionResult(title=f"{title}, for equal classes", table=table, judged=judged)
            results.append(result)
    for one in _read(folder / "decided-tables.jsonl"):
        title = f"{one['table']}, {one['rows']} rows, classes of {one['sizes'][0]} to "
        title += f"{one['sizes'][-1]}, five splits"
        rows = [_table_row(name, found) for name, found in one["contestants"].items()]
        table = TextTable(header=["contestant", *_HEADER], rows=rows)
        coverages = {
            name: [own["coverage"] for own in found["classes"] if not own["always"]]
            for name, found in one["contestants"].items()
        }
        results.append(DecisionResult(title=title, table=table, judged=_judged(coverages)))
    return results


def decision_document(results: Sequence[DecisionResult], *, origin: str) -> Document:
    """The page of all decisions.

    Args:
        results: The settings.
        origin: How the page is generated.
    """
    document = Document()
    document.add(Heading("Decisions on images and tables", level=1), origin)
    document.add(_EXPLAINED if results else "Not yet performed.")
    for result in results:
        document.add(Heading(result.title), result.table, result.judged)
    return document


def _image_coverages(folder: Path, setting: str) -> dict[str, list[float]]:
    """Coverage of each class, by method: the mean over the seeds that have it not in every set."""
    found: dict[str, dict[int, list[float]]] = {}
    for one in _read(folder / "imbalance-decisions.jsonl"):
        if one["setting"] == setting:
            for name, decisions in one["decisions"].items():
                sets, own = decisions["by class"], found.setdefault(name, {})
                for number, coverage in enumerate(sets["classes"]):
                    if number not in sets["always"]:
                        own.setdefault(number, []).append(coverage)
    return {name: [fmean(values) for values in own.values()] for name, own in found.items()}


def _judged(coverages: dict[str, list[float]]) -> str:
    """Whether sets by class keep what they promise, by the decision rule of the protocol.

    Args:
        coverages: Coverages of the classes that are not in every set, by method.
    """
    own = {name: values for name, values in coverages.items() if values}
    lowest = min(own, key=lambda name: min(own[name]))
    mean = min(own, key=lambda name: fmean(own[name]))
    least, average = min(own[lowest]), fmean(own[mean])
    return (
        "Classes that are not in every set: the lowest coverage of a class is "
        f"{least:.3f} (`{lowest}`; promised: {_PROMISED}, {_kept(least, _PROMISED)}), and the "
        f"lowest mean over classes {average:.3f} (`{mean}`; aim: {_AIM}, {_kept(average, _AIM)})."
    )


def _kept(value: float, limit: float) -> str:
    return "**kept**" if value >= limit else "**below**, before allowing for chance"


def _image_rows(folder: Path, setting: str) -> list[list[str]]:
    """Means over seeds of all methods, the lowest NLL first; none until all seeds are there."""
    quality: dict[tuple[str, int], dict[str, float]] = {}
    for one in _read(folder / "imbalance-test.jsonl"):
        if one["setting"] == setting:
            for name, found in one["metrics"].items():
                quality[name, one["seed"]] = found["calibrated"]
    decisions: dict[str, dict[int, dict[str, Any]]] = {}
    for one in _read(folder / "imbalance-decisions.jsonl"):
        if one["setting"] == setting:
            for name, found in one["decisions"].items():
                decisions.setdefault(name, {})[one["seed"]] = found
    if len(decisions.get("stack", {})) < _SEEDS:
        return []
    rows = []
    for name, by_seed in decisions.items():
        seeds = [seed for seed in by_seed if (name, seed) in quality]
        if seeds:
            found = [by_seed[seed] for seed in seeds]
            nll = fmean(quality[name, seed]["nll"] for seed in seeds)
            ece = fmean(quality[name, seed]["ece"] for seed in seeds)
            cells = _image_cells(found)
            rows.append((nll, [f"{name} ({len(seeds)})", f"{nll:.3f}", f"{ece:.3f}", *cells]))
    return [row for _, row in sorted(rows)]


def _image_cells(found: Sequence[dict[str, Any]]) -> list[str]:
    """Sets and answers, means over seeds."""
    sets = [one["by class"] for one in found]
    answers = [one["risk 0.05, equal classes"] for one in found]
    wrong = [one["error"] for one in answers if one["error"] is not None]
    return [
        f"{fmean(one['coverage'] for one in sets):.3f}",
        f"{fmean(one['size'] for one in sets):.2f}",
        f"{fmean(one['best']['size'] for one in found):.2f}",
        _percent(fmean(one["answered"] for one in answers)),
        _percent(fmean(wrong) if wrong else None),
        _percent(fmean(one["best"]["answered"]["0.05"] for one in found)),
    ]


def _table_row(name: str, found: dict[str, Any]) -> list[str]:
    """A contestant of a real table."""
    test = {metric: limits["mean"] for metric, limits in found["test"].items()}
    return [
        name,
        f"{found['nll']['mean']:.3f}",
        f"{found['ece']['mean']:.3f}",
        f"{test['set_coverage']:.3f}",
        f"{test['set_size']:.2f}",
        f"{found['best']['size']:.2f}",
        _percent(test["answered_5"]),
        _percent(found["wrong answers"]["answered_5"]),
        _percent(found["best"]["answered"]),
    ]


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"


def _read(file: Path) -> list[dict[str, Any]]:
    """All lines of a file; none if there is no file."""
    return [json.loads(line) for line in file.read_text().splitlines()] if file.is_file() else []
