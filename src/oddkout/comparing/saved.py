"""``comparison.json``: the setting, the choices with their criteria, and the verdict."""

import json
import os
from itertools import chain
from pathlib import Path
from typing import Any

from oddkout.checks import few
from oddkout.comparing.comparison import Comparison
from oddkout.comparing.criterion import chosen_criterion, in_words, priced
from oddkout.comparing.run import Run
from oddkout.comparing.schema import ComparisonRecord
from oddkout.comparing.store import RunStore
from oddkout.decisions.cost_table import CostTable, cost_text
from oddkout.fitting.selection import CANDIDATES, FIELDS
from oddkout.fitting.stops import STOPS
from oddkout.reading import reading
from oddkout.records import MOST_BYTES, checked_record, matched
from oddkout.version import versions

FILE, COSTS = "comparison.json", "costs.csv"
_FORMAT = 2
_KIND = "a comparison that this version knows"


def save_comparison(comparison: Comparison) -> Path:
    """Write ``comparison.json`` into the folder of the runs, and the costs as ``costs.csv``."""
    assert comparison.folder is not None, "only a stored comparison can be saved"
    classes = next((run.classes for run in comparison.runs if not run.has_failed), ())
    if comparison.costs is None or not classes:
        (comparison.folder / COSTS).unlink(missing_ok=True)
    else:
        _write(comparison.folder / COSTS, cost_text(comparison.costs, classes=classes))
    text = json.dumps(comparison_record(comparison), indent=1, allow_nan=False)
    return _write(comparison.folder / FILE, text)


def _write(path: Path, text: str) -> Path:
    """Write a file atomically: under a temporary name, then rename it."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.write_text(text)
    temporary.replace(path)
    return path


def comparison_record(comparison: Comparison) -> dict[str, Any]:
    """The content of ``comparison.json``."""
    return {
        "format": _FORMAT,
        "title": comparison.title,
        "setting": comparison.setting.to_dict(),
        "prior": comparison.prior_sentence,
        "criterion": comparison.criterion,
        "costs": None if comparison.costs is None else comparison.costs.to_dict(),
        "seeds": sorted({run.config.seed for run in comparison.runs}),
        "choices": {
            **{
                choice: {
                    "candidates": list(candidates),
                    "by": "lowest out-of-fold NLL on the first seed",
                    "chosen": {
                        name: {part: getattr(runs[0].config, part) for part in FIELDS[choice]}
                        for name, runs in comparison.by_method.items()
                    },
                }
                for choice, candidates in comparison.choices.items()
            },
            "updates": {
                "candidates": list(STOPS),
                "by": "lowest out-of-fold NLL of each run, in shares of its updates",
                "chosen": {
                    name: [run.updates for run in runs]
                    for name, runs in comparison.by_method.items()
                },
            },
            "winner": {
                "by": f"{in_words(comparison.criterion)}, mean of the seeds",
                "chosen": comparison.winner,
            },
        },
        "contestants": {
            name: {
                "runs": [run.config.id for run in runs],
                "tuning": [run.config.id for run in comparison.tuning if run.config.method == name],
                "tuning_runs": sum(run.config.method == name for run in comparison.tuning),
                "failed": comparison.failed.get(name),
            }
            for name, runs in comparison.by_method.items()
        },
        "warnings": list(comparison.warnings),
        "verdict": comparison.verdict,
        "versions": versions(),
    }


def load_comparison(folder: str | Path, *, has_predictions: bool = True) -> Comparison:
    """Read a comparison and its runs. Other runs in the folder are ignored.

    Args:
        folder: The folder that ``compare`` wrote to.
        has_predictions: Whether to read the predictions of the compared runs, which intervals and
            verdict need. A comparison with costs needs them in any case.
    """
    folder = Path(folder)
    path = folder / FILE
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder of runs {folder}")
    if not path.exists():
        raise FileNotFoundError(
            f"{folder} holds no finished comparison: {FILE} is missing; run oddkout compare again "
            "to finish it"
        )
    store = RunStore(folder)
    with reading(path, kind=_KIND, repair="run oddkout compare again", most_bytes=MOST_BYTES):
        values = checked_record(path.read_text(encoding="utf-8"), dict)
        if (given := values.get("format")) != _FORMAT:
            raise ValueError(f"its format is {given}, not {_FORMAT}")
        record = matched(values, ComparisonRecord)
        costs = None if record.costs is None else CostTable.from_dict(values["costs"])
        criterion = chosen_criterion(record.criterion, has_costs=costs is not None)
    contestants = record.contestants.values()
    runs = _read(
        store,
        [entry.runs for entry in contestants],
        has_predictions=has_predictions or costs is not None,
    )
    return Comparison(
        runs=runs if costs is None else priced(runs, costs),
        tuning=_read(store, [entry.tuning for entry in contestants], has_predictions=False),
        choices={
            name: tuple(record.choices[name].candidates)
            for name in CANDIDATES
            if name in record.choices
        },
        folder=folder,
        warnings=record.warnings,
        criterion=criterion,
        costs=costs,
    )


def _read(store: RunStore, names: list[list[str]], *, has_predictions: bool) -> list[Run]:
    """Read the runs of all contestants by their ids; raise if one is missing or not tested."""
    runs = [store.read_id(name, has_predictions=has_predictions) for name in chain(*names)]
    untested = [
        run.config.id
        for run in runs
        if not run.has_failed and not (run.as_trained and run.tempered)
    ]
    if untested:
        raise ValueError(
            f"the run.json of a compared run must hold metrics of the test part, but those of "
            f"{few(untested)} in {store.folder} hold none; remove these folders and run oddkout "
            "compare again"
        )
    return runs
