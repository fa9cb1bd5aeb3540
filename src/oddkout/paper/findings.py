"""What other protocols found, in sentences: from the lines that their scripts recorded."""

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from oddkout.comparing.statistics import t_interval

# Metrics of one fit.
_Metrics = Mapping[str, float]

_FOLDS, _FIRST = ("0.2", "members, calibrated"), ("0.1.0", "single, T")


def findings(folder: Path) -> list[str]:
    """One sentence for each finding whose lines exist."""
    sentences = []
    if (folds := _read(folder / "folds-test.jsonl")) is not None:
        known = {
            (one["method"], one["arm"], key, one["setting"], one["seed"]): metrics
            for one in folds
            for key, metrics in one["metrics"].items()
        }
        ours, smoothed = ("oko", *_FOLDS), ("vanilla+ls", *_FOLDS)
        improved = _by_seed(known, ours, ("oko", *_FIRST), "", _log_ratio)
        few = _by_seed(known, ours, smoothed, "10 per class", _log_ratio)
        points = _by_seed(known, ours, smoothed, "10 per class", _points)
        heavy = _by_seed(known, ours, smoothed, "heavy-tailed", _log_ratio)
        sentences += [
            "**Folds that choose, calibrate and predict help.** They lower OKO's NLL to "
            f"{_ratio(improved)} of that of one network with a temperature "
            f"({len(improved)} seeds), and that of every other method ([folds](docs/folds.md)).",
            "**With ten examples per class OKO leads.** With such folds for both, its NLL is "
            f"{_ratio(few)} of label smoothing's, and its accuracy {_interval(points, '+.2f')} "
            f"points higher ({len(few)} seeds). This comparison was not planned.",
            "**On heavy tails its lead is not significant.** With prior adjustment for both, its "
            f"NLL is {_ratio(heavy)} of label smoothing's ({len(heavy)} seeds). This comparison "
            "was not planned, either.",
        ]
    if (sizes := _read(folder / "sizes.jsonl")) is not None:
        larger = [
            f"{_interval(_of_case(sizes, f'{name}, 500 per class', 'bb+ls'), '+.2f')} points on "
            f"{name}"
            for name in ("MNIST", "FashionMNIST")
        ]
        classes = _of_case(sizes, "CIFAR-100, 40 per class", "bb")
        sentences += [
            "**With more data it does not lead.** With 500 examples per class its accuracy differs "
            f"from that of balanced batches with label smoothing by {' and '.join(larger)}.",
            "**With many classes it is behind** balanced batches: by "
            f"{_interval(classes, '+.2f')} points on CIFAR-100 ({len(classes)} seeds).",
        ]
    if (tables := _read(folder / "small-tables-confirm.jsonl")) is not None:
        means = _table_means(tables)
        names = sorted({name for name, _ in means})
        peers = sorted({model for _, model in means if not model.startswith("stack")})
        best = [math.log(min(means[name, peer] for peer in peers)) for name in names]
        own, without = (
            [math.log(means[name, model]) for name in names]
            for model in ("stack", "stack without sets")
        )
        over_best = [first - second for first, second in zip(own, best, strict=True)]
        by_sets = [first - second for first, second in zip(own, without, strict=True)]
        sentences.append(
            f"**Small tables: level with the best of {len(peers)} peers of each table.** On "
            f"{len(names)} tables that no choice had used, the NLL of `OddKOutClassifier` is "
            f"{_ratio(over_best)} of that of the best peer *of each table* (aim: 0.97, missed). "
            f"Its odd-k-out view changes NLL by a factor of {_ratio(by_sets)}: nothing "
            "([small tables](docs/small-tables.md))."
        )
    return sentences


def _table_means(lines: list[dict[str, Any]]) -> dict[tuple[str, str], float]:
    """Mean NLL over folds and seeds, by table and model."""
    values: dict[tuple[str, str], list[float]] = {}
    for one in lines:
        values.setdefault((one["data"], one["model"]), []).append(one["nll"])
    return {key: fmean(found) for key, found in values.items()}


def _read(file: Path) -> list[dict[str, Any]] | None:
    """All lines of a file; none if there is no file."""
    if not file.is_file():
        return None
    return [json.loads(line) for line in file.read_text().splitlines()]


def _by_seed(
    known: Mapping[tuple[Any, ...], _Metrics],
    first: tuple[str, str, str],
    second: tuple[str, str, str],
    kind: str,
    gap: Callable[[_Metrics, _Metrics], float],
) -> list[float]:
    """A gap between two entries for each seed that all settings of a kind have, their mean."""
    settings = sorted({key[3] for key in known if kind in key[3]})
    seeds = [
        {key[4] for key in known if key[:4] == (*entry, setting)}
        for entry in (first, second)
        for setting in settings
    ]
    return [
        fmean(gap(known[(*first, one, seed)], known[(*second, one, seed)]) for one in settings)
        for seed in sorted(set.intersection(*seeds))
    ]


def _of_case(lines: list[dict[str, Any]], case: str, second: str) -> list[float]:
    """Accuracy of OKO minus another method by seed, in points."""
    known = {(one["method"], one["seed"]): one["metrics"] for one in lines if one["case"] == case}
    seeds = sorted(seed for name, seed in known if name == "oko" and (second, seed) in known)
    return [_points(known["oko", seed], known[second, seed]) for seed in seeds]


def _log_ratio(first: _Metrics, second: _Metrics) -> float:
    return math.log(first["nll"] / second["nll"])


def _points(first: _Metrics, second: _Metrics) -> float:
    return 100 * (first["accuracy"] - second["accuracy"])


def _ratio(logs: list[float]) -> str:
    """The geometric mean with its 95 % interval, from logarithms."""
    interval = t_interval(logs)
    mean, low, high = (math.exp(value) for value in (interval.mean, interval.low, interval.high))
    return f"{mean:.3f} [{low:.3f}, {high:.3f}]"


def _interval(values: list[float], form: str) -> str:
    """The mean with its 95 % interval."""
    interval = t_interval(values)
    return f"{interval.mean:{form}} [{interval.low:{form}}, {interval.high:{form}}]"
