"""One HTML file from comparisons: everything inside, nothing from the network."""

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from oddkout.comparing.comparison import METRICS, Interval
from oddkout.fitting.methods import METHODS
from oddkout.report.section import Section
from oddkout.report.tables import written
from oddkout.version import __version__

_HERE = Path(__file__).parent
_HEADS = {
    "accuracy": ("Accuracy", "%", "share of the test examples that is right"),
    "nll": ("NLL", "", "negative log-likelihood: how good the probabilities are, lower is better"),
    "ece": ("ECE", "", "expected calibration error: mean gap of confidence and accuracy, 10 bins"),
    "brier": ("Brier", "", "Brier score: squared error of the probabilities, lower is better"),
    "entropy_gap": (
        "|RC|",
        "",
        "mean relative cross-entropy, without its sign: how much more wrong than it says",
    ),
}


def report_html(sections: Sequence[Section]) -> str:
    """The page.

    Args:
        sections: Its settings.
    """
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
    environment.filters["written"] = lambda value, metric: written(metric, value)
    environment.globals["bar"] = _bar
    script = (_HERE / "report.js").read_text()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    methods = [
        name
        for name in METHODS
        if any(name in section.comparison.by_method for section in sections)
    ]
    return environment.get_template("report.html.jinja").render(
        sections=sections,
        methods=methods,
        heads=_HEADS,
        metrics=METRICS,
        css=Markup((_HERE / "report.css").read_text()),
        script=Markup(script),
        script_hash=digest,
        version=__version__,
    )


def _bar(found: Interval, span: tuple[float, float], null: float | None = None) -> dict[str, Any]:
    """Where an interval, its mean, 0 and a null level lie on a scale from 0 to 100."""
    low, high = span

    def place(value: float) -> float:
        return round(100 * (min(max(value, low), high) - low) / ((high - low) or 1), 1)

    has_limits = found.low == found.low
    return {
        "mean": place(found.mean),
        "low": place(found.low) if has_limits else place(found.mean),
        "high": place(found.high) if has_limits else place(found.mean),
        "zero": place(0.0),
        "null": None if null is None else place(null),
    }
