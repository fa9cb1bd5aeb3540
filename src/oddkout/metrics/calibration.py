"""Calibration errors: the gap between confidence and accuracy."""

from dataclasses import dataclass
from typing import Literal, get_args

import torch
from jaxtyping import Float, Int
from torch import Tensor

from oddkout.checks import Labels, Matrix, at_least, one_of
from oddkout.metrics.predictions import Predictions, read

Binning = Literal["equal-width", "equal-mass"]


@dataclass(frozen=True)
class BinSums:
    """Sums over the examples of each bin; axis 0 holds the bins, further axes are free.

    Every binned error is a function of these sums. An estimate, its bootstrap replicates and its
    null level therefore share one implementation.
    """

    count: Tensor
    confidence: Tensor
    hits: Tensor

    @property
    def gap(self) -> Tensor:
        """Sum of confidence minus number of hits."""
        return self.confidence - self.hits

    def expected_error(self) -> Tensor:
        """Mean gap between confidence and accuracy; bins weigh as many examples as they hold."""
        return self.gap.abs().sum(dim=0) / self.count.sum(dim=0)

    def maximum_error(self) -> Tensor:
        """Largest gap between confidence and accuracy over the bins that are not empty."""
        return (self.gap.abs() / self.count.clamp_min(1)).amax(dim=0)

    def debiased_error(self) -> Tensor:
        """Root mean squared gap, corrected for sampling noise."""
        accuracy = self.hits / self.count.clamp_min(1)
        noise = accuracy * (1 - accuracy) / (self.count - 1).clamp_min(1)
        squared = (self.gap / self.count.clamp_min(1)) ** 2 - noise
        # The noise of a bin with one example is unknown, so such a bin weighs nothing.
        weight = torch.where(self.count > 1, self.count, 0)
        total = weight.sum(dim=0).clamp_min(1)
        return ((weight * squared).sum(dim=0) / total).clamp_min(0).sqrt()


def expected_calibration_error(
    probs: Matrix = None,
    labels: Labels = None,
    *,
    logits: Matrix = None,
    bins: int = 15,
    binning: Binning = "equal-width",
) -> Float[Tensor, ""]:
    """Mean gap between confidence and accuracy over bins of confidence.

    Equal-width bin b holds the confidences in ``(b / bins, (b + 1) / bins]``. Equal-mass bins hold
    the same number of examples, except that equal confidences always share a bin. Empty bins weigh
    nothing. Confidence is the highest probability; the first class wins a tie.

    Args:
        probs: Class probabilities, of shape (examples, classes); every row sums to 1.
        labels: True classes.
        logits: Logits, instead of ``probs``.
        bins: Number of bins.
        binning: ``"equal-width"`` or ``"equal-mass"``.

    Example:
        Three of four correct at confidence 0.75 is perfect calibration.

        >>> probs = torch.tensor([[0.75, 0.25]]).expand(4, 2)
        >>> expected_calibration_error(probs, [0, 0, 0, 1]).item()
        0.0
    """
    sums = _top_bin_sums(read(probs=probs, logits=logits, labels=labels), bins, binning)
    return sums.expected_error()


def maximum_calibration_error(
    probs: Matrix = None,
    labels: Labels = None,
    *,
    logits: Matrix = None,
    bins: int = 15,
    binning: Binning = "equal-width",
) -> Float[Tensor, ""]:
    """Largest gap between confidence and accuracy in any bin; see ``expected_calibration_error``.

    Example:
        Two examples have confidence 0.75 and one of them is correct: a gap of a quarter.

        >>> probs = torch.tensor([[0.75, 0.25], [0.75, 0.25], [0.0, 1.0]])
        >>> maximum_calibration_error(probs, [0, 1, 1]).item()
        0.25
    """
    sums = _top_bin_sums(read(probs=probs, logits=logits, labels=labels), bins, binning)
    return sums.maximum_error()


def debiased_calibration_error(
    probs: Matrix = None,
    labels: Labels = None,
    *,
    logits: Matrix = None,
    bins: int = 15,
    binning: Binning = "equal-mass",
) -> Float[Tensor, ""]:
    """Root-mean-square calibration error, corrected for sampling noise (Kumar et al., 2019).

    The mean square is unbiased. If noise explains all of it, the error is 0. Bins with one example
    weigh nothing.

    Example:
        Two of four correct at confidence 1: sqrt(0.5 ** 2 - 0.5 * 0.5 / 3) = sqrt(1 / 6).

        >>> probs = torch.tensor([[1.0, 0.0]]).expand(4, 2)
        >>> round(debiased_calibration_error(probs, [0, 0, 1, 1]).item(), 4)
        0.4082
    """
    sums = _top_bin_sums(read(probs=probs, logits=logits, labels=labels), bins, binning)
    return sums.debiased_error()


