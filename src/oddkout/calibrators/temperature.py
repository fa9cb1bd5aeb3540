"""Temperature scaling: one number that makes all predictions softer or sharper."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor

from oddkout.calibrators.calibrator import Calibrator, fitting_data
from oddkout.checks import Labels, Matrix, Number

# Limits of a fitted temperature; what lies beyond is a wrong unit, not a model.
COLDEST, HOTTEST = 1e-3, 1e3


class TemperatureScaling(Calibrator):
    """Logits divided by a temperature: fixed, or the best one for held-out data.

    The likelihood is convex in 1 / T and its minimum is found to 12 digits, so that the
    fit is never worse than T = 1. The predicted class never changes. A fitted temperature lies in
    0.001 .. 1000.

    Where every example is right, colder is always better and no best temperature exists. Then it
    is lowered from 1 only until the mean confidence is (n + 1) / (n + 2), which is what n
    successes in n trials support by Laplace's rule.

    Args:
        temperature: Above 1 softens, below 1 sharpens.

    Example:
        Odds of 3 : 1 were claimed, log(3); 9 : 1 came true, so that T = log(3) / log(9).

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
        self, logits: Matrix, labels: Labels, *, is_balanced: bool = False
    ) -> "TemperatureScaling":
        """Find the temperature of the highest likelihood.

        Args:
            logits: Logits of examples that the model was not trained on.
            labels: Their classes.
            is_balanced: Whether all classes weigh the same, however many examples they have: for
                a model that will meet them equally often.
        """
        rows, classes = fitting_data(logits, labels)
        share = torch.full((len(rows),), 1 / len(rows), dtype=rows.dtype)
        if is_balanced:
            counts = classes.bincount(minlength=rows.shape[1])
            share = 1 / (counts[classes] * counts.count_nonzero()).to(rows.dtype)
        self.temperature.fill_(1 / _best_inverse(rows, classes, share))
        return self

    def forward(self, logits: Tensor) -> Tensor:
        """Divide the logits by the temperature."""
        return logits / self.temperature.to(logits.dtype)

    def extra_repr(self) -> str:
        """Spell the temperature out where PyTorch prints the module."""
        return f"temperature={self.temperature.item():.4g}"


def _best_inverse(
    logits: Float[Tensor, "examples classes"],
    labels: Int[Tensor, " examples"],
    share: Float[Tensor, " examples"],
) -> float:
    """The 1 / T at which the derivative of the weighted negative log-likelihood is 0."""
    margins = logits - logits.gather(1, labels[:, None])  # the true class at 0

    def derivatives(inverse: float) -> tuple[float, float]:
        probs = (inverse * margins).softmax(dim=1)
        mean = (probs * margins).sum(dim=1)
        variance = (probs * margins**2).sum(dim=1) - mean**2
        return (share @ mean).item(), (share @ variance).item()

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
        # Newton's step where it stays inside, the middle (of the logarithms) where it does not.
        following = newton if low < newton < high else math.sqrt(low * high)
        if abs(following - inverse) <= 1e-12 * inverse:
            break
        inverse = following
    return inverse


def _laplace_inverse(logits: Float[Tensor, "examples classes"]) -> float:
    """The 1 / T, from 1 up, at which mean confidence is (n + 1) / (n + 2)."""
    supported = (len(logits) + 1) / (len(logits) + 2)

    def confidence(inverse: float) -> float:
        return (inverse * logits).softmax(dim=1).amax(dim=1).mean().item()

    low, high = 1.0, 1 / COLDEST
    if confidence(low) >= supported:
        return low
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if confidence(middle) < supported else (low, middle)
    return low
