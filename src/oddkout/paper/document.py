"""Documents of headings, paragraphs and tables, as Markdown, LaTeX and HTML."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape


@dataclass(frozen=True, kw_only=True)
class TextTable:
    """A table whose cells are text; every row is as long as the header."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def __post_init__(self) -> None:
        assert all(len(row) == len(self.header) for row in self.rows), (
            "every row must have all columns"
        )

    def markdown(self) -> str:
        """The table in Markdown."""
        lines = [self.header, ["---"] * len(self.header), *self.rows]
        return "\n".join(
            f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines
        )

    def latex(self) -> str:
        """The table in LaTeX; it needs the package ``booktabs``."""
        columns = "l" * len(self.header)
        header, *rows = (
            f"{' & '.join(map(_latex, line))} \\\\" for line in [self.header, *self.rows]
        )
        body = "\n".join(rows)
        return (
            f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n{header}\n\\midrule\n{body}\n"
            "\\bottomrule\n\\end{tabular}"
        )

    def html(self) -> str:
        """The table in HTML."""
        head = "".join(f"<th>{escape(cell)}</th>" for cell in self.header)
        rows = "".join(
            f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>\n" for row in self.rows
        )
        return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>"


@dataclass(frozen=True)
class Heading:
    """A heading; level 1 is the title."""

    text: str
    level: int = 2


@dataclass
class Document:
    """Headings, paragraphs and tables in order; backticks in a paragraph enclose code.

    Example:
        >>> document = Document()
        >>> document.add(Heading("Results"), "One run.", TextTable(header=["a"], rows=[["1"]]))
        >>> print(document.markdown(), end="")
        ## Results
        <BLANKLINE>
        One run.
        <BLANKLINE>
        | a |
        | --- |
        | 1 |
    """

    parts: list[Heading | str | TextTable] = field(default_factory=list)

    def add(self, *parts: Heading | str | TextTable) -> None:
        """Add parts at the end."""
        self.parts.extend(parts)

    def markdown(self) -> str:
        """The document in Markdown."""
        rendered = []
        for part in self.parts:
            if isinstance(part, Heading):
                rendered.append(f"{'#' * part.level} {part.text}")
            else:
                rendered.append(part if isinstance(part, str) else part.markdown())
        return "\n\n".join(rendered) + "\n"

    def latex(self) -> str:
        """The body of the document in LaTeX."""
        commands = {1: "section", 2: "subsection", 3: "subsubsection"}
        rendered = []
        for part in self.parts:
            if isinstance(part, Heading):
                rendered.append(f"\\{commands[part.level]}{{{_latex(part.text)}}}")
            elif isinstance(part, str):
                rendered.append(_code(_latex(part), r"\\texttt{\1}"))
            else:
                rendered.append(part.latex())
        return "\n\n".join(rendered) + "\n"

    def html(self) -> str:
        """The document as a section of an HTML page."""
        rendered = []
        for part in self.parts:
            if isinstance(part, Heading):
                rendered.append(f"<h{part.level}>{escape(part.text)}</h{part.level}>")
            elif isinstance(part, str):
                rendered.append("<p>" + _code(escape(part), r"<code>\1</code>") + "</p>")
            else:
                rendered.append(part.html())
        return "<section>\n" + "\n".join(rendered) + "\n</section>\n"


_LATEX = {
    "\\": r"\textbackslash{}",
    "%": r"\%",
    "&": r"\&",
    "_": r"\_",
    "#": r"\#",
    "$": r"\$",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}


def _latex(text: str) -> str:
    """Text with LaTeX's special characters escaped."""
    return "".join(_LATEX.get(character, character) for character in text)


def _code(text: str, template: str) -> str:
    """Escaped text, with the parts between backticks marked up as code."""
    return re.sub("`([^`]*)`", template, text)
