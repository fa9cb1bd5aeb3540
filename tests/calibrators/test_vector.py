"""Planted scales and offsets are recovered."""

import pytest
import torch
import torch.nn.functional as F
from random_predictions import sharp

from oddkout.calibrators import (
    TemperatureScaling,
    VectorScaling,
)


def test_vector_scaling_recovers_planted_factors_and_offsets():
    logits, _ = sharp(40_000, 3)
    scale, offset = torch.tensor([0.5, 0.8, 0.3]), torch.tensor([0.4, 0.0, -0.4])
    source = torch.Generator().manual_seed(3)
    labels = (logits * scale + offset).softmax(dim=1).multinomial(1, generator=source)[:, 0]
    calibrator = VectorScaling().fit(logits, labels)
    torch.testing.assert_close(calibrator.scale, scale.double(), atol=0.03, rtol=0)
    found = calibrator.offset - calibrator.offset.mean()
    torch.testing.assert_close(found, offset.double(), atol=0.05, rtol=0)
    plain = TemperatureScaling().fit(logits, labels)
    assert F.cross_entropy(calibrator(logits), labels) < F.cross_entropy(plain(logits), labels)


def test_a_spread_of_0_is_refused():
    with pytest.raises(ValueError, match="spread must be a positive number"):
        VectorScaling(spread=0)
