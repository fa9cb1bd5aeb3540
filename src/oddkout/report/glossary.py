"""The glossary of a report: methods and measures, as their own tables describe them."""

from typing import NamedTuple

from oddkout.comparing.comparison import Comparison
from oddkout.comparing.contestants import OUTSIDERS
from oddkout.fitting.methods import METHODS
from oddkout.metrics.catalogue import CATALOGUE


class GlossaryEntry(NamedTuple):
    """A word and its meaning."""

    name: str
    meaning: str


def glossary(comparison: Comparison) -> list[tuple[str, list[GlossaryEntry]]]:
    """The methods and the measures of a comparison, by heading."""
    methods = [GlossaryEntry(name, _method(comparison, name)) for name in comparison.by_method]
    metrics = [CATALOGUE[name] for name in (*comparison.compared, *comparison.tried)]
    measures = [GlossaryEntry(metric.head, metric.meaning) for metric in metrics]
    return [("Methods", methods), ("Measures", measures)]


def _method(comparison: Comparison, name: str) -> str:
    """A method in a sentence, with its publication."""
    if name in METHODS:
        method = METHODS[name]
        return f"{method.summary} {method.source}.".removesuffix(" .")
    if name in OUTSIDERS:
        return OUTSIDERS[name].summary
    contestant = comparison.by_method[name][0].config.contestant
    return f"Your classifier{f', {contestant}' if contestant else ''}."
