"""Tables of a comparison: for the terminal, Markdown, LaTeX and JSON, from the same numbers."""

from typing import Any

from oddkout.experiments.comparison import METRICS, Comparison

_TITLES = {
    "accuracy": "accuracy %",
    "nll": "NLL",
    "ece": "ECE",
    "brier": "Brier",
    "entropy_gap": "|CE - H|",
}


def cell(
    comparison: Comparison, method: str, metric: str, *, is_tempered: bool
) -> tuple[str, bool, bool]:
    """Mean and half-width of an entry, whether it is the best, and whether tied with it.

    Args:
        comparison: The comparison.
        method: The method.
        metric: The metric.
        is_tempered: Whether with the out-of-fold temperature.
    """
    found = comparison.mean(method, metric, is_tempered=is_tempered)
    half = (found.high - found.low) / 2
    scale, digits = (100, 1) if metric == "accuracy" else (1, 3)
    text = f"{scale * found.mean:.{digits}f}"
    if half == half:  # known from two seeds on
        text += f" ± {scale * half:.{digits}f}"
    is_best = comparison.best(metric, is_tempered=is_tempered) == method
    is_tied = method in comparison.tied(metric, is_tempered=is_tempered)
    return text, is_best, is_tied


def comparison_text(comparison: Comparison) -> str:
    """The table for a terminal: as trained, then with the out-of-fold temperature."""
    lines = []
    for is_tempered in (False, True):
        lines.append("with an out-of-fold temperature" if is_tempered else "as trained")
        head = "".join(f"{_TITLES[metric]:>20}" for metric in METRICS)
        lines.append(f"{'method':<12}{head}{'rate':>8}{'T' if is_tempered else '':>7}")
        for method in comparison.methods:
            row = f"{method:<12}"
            for metric in METRICS:
                text, is_best, is_tied = cell(comparison, method, metric, is_tempered=is_tempered)
                mark = "*" if is_best else "~" if is_tied else " "
                row += f"{text + mark:>20}"
            runs = comparison.by_method[method]
            mean_temperature = sum(run.temperature for run in runs) / len(runs)
            shown = f"{mean_temperature:.2f}" if is_tempered else ""
            lines.append(f"{row}{runs[0].config.learning_rate:>8}{shown:>7}")
        lines.append("")
    lines += [f"{name:<12}failed: {reason.splitlines()[0]}" for name, reason in _failed(comparison)]
    lines.append(
        f"means of {comparison.seeds} seeds ± 95 % interval; * best, ~ not told from the best "
        "(paired by seed, corrected for the number of methods)"
    )
    lines += ["", comparison.verdict]
    return "\n".join(lines)


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """All numbers of the table as plain values."""
    rows = []
    for method in comparison.methods:
        runs = comparison.by_method[method]
        row: dict[str, Any] = {
            "method": method,
            "learning_rate": runs[0].config.learning_rate,
            "temperatures": [run.temperature for run in runs],
        }
        for kind, is_tempered in (("as_trained", False), ("tempered", True)):
            row[kind] = {
                metric: {
                    "mean": (
                        found := comparison.mean(method, metric, is_tempered=is_tempered)
                    ).mean,
                    "low": _number(found.low),
                    "high": _number(found.high),
                    "values": comparison.values(method, metric, is_tempered=is_tempered),
                    "is_best": comparison.best(metric, is_tempered=is_tempered) == method,
                    "is_tied": method in comparison.tied(metric, is_tempered=is_tempered),
                }
                for metric in METRICS
            }
        rows.append(row)
    return {
        "verdict": comparison.verdict,
        "seeds": comparison.seeds,
        "methods": rows,
        "failed": comparison.failed,
    }


def _failed(comparison: Comparison) -> list[tuple[str, str]]:
    return list(comparison.failed.items())


def _number(value: float) -> float | None:
    """A number as JSON has it: none for NaN."""
    return None if value != value else value
