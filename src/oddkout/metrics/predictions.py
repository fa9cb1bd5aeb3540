"""Checked predictions: probabilities or logits, with their labels."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from oddkout.checks import Labels, Matrix, matching_labels, prediction_matrix

# Numbers in a block of rows. Working block by block avoids a second copy of the input; the blocks
# are large enough that starting threads costs little.
_BLOCK = 2**22


@dataclass(frozen=True)
class Predictions:
    """Checked predictions with, if a metric needs them, their labels.

    Args:
        values: Probabilities or logits, of shape (examples, classes).
        labels: True classes, if given.
    """

    values: Tensor
    are_logits: bool
    labels: Tensor | None = None

    @property
    def true_classes(self) -> Int[Tensor, " examples"]:
        """The labels, or raise if there are none."""
        if self.labels is None:
            raise ValueError("labels must be given, one class per example, got none")
        return self.labels

    @property
    def given(self) -> dict[str, Any]:
        """The predictions as keyword arguments of a metric."""
        return {"logits" if self.are_logits else "probs": self.values, "labels": self.labels}

    @property
    def shape(self) -> tuple[int, int]:
        """Number of examples and number of classes."""
        return self.values.shape[0], self.values.shape[1]

    def blocks(self) -> Iterator[tuple[slice, Tensor]]:
        """Yield blocks of examples: their slice and their rows."""
        step = max(1, _BLOCK // self.values.shape[1])
        for start in range(0, len(self.values), step):
            block = slice(start, start + step)
            yield block, self.values[block]

    def probability_blocks(self) -> Iterator[tuple[slice, Tensor]]:
        """Yield blocks of examples: their slice and their probabilities."""
        for block, rows in self.blocks():
            yield block, rows.softmax(dim=1) if self.are_logits else rows

    def log_probability_blocks(self) -> Iterator[tuple[slice, Tensor]]:
        """Yield blocks of examples: their slice and their log-probabilities."""
        for block, rows in self.blocks():
            yield block, rows.log_softmax(dim=1) if self.are_logits else rows.log()

    def top(self) -> tuple[Float[Tensor, " examples"], Int[Tensor, " examples"]]:
        """Confidence (the highest probability) and predicted class; the first wins a tie."""
        highest, predicted = self.values.max(dim=1)
        if not self.are_logits:
            return highest, predicted
        confidence = torch.empty_like(highest)
        for block, rows in self.blocks():
            # The softmax of the highest logit alone.
            confidence[block] = (rows - highest[block, None]).exp_().sum(dim=1).reciprocal_()
        return confidence, predicted

    def confidence_and_hits(self) -> tuple[Float[Tensor, " examples"], Float[Tensor, " examples"]]:
        """Confidence, and 1 for a correct prediction or 0 for a wrong one."""
        confidence, predicted = self.top()
        return confidence, (predicted == self.true_classes).to(confidence.dtype)


def read(
    *, probs: Matrix = None, logits: Matrix = None, labels: Labels = None, has_labels: bool = True
) -> Predictions:
    """Check predictions given as either ``probs`` or ``logits``, and their labels."""
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
    """Raise unless every row is a distribution, up to the rounding of printed numbers."""
    sums = probs.sum(dim=1)
    if probs.amin() >= 0 and ((sums - 1).abs() <= 1e-3).all():
        return
    is_wrong = (probs.amin(dim=1) < 0) | ~((sums - 1).abs() <= 1e-3)  # True for NaN, too
    first = int(is_wrong.nonzero()[0])
    row = probs[first]
    if row.isnan().any():
        raise ValueError(f"probs must be numbers, but row {first} holds NaN; drop or repair it")
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
    low, high = logits.amin(dim=1), logits.amax(dim=1)  # NaN if any logit is NaN
    is_wrong = ~(low.isfinite() & high.isfinite())
    if is_wrong.any():
        raise ValueError(
            f"logits must be finite, but row {int(is_wrong.nonzero()[0])} holds NaN or infinity; "
            "look for non-finite inputs, and mask a class with -1e4 rather than -inf"
        )
