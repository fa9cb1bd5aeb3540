"""Save the figures of one evaluation as files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from oddkout.evaluation import Evaluation
from oddkout.report.figures import (
    draw_class_calibration,
    draw_entropies,
    draw_reliability,
    draw_risk_coverage,
    style,
)


def save_figures(evaluation: Evaluation, directory: Path) -> list[Path]:
    """Write the figures of an evaluation to a folder as PNG files; return their paths."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as missing:
        raise ValueError(
            f"figures need {missing.name}; run: pip install 'oddkout[plot]'"
        ) from missing
    examples = evaluation.examples
    classes = len(evaluation.classes)
    drawings: dict[str, Callable[[Any], Any]] = {
        "reliability": lambda ax: draw_reliability(evaluation.reliability, ax),
        "entropy": lambda ax: draw_entropies(examples.entropy, examples.hits, ax, classes=classes),
        "risk-coverage": lambda ax: draw_risk_coverage({"model": evaluation.risk_coverage}, ax),
        "classes": lambda ax: draw_class_calibration(evaluation.classes, ax),
    }
    directory.mkdir(parents=True, exist_ok=True)
    paths = []
    with style():
        for name, draw in drawings.items():
            figure = Figure()
            draw(figure.subplots())
            paths.append(directory / f"{name}.png")
            figure.savefig(paths[-1])
    return paths
