"""Figures as inline SVG: small, with a text alternative, and in the colours of the page.

Colours become CSS variables, so that figures follow the light or dark theme of the page.
"""

import re
import warnings
from io import StringIO
from typing import TYPE_CHECKING, Any, TypeAlias
from xml.etree import ElementTree

if TYPE_CHECKING:
    from matplotlib.figure import Figure
else:  # matplotlib is imported only by callers that draw
    Figure: TypeAlias = Any

_SVG, _XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"

# Colours in figures, and the CSS variables that replace them.
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
    """The placeholder colour of a series, numbered from 0; becomes ``--series-<number>``."""
    return f"#0000{number + 1:02x}"


def inline_svg(figure: Figure, *, name: str, title: str, description: str) -> str:
    """A figure as an SVG element with a text alternative.

    Args:
        figure: The figure. A ``gid`` of ``series-<number>`` becomes the attribute ``data-series``.
        name: A unique name on the page, prefix of the ids in the figure.
        title: The subject of the figure, in a few words.
        description: The numbers of the figure, in words.
    """
    stream = StringIO()
    with warnings.catch_warnings():
        # Characters that the font of matplotlib lacks are shown in the font of the page.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(stream, format="svg", transparent=True, metadata=nothing)
    root = ElementTree.fromstring(stream.getvalue())  # noqa: S314  # matplotlib wrote it just now
    for child in [part for part in root if part.tag.endswith("metadata")]:
        root.remove(child)
    for part in root.iter():
        _adapt(part, name)
    for attribute in ("version", "width", "height"):
        root.attrib.pop(attribute, None)
    root.attrib |= {"role": "img", "aria-labelledby": f"{name}-title {name}-desc"}
    for position, (tag, text) in enumerate((("title", title), ("desc", description))):
        element = ElementTree.Element(tag, {"id": f"{name}-{tag}"})
        element.text = text
        root.insert(position, element)
    text = ElementTree.tostring(root, encoding="unicode")
    return text.replace("\n", " ")


def _adapt(part: ElementTree.Element, name: str) -> None:
    """Use plain tag names, unique ids, short numbers and the colours of the page."""
    part.tag = part.tag.removeprefix(f"{{{_SVG}}}")
    if part.tag not in ("text", "tspan"):  # whitespace elsewhere is not needed
        part.text = part.tail = None
    for key, value in list(part.attrib.items()):
        del part.attrib[key]
        key = key.removeprefix(f"{{{_XLINK}}}")
        if key == "id":
            if value.startswith("series-"):
                part.attrib["data-series"] = value.removeprefix("series-")
            elif part.tag in ("path", "clipPath"):  # other ids are not referenced
                part.attrib["id"] = f"{name}-{value}"
            continue
        if key == "href":
            value = f"#{name}-{value.removeprefix('#')}"
        elif key == "style":
            value = re.sub(r"#[0-9a-f]{6}", _variable, value)
        elif key in ("d", "transform", "x", "y", "points"):
            value = re.sub(r"-?\d+\.\d+", lambda match: f"{float(match[0]):.2f}", value)
        part.attrib[key] = value.replace("url(#", f"url(#{name}-")


def _variable(match: re.Match[str]) -> str:
    """The CSS variable for a colour."""
    colour = match[0]
    if colour not in _VARIABLES and colour.startswith("#0000"):
        return f"var(--series-{int(colour[-2:], 16) - 1})"
    return _VARIABLES.get(colour, colour)
