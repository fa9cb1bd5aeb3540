"""Smooth calibration error: without bins, it is a continuous function of the confidences."""

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor

from oddkout.checks import Labels, Matrix
from oddkout.metrics.predictions import read

# Number of grid cells on [0, 1], and of bisection steps in the search for the bandwidth.
CELLS = 256
_HALVINGS = 8


def smooth_calibration_error(
    probs: Matrix = None, labels: Labels = None, *, logits: Matrix = None
) -> Float[Tensor, ""]:
    """Mean absolute gap after kernel smoothing (smooth ECE; Blasiok and Nakkiran, 2024).

    The gaps between confidence and accuracy are smoothed with a Gaussian kernel that is reflected
    at 0 and 1. The bandwidth is the one that equals the error itself, so it need not be chosen.

    Example:
        Smoothing does not change a constant gap: confidence 1, accuracy 0.5.

        >>> round(smooth_calibration_error([[1.0, 0.0]] * 4, [0, 0, 1, 1]).item(), 3)
        0.5
    """
    confidence, hits = read(probs=probs, logits=logits, labels=labels).confidence_and_hits()
    cells, weight = cell_weights(confidence.double().cpu().numpy())
    gaps = np.zeros(CELLS)
    gap = (confidence.double() - hits.double()).cpu().numpy()
    np.add.at(gaps, cells, weight * gap)
    return torch.tensor(smoothed_error(gaps[:, None] / len(gap))[0], dtype=torch.float64)


def cell_weights(
    confidence: Float[ndarray, " examples"],
) -> tuple[ndarray, Float[ndarray, "two examples"]]:
    """The two cells next to each confidence, and the weight of each cell."""
    position = confidence * CELLS - 0.5  # the centre of cell j is at (j + 1/2) / CELLS
    below = np.floor(position)
    share = position - below
    cells = np.stack([below, below + 1]).clip(0, CELLS - 1).astype(np.int64)
    return cells, np.stack([1 - share, share])


def smoothed_error(gaps: Float[ndarray, "cells replicates"]) -> Float[ndarray, " replicates"]:
    """Smooth error of each column of gaps per cell, which are divided by the number of examples."""
    from scipy.fft import dct, idct

    # Smoothing with a reflected Gaussian multiplies each cosine by a factor.
    cosines = dct(gaps, axis=0, norm="ortho")
    frequency = np.pi * np.arange(CELLS, dtype=gaps.dtype)[:, None]

    def error(bandwidth: ndarray) -> ndarray:
        damped = cosines * np.exp(-0.5 * (frequency * bandwidth) ** 2)
        return np.asarray(np.abs(idct(damped, axis=0, norm="ortho")).sum(axis=0))

    # As the bandwidth grows, the error falls from sum(|gaps|) to |sum(gaps)|, so error = bandwidth
    # has one solution in between. Bisect, then interpolate linearly.
    low, high = np.abs(gaps.sum(axis=0)), np.abs(gaps).sum(axis=0)
    below, above = low - error(low), high - error(high)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        excess = middle - error(middle)
        is_narrow = excess < 0
        low, high = np.where(is_narrow, middle, low), np.where(is_narrow, high, middle)
        below, above = np.where(is_narrow, excess, below), np.where(is_narrow, above, excess)
    slope = np.maximum(above - below, np.finfo(gaps.dtype).tiny)
    return np.asarray(np.clip(high - above * (high - low) / slope, low, high))
