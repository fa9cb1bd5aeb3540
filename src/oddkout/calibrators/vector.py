"""Vector scaling: a scale and an offset for each class."""

import torch
import torch.nn.functional as F
from torch import Tensor

from oddkout.calibrators.calibrator import Calibrator, fitting_data
from oddkout.calibrators.temperature import TemperatureScaling
from oddkout.checks import Labels, Matrix, Number


class VectorScaling(Calibrator):
    """Multiply the logits of each class by a scale and add an offset (Guo et al., 2017).

    It can correct single classes and may change the predicted class. The negative log-likelihood
    is convex. A Gaussian prior, centred on the best single temperature and on offsets of 0, keeps
    the fit finite if the data are few, are separable, or lack a class.

    Args:
        spread: Standard deviation of that prior, for both scales and offsets.

    Example:
        >>> logits = torch.tensor([[0.0, 0.0]]).expand(1000, 2)
        >>> calibrator = VectorScaling().fit(logits, [0] * 900 + [1] * 100)
        >>> calibrator.predict_proba([[0.0, 0.0]]).round(2).tolist()
        [[0.9, 0.1]]
    """

    scale: Tensor
    offset: Tensor

    def __init__(self, *, spread: Number = 1.0) -> None:
        super().__init__()
        if not spread > 0:
            raise ValueError(f"spread must be a positive number, got {spread}")
        self.spread = spread
        self.register_buffer("scale", torch.ones(1, dtype=torch.float64))
        self.register_buffer("offset", torch.zeros(1, dtype=torch.float64))

    def fit(self, logits: Matrix, labels: Labels) -> "VectorScaling":
        """Fit scales and offsets to held-out examples by penalised maximum likelihood."""
        rows, classes = fitting_data(logits, labels)
        start = 1 / TemperatureScaling().fit(rows, classes).temperature
        scale = start.expand(rows.shape[1]).clone().requires_grad_()
        offset = torch.zeros_like(scale).requires_grad_()
        optimizer = torch.optim.LBFGS(
            [scale, offset],
            max_iter=500,
            tolerance_grad=1e-10,
            tolerance_change=1e-14,
            line_search_fn="strong_wolfe",
        )

        def objective() -> Tensor:
            distance = ((scale - start) ** 2).sum() + (offset**2).sum()
            fit = F.cross_entropy(rows * scale + offset, classes)
            return fit + distance / (2 * self.spread**2 * len(rows))

        def closure() -> float:
            optimizer.zero_grad()
            loss = objective()
            loss.backward()  # type: ignore[no-untyped-call]  # untyped in PyTorch
            return loss.item()

        with torch.enable_grad():
            optimizer.step(closure)  # type: ignore[no-untyped-call]  # untyped in PyTorch
        self.scale, self.offset = scale.detach(), offset.detach()
        return self

    def forward(self, logits: Tensor) -> Tensor:
        """Scale and shift the logits of each class."""
        return logits * self.scale.to(logits.dtype) + self.offset.to(logits.dtype)
