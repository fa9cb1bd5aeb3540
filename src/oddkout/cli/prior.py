"""The option for a prior, shared by all commands that report probabilities."""

from typing import Annotated

import typer

PriorOption = Annotated[
    str | None,
    typer.Option(
        "--prior", help="Class frequencies to predict for, e.g. 0.9,0.1, in the card's order."
    ),
]


def frequencies(prior: str | None) -> list[float] | None:
    """The frequencies of the option.

    Args:
        prior: Comma-separated numbers, or none.
    """
    if prior is None:
        return None
    try:
        return [float(share) for share in prior.split(",")]
    except ValueError:
        raise ValueError(
            f"--prior must be numbers with commas between, such as 0.9,0.1, got {prior!r}"
        ) from None
