"""Draw the figures of the pages: ``python docs/figures.py`` writes them to ``docs/assets``."""

import math
from pathlib import Path
from statistics import fmean

import matplotlib as mpl
import torch
from matplotlib.figure import Figure

import oddkout as oko
from oddkout.paper.comparisons import primary_results
from oddkout.paper.evidence import Evidence, measure
from oddkout.paper.figures import PAPER_FIGURES, draw_paper_figure
from oddkout.paper.first_recipe import first_runs
from oddkout.paper.lines import read_lines
from oddkout.paper.presets import PROTOCOL_GRID
from oddkout.paper.quality import FIRST_SETTINGS
from oddkout.paper.settings import TITLES
from oddkout.paper.variants import VARIANTS
from oddkout.report.figures import draw_reliability, style

RESULTS = Path(__file__).parents[1] / "results"


def first_evidence() -> Evidence:
    """The runs of version 0.1.0 on MNIST and FashionMNIST."""
    runs = first_runs(read_lines(RESULTS, kind="runs"))
    return Evidence([run for run in runs if not run.config.data.startswith("cifar")])


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


def results() -> dict[str, Figure]:
    """Two figures of the paper, from the lines of ``results/``: the grid, or version 0.1.0."""
    grid = Evidence(read_lines(RESULTS), PROTOCOL_GRID)
    evidence = grid if grid.trained else first_evidence()
    shown = {"2": "accuracy-by-size", "10": "ece-by-size"}
    drawn = {figure.name: draw_paper_figure(figure, evidence) for figure in PAPER_FIGURES
             if figure.name in shown}  # fmt: skip
    return {shown[name]: figure for name, figure in drawn.items() if figure is not None}


# What the first picture of the README compares, from the bottom up.
_METHODS = ("oko", "bb+ls", "bb", "focal", "vanilla+ls", "vanilla")


def calibrated_nll() -> Figure:
    """NLL after an out-of-fold temperature in four settings: every seed, and the mean."""
    evidence = first_evidence()
    figure = Figure(figsize=(8.4, 2.5), layout="constrained")
    axes = figure.subplots(1, len(FIRST_SETTINGS), sharey=True)
    nll = measure("nll", is_tempered=True)
    for ax, setting in zip(axes, FIRST_SETTINGS, strict=True):
        for row, name in enumerate(_METHODS):
            values = list(evidence.by_seed([setting], name, nll).values())
            colour = "#c1440e" if name == "oko" else "#4a6fa5"
            ax.plot(values, [row] * len(values), "o", color=colour, alpha=0.45, markersize=4)
            ax.plot([fmean(values)], [row], "|", color=colour, markersize=14, markeredgewidth=2)
        kind = "10 per class" if setting.distribution == "uniform" else "heavy-tailed, 200"
        ax.set_title(f"{TITLES[setting.data]}\n{kind}", fontsize=9)
        ax.set_xlabel("NLL")
        ax.grid(axis="y", linewidth=0.4)
    axes[0].set_yticks(range(len(_METHODS)), [VARIANTS[name].title for name in _METHODS])
    return figure


def primary_comparisons() -> Figure | None:
    """Every seed of the primary comparisons, and the mean with its interval; none without runs."""
    results = primary_results(Evidence(read_lines(RESULTS), PROTOCOL_GRID))
    if results[0].interval is None:
        return None
    figure = Figure(figsize=(8.4, 3.2), layout="constrained")
    axes = figure.subplots(1, 2)
    for ax, metric, label in zip(
        axes, ("accuracy", "nll"), ("accuracy, difference in points", "NLL, ratio"), strict=True
    ):
        own = [result for result in results if result.comparison.metric == metric][::-1]
        shown = (lambda value: 100 * value) if metric == "accuracy" else math.exp
        for row, result in enumerate(own):
            values = [shown(value) for value in result.values.values()]
            ends = [shown(value) for value in (result.interval.low, result.interval.high)]
            ax.plot(ends, [row, row], "-|", color="#4a6fa5", linewidth=1.5, markersize=10)
            ax.plot(values, [row] * len(values), "o", color="#c1440e", alpha=0.5, markersize=4)
        ax.axvline(shown(0), color="0.6", linestyle=":")
        sign = "-" if metric == "accuracy" else "/"
        names = []
        for one in (result.comparison for result in own):
            first, second = VARIANTS[one.first].title, VARIANTS[one.second].title
            sizes = ", 500 and more" if one.is_large else ""
            names.append(f"{first} {sign} {second}\n{one.distribution}{sizes}")
        ax.set_yticks(range(len(own)), names, fontsize=6)
        ax.set_xlabel(label)
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
        figures = {name: diagrams(own) for name, own in cases.items()} | results()
        figures["calibrated-nll"] = calibrated_nll()
        if (primary := primary_comparisons()) is not None:
            figures["primary-comparisons"] = primary
        for name, figure in figures.items():
            paths.append(folder / f"{name}.svg")
            figure.savefig(paths[-1], metadata={"Date": None})
    return paths


if __name__ == "__main__":
    print(*draw(Path(__file__).with_name("assets")), sep="\n")
