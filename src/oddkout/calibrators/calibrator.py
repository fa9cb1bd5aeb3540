"""The base class of calibrators."""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from oddkout.checks import Labels, Matrix, finite_logits, matching_labels, prediction_matrix


class Calibrator(nn.Module):
    """A module that maps logits to calibrated logits.

    All state is in buffers. Append it to a model with ``nn.Sequential(model, calibrator)``, or call
    ``predict_proba`` on arrays of logits.
    """

    def predict_proba(self, logits: Matrix) -> Any:
        """Calibrated probabilities: a tensor if the logits are a tensor, else an array."""
        rows = finite_logits(prediction_matrix("logits", logits))
        with torch.no_grad():
            probs: Tensor = self(rows).softmax(dim=1)
        return probs if isinstance(logits, Tensor) else np.asarray(probs)


def fitting_data(
    logits: Matrix, labels: Labels
) -> tuple[Float[Tensor, "examples classes"], Int[Tensor, " examples"]]:
    """Checked logits, in double precision, and labels; both on the CPU."""
    rows = finite_logits(prediction_matrix("logits", logits)).cpu().double()
    return rows, matching_labels(labels, examples=len(rows), classes=rows.shape[1]).cpu()
