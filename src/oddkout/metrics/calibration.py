"""Calibration errors: how far confidence is from accuracy."""

from jaxtyping import Float, Int
from torch import Tensor

from oddkout.checks import at_least


def expected_calibration_error(
    probs: Float[Tensor, "examples classes"],
    labels: Int[Tensor, " examples"],
    *,
    bins: int = 15,
) -> Float[Tensor, ""]:
    """Mean gap between confidence and accuracy over equal-width bins of confidence.

    Bin b holds the confidences in ``(b / bins, (b + 1) / bins]``. Empty bins weigh nothing.

    Args:
        probs: Class probabilities; every row sums to 1.
        labels: True classes.
        bins: Number of bins on [0, 1].

    Example:
        Three of four right at confidence 0.75 is perfect calibration.

        >>> import torch
        >>> probs = torch.tensor([[0.75, 0.25]]).expand(4, 2)
        >>> expected_calibration_error(probs, torch.tensor([0, 0, 0, 1]))
        tensor(0.)
    """
    at_least("bins", bins, 1)
    confidence, predicted = probs.max(dim=1)
    gap = (predicted == labels).to(probs.dtype) - confidence
    # ceil(confidence * bins) - 1 makes the bins closed on the right.
    bin_of = (confidence * bins).ceil().long().sub(1).clamp(0, bins - 1)
    gap_per_bin = probs.new_zeros(bins).index_add_(0, bin_of, gap)
    return gap_per_bin.abs().sum() / len(labels)
