"""The report of a reproduction: Markdown, LaTeX, JSON, figures and one HTML page."""

import json
from pathlib import Path
from typing import Any

from oddkout.paper.claims import judged
from oddkout.paper.cost import spent_seconds
from oddkout.paper.document import Document
from oddkout.paper.evidence import Evidence
from oddkout.paper.figures import PAPER_FIGURES, save_paper_figures
from oddkout.paper.published import TABLES
from oddkout.paper.results import reproduction_document
from oddkout.paper.tables import paper_table_json


def reproduction_json(evidence: Evidence) -> dict[str, Any]:
    """All results of a reproduction as plain values for JSON."""
    return {
        "preset": "" if evidence.preset is None else evidence.preset.name,
        "protocol": evidence.protocol,
        "runs": len(evidence.trained),
        "failed": [run.config.id for run in evidence.failed],
        "others": evidence.others,
        "cpu_seconds": spent_seconds(evidence.trained),
        "tables": {table.name: paper_table_json(evidence, table) for table in TABLES},
        "claims": [item.to_dict() for item in judged(evidence)],
    }


def reproduction_section(document: Document, figures: Path) -> str:
    """The results as a section of an HTML page, with the figures inline.

    Args:
        document: The results.
        figures: The folder that ``save_paper_figures`` wrote to.
    """
    parts = [document.html(), "<section>\n<h2>Figures</h2>\n"]
    for figure in PAPER_FIGURES:
        file = figures / f"figure-{figure.name}.svg"
        if file.is_file():
            picture = file.read_text()
            picture = picture[picture.index("<svg") :]  # without the XML declaration
            caption = f"<figcaption>Figure {figure.name}. {figure.title}.</figcaption>"
            parts.append(f"<figure>{picture}{caption}</figure>\n")
    return "".join([*parts, "</section>\n"])


_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Reproduction</title>
<style>
body {{ font: 15px/1.5 sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; }}
table {{ border-collapse: collapse; display: block; overflow-x: auto; font-size: 13px; }}
th, td {{ border-bottom: 1px solid #ccc; padding: 0.2em 0.6em; text-align: left; }}
svg {{ max-width: 100%; height: auto; }}
</style></head>
<body>
{section}</body>
</html>
"""


def write_reproduction(evidence: Evidence, folder: Path) -> dict[str, str]:
    """Write the whole report to a folder.

    Returns:
        The reason for each figure that could not be drawn, by name.
    """
    _, absent = save_paper_figures(evidence, folder)
    document = reproduction_document(evidence)
    (folder / "results.md").write_text(document.markdown())
    (folder / "results.tex").write_text(document.latex())
    (folder / "results.json").write_text(json.dumps(reproduction_json(evidence), indent=1))
    section = reproduction_section(document, folder)
    (folder / "results.html").write_text(_PAGE.format(section=section))
    return absent
