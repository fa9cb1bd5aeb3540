"""Draw the examples on the pages: ``python docs/figures.py`` writes them to ``docs/assets``."""

from pathlib import Path

import matplotlib as mpl
import torch
from matplotlib.figure import Figure

import oddkout as oko
from oddkout.report.figures import draw_reliability, style


def predictions(examples: int, *, temperature: float = 1.0) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits of ten classes, and labels drawn from them at a temperature: 1 is calibrated."""
    source = torch.Generator().manual_seed(0)
    logits = 2 * torch.randn(examples, 10, generator=source)
    probs = (logits / temperature).softmax(dim=1)
    return logits, probs.multinomial(1, generator=source)[:, 0]


def diagrams(cases: dict[str, tuple[torch.Tensor, torch.Tensor]]) -> Figure:
    """A reliability diagram of each case, side by side."""
    figure = Figure(figsize=(2.5 * len(cases), 2.6), layout="constrained")
    axes = figure.subplots(1, len(cases))
    for ax, (title, (logits, labels)) in zip(axes, cases.items(), strict=True):
        curve = oko.metrics.reliability_curve(logits=logits, labels=labels)
        draw_reliability(curve, ax).set_title(title)
        ax.legend(loc="upper left", fontsize=6)
    return figure


def draw(folder: Path) -> list[Path]:
    """Write every figure into a folder, and return where they are."""
    cases = {
        "reliability": {
            "overconfident": predictions(2000, temperature=2.0),
            "calibrated": predictions(2000),
            "underconfident": predictions(2000, temperature=0.5),
        },
        "few-examples": {"100 examples": predictions(100), "5,000 examples": predictions(5000)},
    }
    paths = []
    # Without these, every run would write other bytes: names in the file, and the date.
    with style(), mpl.rc_context({"svg.hashsalt": "oddkout"}):
        for name, own in cases.items():
            paths.append(folder / f"{name}.svg")
            diagrams(own).savefig(paths[-1], metadata={"Date": None})
    return paths


if __name__ == "__main__":
    print(*draw(Path(__file__).with_name("assets")), sep="\n")
