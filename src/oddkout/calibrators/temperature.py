"""Temperature scaling: divide all logits by one number."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor

from oddkout.calibrators.calibrator import Calibrator, fitting_data
from oddkout.checks import Labels, Matrix, Number, Prior, frequencies

# Limits of a fitted temperature.
COLDEST, HOTTEST = 1e-3, 1e3


class TemperatureScaling(Calibrator):
    """Divide logits by a temperature that is fixed or fitted to held-out data.

    The negative log-likelihood is convex in 1 / T and is minimised to 12 digits, so the fit is
    never worse than T = 1. The predicted class never changes. A fitted temperature lies in
    0.001 .. 1000.

    If every prediction is correct, the likelihood has no maximum: it grows as T falls. The fit
    then lowers T from 1 until the mean confidence is (n + 1) / (n + 2), Laplace's rule for n
    successes in n trials.

    Args:
        temperature: Above 1 softens the predictions, below 1 sharpens them.

    Example:
        Predicted odds are 3 : 1, observed odds 9 : 1, so T = log(3) / log(9).

        >>> calibrator = TemperatureScaling().fit([[math.log(3), 0.0]] * 10, [0] * 9 + [1])
        >>> round(calibrator.temperature.item(), 6)
        0.5
        >>> calibrator.predict_proba([[math.log(3), 0.0]]).round(6).tolist()
        [[0.9, 0.1]]
    """

    temperature: Tensor

    def __init__(self, temperature: Number = 1.0) -> None:
        super().__init__()
        if not (temperature > 0 and math.isfinite(temperature)):
            raise ValueError(f"temperature must be a positive number, got {temperature}")
        self.register_buffer("temperature", torch.tensor(float(temperature), dtype=torch.float64))

    def fit(
        self, logits: Matrix, labels: Labels, *, is_balanced: bool = False, prior: Prior = None
    ) -> "TemperatureScaling":
        """Fit the temperature by maximum likelihood.

        Args:
            logits: Logits of held-out examples.
            labels: Their classes.
            is_balanced: Whether all classes weigh the same, whatever their number of examples.
                Use it for a model that will meet all classes equally often.
            prior: Class frequencies that the model will meet; by default those of the labels.
        """
        rows, classes = fitting_data(logits, labels)
        weights = example_weights(
            classes, fitting_prior(prior, is_balanced=is_balanced, classes=rows.shape[1])
        )
        self.temperature.fill_(1 / _best_inverse(rows, classes, weights))
        return self

    def forward(self, logits: Tensor) -> Tensor:
        """Divide the logits by the temperature."""
        return logits / self.temperature.to(logits.dtype)

    def extra_repr(self) -> str:
        """Show the temperature when PyTorch prints the module."""
        return f"temperature={self.temperature.item():.4g}"


def fitting_prior(prior: Prior, *, is_balanced: bool, classes: int) -> Prior:
    """The class frequencies to fit for: equal ones if ``is_balanced``, else the given ones."""
    return [1 / classes] * classes if is_balanced and prior is None else prior


def example_weights(
    labels: Int[Tensor, " examples"], prior: Prior = None
) -> Float[Tensor, " examples"]:
    """Weights that sum to 1: equal for all examples, or such that classes have given frequencies.

    Args:
        labels: Class of every example.
        prior: Class frequencies; those of classes that do not occur are shared by the others.

    Example:
        >>> example_weights(torch.tensor([0, 0, 1]), [0.5, 0.5]).tolist()
        [0.25, 0.25, 0.5]
    """
    if prior is None:
        return torch.full((len(labels),), 1 / len(labels), dtype=torch.float64)
    shares = frequencies("prior", prior)
    weights = (shares / labels.bincount(minlength=len(shares)).clamp_min(1))[labels]
    return weights / weights.sum()


def _best_inverse(
    logits: Float[Tensor, "examples classes"],
    labels: Int[Tensor, " examples"],
    weights: Float[Tensor, " examples"],
) -> float:
    """The 1 / T that minimises the weighted negative log-likelihood."""
    margins = logits - logits.gather(1, labels[:, None])  # 0 for the true class

    def derivatives(inverse: float) -> tuple[float, float]:
        probs = (inverse * margins).softmax(dim=1)
        mean = (probs * margins).sum(dim=1)
        variance = (probs * margins**2).sum(dim=1) - mean**2
        return (weights @ mean).item(), (weights @ variance).item()

    low, high = 1 / HOTTEST, 1 / COLDEST
    if margins.amax() <= 0:
        return _laplace_inverse(logits)
    if derivatives(low)[0] >= 0:
        return low
    if derivatives(high)[0] <= 0:
        return high
    inverse = 1.0
    for _ in range(200):
        slope, curvature = derivatives(inverse)
        low, high = (low, inverse) if slope > 0 else (inverse, high)
        newton = inverse - slope / curvature if curvature > 0 else math.inf
        # Newton's step if it stays inside the bracket, else bisect on the log scale.
        following = newton if low < newton < high else math.sqrt(low * high)
        if abs(following - inverse) <= 1e-12 * inverse:
            break
        inverse = following
    return inverse


def _laplace_inverse(logits: Float[Tensor, "examples classes"]) -> float:
    """The 1 / T, at least 1, at which the mean confidence is (n + 1) / (n + 2)."""
    target = (len(logits) + 1) / (len(logits) + 2)

    def confidence(inverse: float) -> float:
        return (inverse * logits).softmax(dim=1).amax(dim=1).mean().item()

    low, high = 1.0, 1 / COLDEST
    if confidence(low) >= target:
        return low
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if confidence(middle) < target else (low, middle)
    return low
