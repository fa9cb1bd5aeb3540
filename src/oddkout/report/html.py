"""Render the report of a comparison as one self-contained HTML file."""

import base64
import hashlib
from pathlib import Path
from typing import Any

from oddkout.checks import Number
from oddkout.comparing.statistics import Interval
from oddkout.metrics.catalogue import CATALOGUE
from oddkout.report.page import Page
from oddkout.version import __version__

_HERE = Path(__file__).parent


def report_html(page: Page) -> str:
    """The page as HTML."""
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
        from markupsafe import Markup
    except ModuleNotFoundError as missing:
        raise ValueError(
            f"a report needs {missing.name}; run: pip install 'oddkout[plot]'"
        ) from missing
    environment = Environment(
        loader=FileSystemLoader(_HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["written"] = lambda value, metric: CATALOGUE[metric].written(value)
    environment.globals["bar"] = _bar
    script = (_HERE / "report.js").read_text()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return environment.get_template("report.html.jinja").render(
        page=page,
        methods=list(page.comparison.by_method),
        catalogue=CATALOGUE,
        css=Markup((_HERE / "report.css").read_text()),  # noqa: S704  # a file of ours
        script=Markup(script),  # noqa: S704  # a file of ours
        script_hash=digest,
        version=__version__,
    )


def _bar(
    interval: Interval, span: tuple[Number, Number], null: float | None = None
) -> dict[str, Any]:
    """Positions of the interval, its mean, 0 and the null level in a bar, in percent."""
    low, high = span

    def position(value: float) -> float:
        return round(100 * (min(max(value, low), high) - low) / ((high - low) or 1), 1)

    has_limits = interval.low == interval.low
    return {
        "mean": position(interval.mean),
        "low": position(interval.low) if has_limits else position(interval.mean),
        "high": position(interval.high) if has_limits else position(interval.mean),
        "zero": position(0.0),
        "null": None if null is None else position(null),
    }
