"""Skill is measured against the log loss of constant predictions."""

import numpy as np
import pytest
from random_predictions import drawn
from sklearn.metrics import log_loss

from oddkout import metrics


def test_skill_is_that_of_two_log_losses_of_scikit_learn():
    logits, labels = drawn(200, 3)
    probs = logits.softmax(dim=1).numpy()
    for prior in (None, [0.7, 0.2, 0.1]):
        shares = np.bincount(labels) / 200 if prior is None else np.array(prior)
        guess = log_loss(labels, np.tile(shares, (200, 1)))
        expected = 1 - log_loss(labels, probs) / guess
        given = {"labels": labels, "prior": prior}
        assert metrics.log_loss_skill(logits, **given).item() == pytest.approx(expected)
        assert metrics.log_loss_skill(probs=probs, **given).item() == pytest.approx(expected)


def test_guessing_has_no_skill_and_the_labels_own_frequencies_are_hardest_to_beat():
    labels = [0] * 6 + [1] * 3 + [2]
    shares = np.array([0.6, 0.3, 0.1])
    assert metrics.log_loss_skill(probs=[shares] * 10, labels=labels).item() == pytest.approx(0)
    given = {"probs": [[0.5, 0.3, 0.2]] * 10, "labels": labels}
    hardest = metrics.log_loss_skill(**given).item()
    assert hardest < 0
    for other in ([0.4, 0.4, 0.2], [0.65, 0.25, 0.1]):
        assert metrics.log_loss_skill(**given, prior=other).item() > hardest


def test_labels_of_one_class_need_a_prior():
    probs = [[0.5, 0.5]] * 2
    assert metrics.log_loss_skill(probs=probs, labels=[0, 0]).isnan()
    skill = metrics.log_loss_skill(probs=probs, labels=[0, 0], prior=[0.25, 0.75])
    assert skill.item() == pytest.approx(0.5)
    with pytest.raises(ValueError, match="one frequency per class, 2, got 3"):
        metrics.log_loss_skill(probs=probs, labels=[0, 0], prior=[0.25, 0.25, 0.5])
