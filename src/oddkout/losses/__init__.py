"""Losses: odd-k-out set loss, focal loss, class-weighted cross-entropy."""

from oddkout.losses.focal import focal_loss
from oddkout.losses.odd_k_out import OddKOutLoss
from oddkout.losses.set_loss import set_loss
from oddkout.losses.weighted import class_weights, weighted_cross_entropy

__all__ = ["OddKOutLoss", "class_weights", "focal_loss", "set_loss", "weighted_cross_entropy"]
