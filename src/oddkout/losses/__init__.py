"""Losses: odd-k-out set loss, and losses for imbalanced classes."""

from oddkout.losses.adjusted import logit_adjusted_cross_entropy
from oddkout.losses.effective_number import effective_number_weights
from oddkout.losses.focal import focal_loss
from oddkout.losses.margin import ldam_loss
from oddkout.losses.odd_k_out import OddKOutLoss
from oddkout.losses.set_loss import set_loss
from oddkout.losses.weighted import class_weights, weighted_cross_entropy

__all__ = [
    "OddKOutLoss",
    "class_weights",
    "effective_number_weights",
    "focal_loss",
    "ldam_loss",
    "logit_adjusted_cross_entropy",
    "set_loss",
    "weighted_cross_entropy",
]
