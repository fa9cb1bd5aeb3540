"""Tables of a comparison for the terminal, Markdown, LaTeX and JSON, all from the same rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from oddkout.comparing.comparison import Comparison
from oddkout.comparing.deciding import decision_record
from oddkout.comparing.rows import Cell, Row, Table, table_rows, tables_of
from oddkout.comparing.run import Run
from oddkout.comparing.statistics import Interval, number
from oddkout.metrics.catalogue import CATALOGUE

# Metrics that frames and JSON hold beside those of the printed tables.
FURTHER = ("balanced_accuracy", "mcc", "auroc", "average_precision", "skill")

_RETRY = (
    "Failed runs are kept. Run the same command with --retry-failed to perform them again; in "
    "Python, retry_failed=True."
)


@dataclass(frozen=True)
class ComparisonTable:
    """The results of a comparison; prints as text."""

    comparison: Comparison

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each method: mean and limits of each metric, calibrated out of fold.

        Beside the metrics of the printed table, there are those of ``FURTHER``.
        """
        return [
            {"method": row.method}
            | {
                name: value
                for metric, interval in (
                    *((cell.metric, cell.interval) for cell in row.cells),
                    *further_means(self.comparison, row.method, is_tempered=True).items(),
                )
                for name, value in (
                    (metric, interval.mean),
                    (f"{metric}_low", interval.low),
                    (f"{metric}_high", interval.high),
                )
            }
            | {"learning_rate": row.learning_rate, "temperature": row.temperature}
            for row in table_rows(self.comparison, is_tempered=True)
        ]

    def to_frame(self) -> Any:
        """The rows as a pandas frame."""
        import pandas as pd

        return pd.DataFrame(self.rows).set_index("method")

    def __str__(self) -> str:
        return comparison_text(self.comparison)

    __repr__ = __str__


def comparison_text(comparison: Comparison) -> str:
    """The tables for a terminal, with the verdict and the prior."""
    lines = []
    width = max(len(name) for name in ("method", *comparison.by_method)) + 2
    for table in tables_of(comparison):
        lines.append(table.title)
        head = "".join(f"{CATALOGUE[metric].head:>23}" for metric in table.metrics)
        last = f"{'rate':>8}" if table.has_rate else ""
        lines.append(
            f"{'method':<{width}}{head}{last}{'T' if table.has_temperature else '':>7}".rstrip()
        )
        for row in table.rows:
            cells = "".join(f"{cell.text + (cell.mark or ' '):>23}" for cell in row.cells)
            last = f"{row.rate:>8}" if table.has_rate else ""
            temperature = f"{row.temperature:>7.2f}" if table.has_temperature else ""
            lines.append(f"{row.method:<{width}}{cells}{last}{temperature}".rstrip())
        lines.append("")
    lines += [
        f"{name:<{width}}failed: {runs[0].reason.splitlines()[0]} ({_which(runs)})"
        for name, runs in comparison.failed_runs.items()
    ]
    lines += [_RETRY, ""] if comparison.failed_runs else []
    lines += [_legend(comparison, best="*", tied="~"), "", comparison.verdict]
    lines.append(f"{comparison.prior_sentence.capitalize()}.")
    return "\n".join(lines)


def comparison_markdown(comparison: Comparison, *, title: str) -> str:
    """The tables in Markdown. The best entry is bold; a tilde marks ties with it.

    Args:
        title: Heading of the tables.
    """
    lines = [f"## {_markdown(title)}", "", comparison.verdict, ""]
    lines += [f"{comparison.prior_sentence.capitalize()}.", ""]
    for table in tables_of(comparison):
        titles = ["method", *(CATALOGUE[metric].head for metric in table.metrics)]
        titles += _last_titles(table, temperature="T")
        lines += [f"### {table.title.capitalize()}", "", _markdown_row(titles)]
        lines.append("| --- |" + " ---: |" * (len(titles) - 1))
        for row in table.rows:
            cells = [
                f"**{cell.text}**" if cell.is_best else f"{cell.text} ~" if cell.is_tied
                else cell.text
                for cell in row.cells
            ]  # fmt: skip
            lines.append(f"| {' | '.join([row.method, *cells, *_last_cells(table, row)])} |")
        lines.append("")
    lines += [
        f"- {name} failed: {_markdown(runs[0].reason.splitlines()[0])} ({_which(runs)})"
        for name, runs in comparison.failed_runs.items()
    ]
    lines += [""] if comparison.failed else []
    return "\n".join([*lines, _legend(comparison, best="**bold**", tied="~"), ""])