def classwise_calibration_error(
    probs: Matrix = None,
    labels: Labels = None,
    *,
    logits: Matrix = None,
    bins: int = 15,
) -> Float[Tensor, ""]:
    """Mean over classes of the calibration error of "is it this class?" (Kull et al., 2019).

    It detects classes whose probability is systematically too high or too low, which confidence
    alone can hide. Bins have equal width and are closed on the right; a probability of 0 falls
    into the first bin.

    Example:
        Class 0 gets probability 0.75 and class 1 gets 0.25, but each occurs half the time.

        >>> probs = torch.tensor([[0.75, 0.25]]).expand(4, 2)
        >>> classwise_calibration_error(probs, [0, 0, 1, 1]).item()
        0.25
    """
    sums = classwise_bin_sums(read(probs=probs, logits=logits, labels=labels), bins=bins)
    return sums.expected_error().mean()


def bin_of_confidence(
    confidence: Float[Tensor, "*shape"], *, bins: int, binning: Binning = "equal-width"
) -> Int[Tensor, "*shape"]:
    """Bin of each confidence; bins are closed on the right."""
    edges = bin_edges(confidence, bins=bins, binning=binning)
    return torch.bucketize(confidence.contiguous(), edges[1:-1].contiguous())


def bin_edges(
    confidence: Float[Tensor, "*shape"], *, bins: int, binning: Binning = "equal-width"
) -> Float[Tensor, " edges"]:
    """The ``bins + 1`` edges of the bins, from 0 to 1, in the dtype of the confidences."""
    at_least("bins", bins, 1)
    one_of("binning", binning, get_args(Binning))
    steps = torch.arange(bins + 1, dtype=torch.float64, device=confidence.device)
    edges = (steps / bins).to(confidence.dtype)
    if binning == "equal-mass":
        ranked = confidence.flatten().sort().values
        last = (steps[1:-1] * len(ranked) / bins).ceil().long() - 1  # last example of each bin
        edges[1:-1] = ranked[last.clamp_min(0)]
    return edges


def bin_sums(
    confidence: Float[Tensor, " examples"],
    hits: Float[Tensor, " examples"],
    bin_of: Int[Tensor, " examples"],
    *,
    bins: int,
) -> BinSums:
    """Sum the examples of each bin, in double precision."""
    zeros = confidence.new_zeros(bins, dtype=torch.float64)
    return BinSums(
        count=bin_of.bincount(minlength=bins).to(torch.float64),
        confidence=zeros.index_add(0, bin_of, confidence.double()),
        hits=zeros.index_add(0, bin_of, hits.double()),
    )


def classwise_bin_sums(predictions: Predictions, *, bins: int) -> BinSums:
    """Sums of shape (bins, classes), over the bins of each class's probability."""
    classes = predictions.shape[1]
    labels = predictions.true_classes
    zeros = predictions.values.new_zeros(bins * classes, dtype=torch.float64)
    sums = BinSums(zeros, zeros.clone(), zeros.clone())
    for block, probs in predictions.probability_blocks():
        columns = torch.arange(classes, device=probs.device)
        key = bin_of_confidence(probs, bins=bins) * classes + columns
        flat = key.flatten()
        sums.count.add_(flat.bincount(minlength=bins * classes))
        sums.confidence.index_add_(0, flat, probs.flatten().double())
        true_key = key.gather(1, labels[block, None]).flatten()
        sums.hits.add_(true_key.bincount(minlength=bins * classes))
    parts = (sums.count, sums.confidence, sums.hits)
    return BinSums(*(part.view(bins, classes) for part in parts))


def _top_bin_sums(predictions: Predictions, bins: int, binning: Binning) -> BinSums:
    """Sums over the bins of confidence."""
    confidence, hits = predictions.confidence_and_hits()
    bin_of = bin_of_confidence(confidence, bins=bins, binning=binning)
    return bin_sums(confidence, hits, bin_of, bins=bins)
