"""Figures as SVG inside a page: small, in the page's colours, with words for those who cannot see.

Colours become CSS variables, so that a figure follows the page from light to dark.
"""

import re
import warnings
from io import StringIO
from typing import TYPE_CHECKING, Any, TypeAlias
from xml.etree import ElementTree

if TYPE_CHECKING:
    from matplotlib.figure import Figure
else:  # matplotlib is imported by those who draw
    Figure: TypeAlias = Any

_SVG, _XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"

# What figures are drawn in, and the variable of the page that takes its place.
_VARIABLES = {
    "#000000": "currentColor",
    "#ffffff": "var(--paper)",
    "#0072b2": "var(--accent)",
    "#d55e00": "var(--other)",
    "#d9d9d9": "var(--band)",
    "#8c8c8c": "var(--rule)",
    "#999999": "var(--rule)",
    "#666666": "var(--muted)",
}


def series_colour(number: int) -> str:
    """The colour to draw a series in that the page shows as ``--series-<number>``.

    Args:
        number: Number of the series, from 0.
    """
    return f"#0000{number + 1:02x}"


def inline_svg(figure: Figure, *, name: str, title: str, description: str) -> str:
    """A figure as an SVG element with a text alternative.

    Args:
        figure: The figure; what has a ``gid`` of ``series-<number>`` gets it as ``data-series``.
        name: A name that no other figure of the page has, for the ids inside.
        title: What is shown, in a few words.
        description: The numbers that are shown, in words.
    """
    stream = StringIO()
    with warnings.catch_warnings():
        # A name in a script that matplotlib's font lacks: the page's own font has it.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(stream, format="svg", transparent=True, metadata=nothing)
    root = ElementTree.fromstring(stream.getvalue())
    for child in [part for part in root if part.tag.endswith("metadata")]:
        root.remove(child)
    for part in root.iter():
        _adapt(part, name)
    for attribute in ("version", "width", "height"):
        root.attrib.pop(attribute, None)
    root.attrib |= {"role": "img", "aria-labelledby": f"{name}-title {name}-desc"}
    for place, (tag, text) in enumerate((("title", title), ("desc", description))):
        element = ElementTree.Element(tag, {"id": f"{name}-{tag}"})
        element.text = text
        root.insert(place, element)
    text = ElementTree.tostring(root, encoding="unicode")
    return text.replace("\n", " ")


def _adapt(part: ElementTree.Element, name: str) -> None:
    """Plain names, ids of this figure alone, short numbers, and the colours of the page."""
    part.tag = part.tag.removeprefix(f"{{{_SVG}}}")
    if part.tag not in ("text", "tspan"):  # whose blanks are of no use
        part.text = part.tail = None
    for key, value in list(part.attrib.items()):
        del part.attrib[key]
        key = key.removeprefix(f"{{{_XLINK}}}")
        if key == "id":
            if value.startswith("series-"):
                part.attrib["data-series"] = value.removeprefix("series-")
            elif part.tag in ("path", "clipPath"):  # others are not referred to
                part.attrib["id"] = f"{name}-{value}"
            continue
        if key == "href":
            value = f"#{name}-{value.removeprefix('#')}"
        elif key == "style":
            value = re.sub(r"#[0-9a-f]{6}", _variable, value)
        elif key in ("d", "transform", "x", "y", "points"):
            value = re.sub(r"-?\d+\.\d+", lambda found: f"{float(found[0]):.2f}", value)
        part.attrib[key] = value.replace("url(#", f"url(#{name}-")


def _variable(found: re.Match[str]) -> str:
    """What the page has for a colour."""
    colour = found[0]
    if colour not in _VARIABLES and colour.startswith("#0000"):
        return f"var(--series-{int(colour[-2:], 16) - 1})"
    return _VARIABLES.get(colour, colour)
