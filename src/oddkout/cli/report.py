"""``oddkout report``: rebuild the report of a comparison."""

import json
from pathlib import Path
from typing import Annotated

import typer

from oddkout.cli.source import JsonOption
from oddkout.report.write import write_report


def report(
    runs: Annotated[Path, typer.Argument(metavar="RUNS", help="Folder of oddkout compare.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder for the report; by default that of the runs.")
    ] = None,
    mistakes: Annotated[
        bool,
        typer.Option(
            "--mistakes/--no-mistakes",
            help="Whether to show a dozen confident mistakes, which are examples of the test part.",
        ),
    ] = True,
    is_json: JsonOption = False,
) -> None:
    """Write the report of a finished comparison: HTML, and tables as Markdown, LaTeX and JSON.

    Example: oddkout report runs --out report
    """
    paths = {
        kind: str(path) for kind, path in write_report(runs, out=out, mistakes=mistakes).items()
    }
    print(json.dumps(paths) if is_json else "\n".join(f"wrote {path}" for path in paths.values()))
