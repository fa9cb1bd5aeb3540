"""The option for class frequencies, shared by all commands that predict or judge."""

from typing import Annotated, Any

import typer

PriorOption = Annotated[
    str | None,
    typer.Option(
        "--prior",
        help="Class frequencies that probabilities are for: train, uniform, or numbers such as "
        "0.9,0.1 in the order of the classes, or by name: well=0.9,ill=0.1.",
    ),
]


def prior_value(prior: str | None) -> Any:
    """The value of the option for Python: a name, a list of numbers or a mapping.

    Example:
        >>> prior_value("0.9,0.1"), prior_value("well=0.9,ill=0.1"), prior_value("uniform")
        ([0.9, 0.1], {'well': 0.9, 'ill': 0.1}, 'uniform')
    """
    if prior is None or prior in ("train", "uniform"):
        return prior
    try:
        if "=" not in prior:
            return [float(share) for share in prior.split(",")]
        pairs = [part.rpartition("=") for part in prior.split(",")]
        return {name.strip(): float(share) for name, _, share in pairs}
    except ValueError:
        raise ValueError(
            "--prior must be train, uniform, or numbers separated by commas, such as 0.9,0.1 or "
            f"well=0.9,ill=0.1, got {prior!r}"
        ) from None
