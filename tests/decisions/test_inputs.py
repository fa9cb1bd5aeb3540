"""Checked inputs: class frequencies by Bayes' rule, names and numbers."""

import numpy as np
import pytest

from oddkout.decisions.inputs import PriorShift, codes, named, percent, probabilities


def test_a_shift_moves_probabilities_by_bayes_rule_and_weighs_classes():
    labels = np.repeat([0, 1], [80, 20])
    shift = PriorShift(labels, classes=2, prior=[0.5, 0.5])
    np.testing.assert_allclose(shift.weights, [0.625, 2.5])
    np.testing.assert_allclose(shift.moved(np.array([[0.8, 0.2]])), [[0.5, 0.5]])
    trained = PriorShift(labels, classes=2, prior=[0.5, 0.5], train_prior=[0.9, 0.1])
    np.testing.assert_allclose(trained.moved(np.array([[0.9, 0.1]])), [[0.5, 0.5]])
    np.testing.assert_allclose(trained.weights, [0.625, 2.5], err_msg="these follow the labels")


def test_probabilities_are_normalised_in_double_precision():
    rows = probabilities(probs=np.array([[0.3334, 0.3333, 0.3333]], np.float32))
    assert rows.dtype == np.float64
    assert rows.sum() == pytest.approx(1, abs=1e-15)
    np.testing.assert_allclose(probabilities([[0.0, 0.0]]), [[0.5, 0.5]])


def test_names_and_codes():
    assert named(None, 2) == ("0", "1")
    assert codes("groups", np.array([7, 3, 7]), examples=3).tolist() == [1, 0, 1]
    assert percent(0.05) == "5 %"
