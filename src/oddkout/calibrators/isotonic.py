"""Isotonic calibration: a monotone map from probability to frequency for each class."""

import torch
from torch import Tensor

from oddkout.calibrators.calibrator import Calibrator, fitting_data
from oddkout.checks import Labels, Matrix

# Isotonic regression can return 0, but no finite sample shows that a class is impossible.
_FLOOR = 1e-6


class IsotonicCalibration(Calibrator):
    """Map each class's probability by scikit-learn's isotonic regression, then normalise.

    It needs a few hundred examples of each class and may change the predicted class. The map is
    linear between the fitted points and constant outside them. No probability falls below 1e-6
    before normalisation.

    Example:
        Of 10 examples predicted with 0.8, only half belong to class 0.

        >>> logits = torch.tensor([[0.8, 0.2]]).log().expand(10, 2)
        >>> calibrator = IsotonicCalibration().fit(logits, [0, 1] * 5)
        >>> calibrator.predict_proba(logits)[0].tolist()
        [0.5, 0.5]
    """

    knots: Tensor
    levels: Tensor

    def __init__(self) -> None:
        super().__init__()
        # Before fitting: the identity on [0, 1], for any number of classes.
        self.register_buffer("knots", torch.tensor([[0.0, 1.0]], dtype=torch.float64))
        self.register_buffer("levels", torch.tensor([[0.0, 1.0]], dtype=torch.float64))

    def fit(self, logits: Matrix, labels: Labels) -> "IsotonicCalibration":
        """Fit the map of each class to held-out examples."""
        from sklearn.isotonic import IsotonicRegression

        rows, classes = fitting_data(logits, labels)
        probs = rows.softmax(dim=1).numpy()
        knots, levels = [], []
        for column in range(rows.shape[1]):
            is_class = (classes == column).double().numpy()
            curve = IsotonicRegression(y_min=0, y_max=1).fit(probs[:, column], is_class)
            knots.append(torch.from_numpy(curve.X_thresholds_))
            levels.append(torch.from_numpy(curve.y_thresholds_))
        self.knots, self.levels = _padded(knots), _padded(levels)
        return self

    def forward(self, logits: Tensor) -> Tensor:
        """Log of the mapped probabilities; the softmax normalises them."""
        probs = logits.softmax(dim=1).double().T.contiguous()
        knots = self.knots.expand(len(probs), -1).contiguous()
        levels = self.levels.expand(len(probs), -1)
        after = torch.searchsorted(knots, probs).clamp(1, knots.shape[1] - 1)
        left, right = knots.gather(1, after - 1), knots.gather(1, after)
        low, high = levels.gather(1, after - 1), levels.gather(1, after)
        # Padding repeats the last knot; the width there is 0 and must not divide by 0.
        width = (right - left).clamp_min(torch.finfo(torch.float64).tiny)
        share = ((probs - left) / width).clamp(0, 1)
        mapped = (low + share * (high - low)).clamp_min(_FLOOR).T
        return mapped.log().to(logits.dtype)


def _padded(curves: list[Tensor]) -> Tensor:
    """Stack curves of different lengths, each padded with its last value."""
    longest = max(2, *map(len, curves))
    return torch.stack([torch.cat([c, c[-1:].expand(longest - len(c))]) for c in curves])
