"""A report from a folder of runs, as files: the page, and its tables for other documents."""

import json
import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from oddkout.comparing.comparison import Comparison
from oddkout.comparing.duels import comparisons_in, setting_of, titles
from oddkout.comparing.store import RunStore
from oddkout.report.html import report_html
from oddkout.report.invocation import reproducing_command
from oddkout.report.section import Section, diagnosed
from oddkout.report.tables import comparison_json, comparison_latex, comparison_markdown


def write_report(runs: str | Path, *, out: str | Path | None = None) -> dict[str, Path]:
    """Write a report on all runs of a folder, a section for each setting.

    Each file is written under a temporary name first, so that a reader sees the old one or the new.

    Args:
        runs: Folder of the runs, see ``compare``.
        out: Folder for the report; that of the runs if not given.

    Returns:
        Where the page and the tables are: ``html``, ``markdown``, ``latex`` and ``json``.
    """
    store = RunStore(runs)
    comparisons = comparisons_in(store.runs())
    if not comparisons:
        raise ValueError(f"{runs} holds no finished run; make some with: oddkout compare")
    named = list(zip(titles(comparisons), comparisons, strict=True))
    # One setting's predictions at a time would do, but the page holds all of them anyway.
    sections = [
        Section(
            title=title,
            comparison=_with_predictions(comparison, store),
            command=reproducing_command(comparison, out=runs),
            looked_at=diagnosed(comparison),
            number=number,
        )
        for number, (title, comparison) in enumerate(named, start=1)
    ]
    folder = Path(runs if out is None else out)
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        "html": ("report.html", report_html(sections)),
        "markdown": ("tables.md", "\n".join(comparison_markdown(c, title=t) for t, c in named)),
        "latex": ("tables.tex", "\n".join(comparison_latex(c, title=t) for t, c in named)),
        "json": ("tables.json", json.dumps(report_json(sections), indent=1, allow_nan=False)),
    }
    return {kind: _written(folder / name, text) for kind, (name, text) in texts.items()}


def report_json(sections: list[Section]) -> list[dict[str, Any]]:
    """The tables as plain values, one entry for each setting.

    Args:
        sections: The settings.
    """
    return [
        {"title": section.title, "command": section.command}
        | comparison_json(section.comparison)
        | {"config": asdict(setting_of(section.comparison.runs[0].config))}
        for section in sections
    ]


def _with_predictions(comparison: Comparison, store: RunStore) -> Comparison:
    """The same with the predictions of the runs that are compared."""
    runs = [store.read(run.config, has_predictions=True) for run in comparison.runs]
    return replace(comparison, runs=runs)


def _written(path: Path, text: str) -> Path:
    """Write a file whole: under a temporary name, then moved into place."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)
    return path
