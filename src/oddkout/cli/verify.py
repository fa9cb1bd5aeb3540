"""``oddkout verify``: check the theory of the paper numerically."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from oddkout.cli.source import JsonOption
from oddkout.paper.theory import Statement
from oddkout.paper.theory import verify as verify_theory

Figures = Annotated[Path | None, typer.Option(help="Folder for the figures, as SVG and PNG.")]


def verify(figures: Figures = None, is_json: JsonOption = False) -> int:
    """Check every theorem, proposition and lemma; the exit code is 1 if one does not hold.

    Example: oddkout verify --figures theory
    """
    _require("mpmath", "sklearn")
    if figures is not None:
        _require("matplotlib")
        figures.mkdir(parents=True, exist_ok=True)
    claims = verify_theory(
        on_claim=None if is_json else lambda claim: print(f"{claim}\n", flush=True)
    )
    if is_json:
        print(json.dumps([claim.to_dict() for claim in claims], indent=2))
    else:
        print(_summary(claims))
    if figures is not None:
        _save_figures(figures)
    return 0 if all(claim.holds for claim in claims) else 1


def _summary(claims: list[Statement]) -> str:
    """One line per statement."""
    width = max(len(claim.name) for claim in claims)
    lines = [
        f"{number:>2}  {claim.name:<{width}}  {sum(check.holds for check in claim.checks):>2} of "
        f"{len(claim.checks):>2} checks  {'holds' if claim.holds else 'DOES NOT HOLD'}"
        for number, claim in enumerate(claims, start=1)
    ]
    return "\n".join(lines)


def _require(*modules: str) -> None:
    """Raise if a module is missing, before half a minute of computation."""
    for module in modules:
        if find_spec(module) is None:
            raise ValueError(f"verify needs {module}; run: pip install 'oddkout[theory]'")


def _save_figures(directory: Path) -> None:
    """Write all figures, each as SVG and PNG."""
    from oddkout.paper.theory.figures import figures

    for name, figure in figures().items():
        for kind in ("svg", "png"):
            figure.savefig(directory / f"{name}.{kind}", dpi=150)
