"""Predictions as they come in: probabilities or logits, as the argument's name says."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from oddkout.checks import Labels, Matrix, matching_labels, prediction_matrix

# Rows are worked on in blocks that stay in the cache: fast, and never a second copy of the input.
_BLOCK = 2**19


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
    def shape(self) -> tuple[int, int]:
        """Number of examples and of classes."""
        return self.values.shape[0], self.values.shape[1]

    def blocks(self) -> Iterator[tuple[slice, Tensor]]:
        """Yield blocks of rows as (place, rows)."""
        yield from _blocks(self.values)

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
        confidence = self.values.new_empty(len(self.values))
        predicted = torch.empty_like(confidence, dtype=torch.int64)
        for place, rows in self.blocks():
            highest, predicted[place] = rows.max(dim=1)
            # softmax of the highest logit, without the softmax of all others
            confidence[place] = (
                (rows - highest[:, None]).exp_().sum(dim=1).reciprocal_()
                if self.are_logits
                else highest
            )
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
    for place, rows in _blocks(probs):
        sums = rows.sum(dim=1)
        if rows.amin() >= 0 and ((sums - 1).abs() <= 1e-3).all():
            continue
        is_wrong = rows.isnan().any(dim=1) | (rows < 0).any(dim=1) | ~((sums - 1).abs() <= 1e-3)
        first = int(is_wrong.nonzero()[0])
        row = rows[first]
        where = f"row {place.start + first}"
        if row.isnan().any():
            raise ValueError(f"probs must be numbers, but {where} holds NaN; drop or mend it")
        if (row < 0).any():
            raise ValueError(
                f"probs must not be negative, but {where} holds {row.min().item():.6g}; pass "
                "logits=... if these are logits"
            )
        raise ValueError(
            f"every row of probs must sum to 1, but {where} sums to {sums[first].item():.6g}; pass "
            "logits=... if these are logits, or divide each row by its sum"
        )


def _check_logits(logits: Float[Tensor, "examples classes"]) -> None:
    """Raise unless all logits are finite."""
    for place, rows in _blocks(logits):
        # Cheap first: an overflowing sum of finite numbers is looked at and let pass.
        if rows.sum().isfinite():
            continue
        is_wrong = ~rows.isfinite().all(dim=1)
        if is_wrong.any():
            first = place.start + int(is_wrong.nonzero()[0])
            raise ValueError(
                f"logits must be finite, but row {first} holds NaN or infinity; look for "
                "non-finite inputs, and mask a class with -1e4 rather than -inf"
            )


def _blocks(values: Tensor) -> Iterator[tuple[slice, Tensor]]:
    """Yield blocks of rows with their place."""
    step = max(1, _BLOCK // values.shape[1])
    for start in range(0, len(values), step):
        place = slice(start, min(start + step, len(values)))
        yield place, values[place]
