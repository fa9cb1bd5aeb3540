"""Classifiers of other libraries: log-probabilities, and files without pickle."""

import numpy as np
import pytest
import skops.io
import torch
from rivals import Constant

from oddkout.comparing.contestants import (
    Guess,
)
from oddkout.models.foreign import (
    LEAST,
    ForeignModel,
    load_foreign,
    log_probabilities,
    save_foreign,
)


def test_classes_that_a_classifier_has_not_seen_and_zeros_get_a_floor():
    model = Constant(row=[1.0, 0.0]).fit(np.zeros((3, 1)), np.array([0, 2, 2]))
    logits = log_probabilities(model, np.zeros((2, 1)), classes=3)
    np.testing.assert_allclose(logits.exp(), [[1, LEAST, LEAST]] * 2, rtol=1e-5)


def test_guessing_can_be_saved_too(tmp_path):
    model = ForeignModel(Guess().fit(np.zeros((3, 1)), np.array([0, 1, 1])), classes=2)
    save_foreign(model, tmp_path / "model.skops")
    read = load_foreign(tmp_path / "model.skops", classes=2)
    assert read(torch.zeros(1, 1)).exp()[0].tolist() == pytest.approx([1 / 3, 2 / 3])


def test_a_file_that_names_code_is_refused(tmp_path):
    """A classifier of a type that skops does not know is neither written nor read."""
    fitted = Constant().fit(np.zeros((3, 1)), np.array([0, 1, 1]))
    with pytest.raises(ValueError, match=r"could run code when it is read, \[rivals.Constant\]"):
        save_foreign(ForeignModel(fitted, classes=2), tmp_path / "model.skops")
    assert not list(tmp_path.iterdir())
    skops.io.dump(fitted, tmp_path / "planted.skops")
    with pytest.raises(ValueError, match="does not hold a classifier that can be trusted"):
        load_foreign(tmp_path / "planted.skops", classes=2)
