"""The Brier score is that of scikit-learn, and its parts add up."""

import numpy as np
import pytest
import torch
from random_predictions import overconfident
from sklearn import metrics as sklearn_metrics

from oddkout import metrics


@pytest.mark.parametrize("seed", range(5))
def test_the_score_is_that_of_scikit_learn(seed):
    logits, labels = overconfident(seed=seed)
    probs = logits.softmax(dim=1)
    one_hot = np.eye(5)[labels.numpy()]
    expected = 5 * sklearn_metrics.mean_squared_error(one_hot, probs.numpy())
    for given in ({"probs": probs}, {"logits": logits}):
        found = metrics.brier_score(**given, labels=labels).item()
        assert found == pytest.approx(expected, abs=1e-6)


def test_the_parts_of_the_brier_score_add_up():
    logits, labels = overconfident()
    parts = metrics.brier_decomposition(logits=logits, labels=labels)
    whole = metrics.brier_score(logits=logits, labels=labels)
    added = parts.uncertainty - parts.resolution + parts.reliability + parts.within_bins
    assert added.item() == pytest.approx(whole.item())
    # With one distinct probability in a bin nothing remains within it: Murphy's own identity.
    coarse = torch.tensor([[0.1, 0.9], [0.3, 0.7], [0.6, 0.4], [0.8, 0.2]], dtype=torch.float64)
    probs = coarse.repeat(25, 1)
    labels = torch.arange(100) % 7 < 3
    parts = metrics.brier_decomposition(probs, labels.long(), bins=20)
    assert parts.within_bins.item() == pytest.approx(0, abs=1e-12)
    slow = 0.0
    for row in range(4):
        share = labels[row::4].double().mean()
        slow += 2 * (coarse[row, 1] - share).item() ** 2 / 4
    assert parts.reliability.item() == pytest.approx(slow)
    base = labels.double().mean().item()
    assert parts.uncertainty.item() == pytest.approx(2 * base * (1 - base))
