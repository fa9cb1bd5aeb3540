"""Predictions as they come in: probabilities or logits, as the argument's name says."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from oddkout.checks import Labels, Matrix, matching_labels, prediction_matrix

# Where a table of the same size would be needed, rows are worked on in blocks of as many numbers:
# never a second copy of the input, yet few enough blocks for threads that wait for each other.
_BLOCK = 2**22


@dataclass(frozen=True)
class Predictions:
    """Checked predictions, and the labels that belong to them if these are needed.

    Args:
        values: Probabilities or logits, of shape (examples, classes).
        are_logits: Which of the two they are.
        labels: True classes, or nothing.
    """

    values: Tensor
    are_logits: bool
    labels: Tensor | None = None

    @property
    def true_classes(self) -> Int[Tensor, " examples"]:
        """The labels of a metric that needs them."""
        if self.labels is None:
            raise ValueError("labels must be given, one class per example, got none")
        return self.labels

    @property
    def given(self) -> dict[str, Any]:
        """The arguments that every metric takes."""
        return {"logits" if self.are_logits else "probs": self.values, "labels": self.labels}

    @property
    def shape(self) -> tuple[int, int]:
        """Number of examples and of classes."""
        return self.values.shape[0], self.values.shape[1]

    def blocks(self) -> Iterator[tuple[slice, Tensor]]:
        """Yield blocks of rows as (place, rows)."""
        step = max(1, _BLOCK // self.values.shape[1])
        for start in range(0, len(self.values), step):
            place = slice(start, start + step)
            yield place, self.values[place]

    def probability_blocks(self) -> Iterator[tuple[slice, Tensor]]:
        """Yield blocks of rows as (place, probabilities)."""
        for place, rows in self.blocks():
            yield place, rows.softmax(dim=1) if self.are_logits else rows

    def log_probability_blocks(self) -> Iterator[tuple[slice, Tensor]]:
        """Yield blocks of rows as (place, logarithms of the probabilities)."""
        for place, rows in self.blocks():
            yield place, rows.log_softmax(dim=1) if self.are_logits else rows.log()

    def top(self) -> tuple[Float[Tensor, " examples"], Int[Tensor, " examples"]]:
        """Confidence (the highest probability) and predicted class; of equals, the first."""
        highest, predicted = self.values.max(dim=1)
        if not self.are_logits:
            return highest, predicted
        confidence = torch.empty_like(highest)
        for place, rows in self.blocks():
            # softmax of the highest logit, without the softmax of all others
            confidence[place] = (rows - highest[place, None]).exp_().sum(dim=1).reciprocal_()
        return confidence, predicted

    def confidence_and_hits(self) -> tuple[Float[Tensor, " examples"], Float[Tensor, " examples"]]:
        """Confidence, and 1 where the predicted class is the true one, else 0."""
        confidence, predicted = self.top()
        return confidence, (predicted == self.true_classes).to(confidence.dtype)


def read(
    *, probs: Matrix = None, logits: Matrix = None, labels: Labels = None, has_labels: bool = True
) -> Predictions:
    """Check predictions that are given as either ``probs`` or ``logits``."""
    if (probs is None) == (logits is None):
        raise ValueError(
            "predictions must be given as either probs or logits, got "
            + ("neither" if probs is None else "both")
            + "; pass probs=... (rows sum to 1) or logits=... (before the softmax)"
        )
    name = "probs" if logits is None else "logits"
    values = prediction_matrix(name, probs if logits is None else logits)
    if logits is None:
        _check_probabilities(values)
    else:
        _check_logits(values)
    if not has_labels:
        return Predictions(values, are_logits=logits is not None)
    if labels is None:
        raise ValueError("labels must be given, one class per example, got none")
    classes = matching_labels(labels, examples=len(values), classes=values.shape[1])
    return Predictions(values, logits is not None, classes.to(values.device))


def _check_probabilities(probs: Float[Tensor, "examples classes"]) -> None:
    """Raise unless every row is a distribution, up to the rounding of a printed table."""
    sums = probs.sum(dim=1)
    if probs.amin() >= 0 and ((sums - 1).abs() <= 1e-3).all():
        return
    is_wrong = (probs.amin(dim=1) < 0) | ~((sums - 1).abs() <= 1e-3)  # true of NaN as well
    first = int(is_wrong.nonzero()[0])
    row = probs[first]
    if row.isnan().any():
        raise ValueError(f"probs must be numbers, but row {first} holds NaN; drop or mend it")
    if (row < 0).any():
        raise ValueError(
            f"probs must not be negative, but row {first} holds {row.min().item():.6g}; pass "
            "logits=... if these are logits"
        )
    raise ValueError(
        f"every row of probs must sum to 1, but row {first} sums to {sums[first].item():.6g}; pass "
        "logits=... if these are logits, or divide each row by its sum"
    )


def _check_logits(logits: Float[Tensor, "examples classes"]) -> None:
    """Raise unless all logits are finite."""
    low, high = logits.amin(dim=1), logits.amax(dim=1)  # NaN if one is NaN
    is_wrong = ~(low.isfinite() & high.isfinite())
    if is_wrong.any():
        raise ValueError(
            f"logits must be finite, but row {int(is_wrong.nonzero()[0])} holds NaN or infinity; "
            "look for non-finite inputs, and mask a class with -1e4 rather than -inf"
        )
