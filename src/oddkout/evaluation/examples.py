"""Predictions with the values of each example that metrics are made of."""

from dataclasses import dataclass

from torch import Tensor

from oddkout.metrics.brier import brier_scores
from oddkout.metrics.entropies import cross_entropies, entropies
from oddkout.metrics.predictions import Predictions


@dataclass(frozen=True)
class Examples:
    """Predictions with per-example values, such as confidence and cross-entropy."""

    predictions: Predictions
    confidence: Tensor
    predicted: Tensor
    hits: Tensor
    cross_entropy: Tensor
    entropy: Tensor
    brier: Tensor

    @classmethod
    def of(cls, predictions: Predictions) -> "Examples":
        """Compute the values of each example."""
        confidence, predicted = predictions.top()
        return cls(
            predictions=predictions,
            confidence=confidence,
            predicted=predicted,
            hits=(predicted == predictions.true_classes).to(confidence.dtype),
            cross_entropy=cross_entropies(predictions),
            entropy=entropies(predictions),
            brier=brier_scores(predictions),
        )

    def __len__(self) -> int:
        return len(self.confidence)
