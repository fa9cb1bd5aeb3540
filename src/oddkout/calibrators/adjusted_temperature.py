"""Temperature and strength of prior adjustment, fitted together."""

import math
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from oddkout.calibrators.calibrator import Calibrator, fitting_data
from oddkout.calibrators.temperature import (
    COLDEST,
    HOTTEST,
    TemperatureScaling,
    example_weights,
    fitting_prior,
)
from oddkout.checks import Labels, Matrix, Number, Prior, frequencies

# Pseudo-examples behind the defaults T = 1 and strength = 0. A class with five examples then cannot
# move the fit far; a few hundred examples outweigh it.
WEIGHT_OF_DEFAULTS = 3.0

# Limit of a fitted strength.
STRONGEST = 5.0


class AdjustedTemperature(Calibrator):
    """Divide logits by a temperature T, then subtract ``strength`` times the log class frequencies.

    Networks favour the frequent classes of their training data, even after balanced training. A
    positive strength takes this preference back; 1 is the logit adjustment of Menon et al. (ICLR
    2021). For equally frequent classes the strength has no effect and stays 0.

    Both numbers maximise the likelihood of held-out examples times a weak prior: the total
    log-likelihood of n examples is reduced by 3 (log T)^2 + 3 strength^2. So a fit to few examples
    stays near T = 1 and strength = 0, and the likelihood of a fit is never below that of no fit.

    Args:
        class_frequencies: Those of the training data.
        temperature: Above 1 softens the predictions, below 1 sharpens them.
        strength: Multiple of the log frequencies that is subtracted.
        shift: Added to the logits after the temperature, for each class; 0 if not given.

    Example:
        The second class is predicted for half of its examples only, and is nine times as rare.

        >>> logits = [[1.0, 0.0]] * 90 + [[1.0, 0.0]] * 5 + [[0.0, 1.0]] * 5
        >>> fit = AdjustedTemperature([0.9, 0.1]).fit(logits, [0] * 90 + [1] * 10, is_balanced=True)
        >>> 0 < fit.strength.item() < 1
        True
    """

    log_frequencies: Tensor
    temperature: Tensor
    strength: Tensor
    shift: Tensor

    def __init__(
        self,
        class_frequencies: Prior,
        *,
        temperature: Number = 1.0,
        strength: Number = 0.0,
        shift: Any = None,
    ) -> None:
        super().__init__()
        TemperatureScaling(temperature)  # raises for an invalid temperature
        if not math.isfinite(strength):
            raise ValueError(f"strength must be a finite number, got {strength}")
        log = frequencies("class_frequencies", class_frequencies).log()
        self.register_buffer("log_frequencies", log - log.mean())
        self.register_buffer("temperature", torch.tensor(float(temperature), dtype=torch.float64))
        self.register_buffer("strength", torch.tensor(float(strength), dtype=torch.float64))
        given = torch.zeros(()) if shift is None else torch.as_tensor(shift)
        self.register_buffer("shift", given.double())

    def fit(
        self,
        logits: Matrix,
        labels: Labels,
        *,
        is_balanced: bool = False,
        prior: Prior = None,
        has_strength: bool = True,
    ) -> "AdjustedTemperature":
        """Fit temperature and strength to held-out examples.

        Args:
            logits: Logits of held-out examples.
            labels: Their classes.
            is_balanced: Whether all classes weigh the same, whatever their number of examples.
                Use it for a model that will meet all classes equally often.
            prior: Class frequencies that the model will meet; by default those of the labels.
            has_strength: Whether to fit the strength, too; otherwise it is 0.
        """
        from scipy.optimize import minimize

        rows, classes = fitting_data(logits, labels)
        if rows.shape[1] != len(self.log_frequencies):
            raise ValueError(
                f"class_frequencies must be of the {rows.shape[1]} classes of the logits, got "
                f"{len(self.log_frequencies)}"
            )
        weights = example_weights(
            classes, fitting_prior(prior, is_balanced=is_balanced, classes=rows.shape[1])
        )
        scale = WEIGHT_OF_DEFAULTS / len(rows)
        # With equal frequencies the strength has no effect.
        has_strength = has_strength and bool(self.log_frequencies.abs().max() > 1e-12)

        def objective(point: np.ndarray) -> tuple[float, np.ndarray]:
            inverse, strength = math.exp(-point[0]), float(point[1])
            scaled = inverse * rows
            log_probs = F.log_softmax(scaled + self.shift - strength * self.log_frequencies, dim=1)
            residual = log_probs.exp()
            residual[torch.arange(len(rows)), classes] -= 1
            loss = -(weights @ log_probs.gather(1, classes[:, None])[:, 0]).item()
            loss += scale * (point[0] ** 2 + strength**2)
            by_log = -(weights @ (residual * scaled).sum(dim=1)).item() + 2 * scale * point[0]
            by_strength = -(weights @ (residual @ self.log_frequencies)).item()
            by_strength += 2 * scale * strength
            return loss, np.array([by_log, by_strength if has_strength else 0.0])

        limits = [(math.log(COLDEST), math.log(HOTTEST)), (-STRONGEST, STRONGEST)]
        found = minimize(
            objective,
            np.zeros(2),
            jac=True,
            bounds=limits,
            method="L-BFGS-B",
            options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 500},
        )
        self.temperature.fill_(math.exp(found.x[0]))
        self.strength.fill_(found.x[1] if has_strength else 0.0)
        return self

    def forward(self, logits: Tensor) -> Float[Tensor, "*examples classes"]:
        """Divide by the temperature and adjust for the class frequencies."""
        offset = self.shift - self.strength * self.log_frequencies
        return logits / self.temperature.to(logits.dtype) + offset.to(logits.dtype)

    def extra_repr(self) -> str:
        """Show both numbers when PyTorch prints the module."""
        return f"temperature={self.temperature.item():.4g}, strength={self.strength.item():.4g}"
