"""Write the report of a comparison: the HTML page, and its tables in other formats."""

import json
import os
from pathlib import Path
from typing import Any

from oddkout.comparing.saved import comparison_record, load_comparison
from oddkout.comparing.tables import comparison_json, comparison_latex, comparison_markdown
from oddkout.report.action import recommended
from oddkout.report.html import report_html
from oddkout.report.invocation import reproducing_command
from oddkout.report.page import Page, first_data


def write_report(
    runs: str | Path, *, out: str | Path | None = None, mistakes: bool = True
) -> dict[str, Path]:
    """Write the report of the comparison in a folder.

    Only the runs listed in ``comparison.json`` are included. Files are replaced atomically.

    Args:
        runs: Folder of the comparison, see ``compare``.
        out: Folder for the report; by default that of the runs.
        mistakes: Whether to show the most confident mistakes, which are examples of the test part.

    Returns:
        The paths of the page and the tables: ``html``, ``markdown``, ``latex`` and ``json``.
    """
    comparison = load_comparison(runs)
    page = Page(
        comparison=comparison,
        command=reproducing_command(comparison, out=runs),
        action=recommended(comparison, runs=runs),
        data=first_data(comparison),
        has_mistakes=mistakes,
    )
    folder = Path(runs if out is None else out)
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        "html": ("report.html", report_html(page)),
        "markdown": ("tables.md", comparison_markdown(comparison, title=page.title)),
        "latex": ("tables.tex", comparison_latex(comparison, title=page.title)),
        "json": ("tables.json", json.dumps(report_json(page), indent=1, allow_nan=False)),
    }
    return {kind: _write(folder / name, text) for kind, (name, text) in texts.items()}


def report_json(page: Page) -> dict[str, Any]:
    """The tables as plain values, with setting, choices and command."""
    record = comparison_record(page.comparison)
    return record | {"command": page.command} | comparison_json(page.comparison)


def _write(path: Path, text: str) -> Path:
    """Write a file atomically: under a temporary name, then rename it."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)
    return path
