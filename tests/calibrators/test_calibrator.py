"""Every calibrator survives thin data, takes arrays, and keeps plain state."""

import numpy as np
import pytest
import torch
from random_predictions import sharp
from torch import nn

from oddkout.calibrators import (
    IsotonicCalibration,
    PriorCorrection,
    TemperatureScaling,
    VectorScaling,
)

FITTED = [TemperatureScaling, VectorScaling, IsotonicCalibration, PriorCorrection]


@pytest.mark.parametrize("kind", FITTED)
@pytest.mark.parametrize("examples", [10, 300])
def test_thin_data_and_a_missing_class_give_finite_distributions(kind, examples):
    logits, labels = sharp(examples, 4)
    labels[labels == 3] = 0
    for classes in (labels, logits[:, :3].argmax(dim=1)):  # the second is nearly separable
        calibrator = kind().fit(logits, classes)
        probs = calibrator.predict_proba(logits)
        assert probs.isfinite().all()
        torch.testing.assert_close(probs.sum(dim=1), torch.ones(examples, dtype=torch.float64))
        assert (probs > 0).all()


@pytest.mark.parametrize("kind", FITTED)
def test_arrays_in_arrays_out_and_a_module_on_logits(kind):
    logits, labels = sharp(400, 3, temperature=2.0)
    calibrator = kind().fit(logits.numpy(), labels.tolist())
    probs = calibrator.predict_proba(logits.numpy())
    assert isinstance(probs, np.ndarray)
    from_module = nn.Sequential(nn.Identity(), calibrator)(logits).softmax(dim=1)
    torch.testing.assert_close(torch.from_numpy(probs), from_module)
    assert calibrator(logits.float()).dtype == torch.float32
    assert isinstance(calibrator.predict_proba(logits.float()), torch.Tensor)


@pytest.mark.parametrize("kind", FITTED)
def test_the_state_is_plain_tensors_that_safetensors_keeps(kind, tmp_path):
    from safetensors.torch import load_file, save_file

    logits, labels = sharp(400, 3, temperature=2.0)
    calibrator = kind().fit(logits, labels)
    save_file(calibrator.state_dict(), tmp_path / "state.safetensors")
    state = load_file(tmp_path / "state.safetensors")
    twin = kind()
    for name, value in state.items():
        setattr(twin, name, value)
    torch.testing.assert_close(twin(logits), calibrator(logits))