def comparison_latex(comparison: Comparison, *, title: str) -> str:
    """The tables in LaTeX, for the package booktabs.

    Args:
        title: First words of the captions.
    """
    lines = []
    for table in tables_of(comparison):
        heads = [_latex(CATALOGUE[metric].head) for metric in table.metrics]
        heads += _last_titles(table, temperature="$T$")
        legend = _legend(comparison, best="bold", tied="TIED")
        caption = f"{_latex(f'{title}, {table.title}: {legend}')}.".replace("TIED", r"$\sim$")
        lines += [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{caption}}}",
            rf"\begin{{tabular}}{{l{'r' * len(heads)}}}",
            r"\toprule",
            rf"method & {' & '.join(heads)} \\",
            r"\midrule",
        ]
        for row in table.rows:
            cells = [_latex_cell(cell) for cell in row.cells]
            parts = [_latex(row.method), *cells, *_last_cells(table, row)]
            lines.append(rf"{' & '.join(parts)} \\")
        for name, reason in comparison.failed.items():
            text = _latex(f"failed: {reason.splitlines()[0]}")
            lines.append(rf"{_latex(name)} & \multicolumn{{{len(heads)}}}{{l}}{{{text}}} \\")
        lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}", ""]
    return "\n".join(lines)


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """All numbers of the tables as plain values."""
    tables = {
        kind: {row.method: row for row in table_rows(comparison, is_tempered=is_tempered)}
        for kind, is_tempered in (("tempered", True), ("as_trained", False))
    }
    rows = []
    for method in comparison.methods:
        runs = comparison.by_method[method]
        row: dict[str, Any] = {
            "method": method,
            "learning_rate": None if runs[0].config.is_outsider else runs[0].config.learning_rate,
            "temperatures": [run.temperature for run in runs],
        }
        for kind, table in tables.items():
            row[kind] = {
                cell.metric: {
                    **cell.interval.to_dict(),
                    "null": None
                    if cell.null is None
                    else {"mean": number(cell.null[0]), "high": number(cell.null[1])},
                    "values": [
                        number(value)
                        for value in comparison.values(
                            method, cell.metric, is_tempered=kind == "tempered"
                        )
                    ],
                    "is_best": cell.is_best,
                    "is_tied": cell.is_tied,
                }
                for cell in table[method].cells
            }
        row["decisions"] = {} if not comparison.tried else decision_record(comparison, method)
        row["further"] = {
            kind: {
                metric: interval.to_dict()
                for metric, interval in further_means(
                    comparison, method, is_tempered=kind == "tempered"
                ).items()
            }
            for kind in tables
        }
        rows.append(row)
    return {
        "verdict": comparison.verdict,
        "winner": comparison.winner,
        "criterion": comparison.criterion,
        "prior": comparison.prior_sentence,
        "seeds": comparison.seeds,
        "methods": rows,
        "failed": comparison.failed,
        "failed_runs": {
            name: [run.config.id for run in runs] for name, runs in comparison.failed_runs.items()
        },
    }


def further_means(comparison: Comparison, method: str, *, is_tempered: bool) -> dict[str, Interval]:
    """Means of the metrics that the printed tables leave out; runs of old versions lack them.

    Args:
        method: Name of the method.
        is_tempered: Whether the out-of-fold calibration is applied.
    """
    runs = comparison.by_method[method]
    return {
        metric: comparison.mean(method, metric, is_tempered=is_tempered)
        for metric in FURTHER
        if all(metric in (run.tempered if is_tempered else run.as_trained) for run in runs)
    }


def _legend(comparison: Comparison, *, best: str, tied: str) -> str:
    """The legend below a table."""
    seeds = "one seed" if comparison.seeds == 1 else f"means of {comparison.seeds} seeds"
    return (
        f"{seeds} [95 % interval, for training and test sample]; {best} best, {tied} difference "
        "to the best within chance (paired, corrected for all pairs of methods)"
    )


def _which(runs: Sequence[Run]) -> str:
    """Which runs, in words."""
    return "; ".join(f"run {run.config.id}, seed {run.config.seed}" for run in runs)


def _last_titles(table: Table, *, temperature: str) -> list[str]:
    """Heads of the columns after the metrics."""
    return ["rate"] * table.has_rate + [temperature] * table.has_temperature


def _last_cells(table: Table, row: Row) -> list[str]:
    """What stands in the columns after the metrics."""
    rate, temperature = [row.rate], [f"{row.temperature:.2f}"]
    return rate * table.has_rate + temperature * table.has_temperature


def _latex_cell(cell: Cell) -> str:
    """A table entry in LaTeX."""
    text = cell.text
    if cell.is_best:
        return rf"\textbf{{{text}}}"
    return rf"{text}\rlap{{$^\sim$}}" if cell.is_tied else text


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_markdown, cells))} |"


def _markdown(text: str) -> str:
    """Text with the special characters of Markdown escaped."""
    return _replaced(" ".join(text.split()), {one: f"\\{one}" for one in "\\`*_{}[]<>#|"})


def _latex(text: str) -> str:
    """Text with the special characters of LaTeX escaped."""
    special = {one: f"\\{one}" for one in "&%$#_{}"}
    special |= {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "±": r"$\pm$",
        "|": r"\textbar{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
    }
    return _replaced(" ".join(text.split()), special)


def _replaced(text: str, characters: Mapping[str, str]) -> str:
    """Replace characters in a single pass, so that no replacement is replaced again."""
    return "".join(characters.get(one, one) for one in text)
