"""The option for class frequencies, shared by ``predict``, ``decide`` and ``export``."""

from typing import Annotated

import typer

PriorOption = Annotated[
    str | None,
    typer.Option(
        "--prior",
        help="Class frequencies to predict for, e.g. 0.9,0.1, in the order of the classes in "
        "card.json.",
    ),
]


def frequencies(prior: str | None) -> list[float] | None:
    """The value of the option as numbers."""
    if prior is None:
        return None
    try:
        return [float(share) for share in prior.split(",")]
    except ValueError:
        raise ValueError(
            f"--prior must be numbers separated by commas, such as 0.9,0.1, got {prior!r}"
        ) from None
