"""Entropies are those of closed forms, and obey the lemmas of the paper."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from random_predictions import overconfident
from sklearn import metrics as sklearn_metrics

from oddkout import metrics


@pytest.mark.parametrize("seed", range(5))
def test_the_likelihood_is_that_of_scikit_learn(seed):
    logits, labels = overconfident(seed=seed)
    probs = logits.softmax(dim=1)
    expected = sklearn_metrics.log_loss(labels.numpy(), probs.numpy())
    for form in ({"probs": probs}, {"logits": logits}):
        found = metrics.negative_log_likelihood(**form, labels=labels).item()
        assert found == pytest.approx(expected, abs=1e-6)


@settings(max_examples=200, deadline=None)
@given(
    logits=st.lists(st.floats(-30, 30), min_size=2, max_size=8),
    label=st.integers(min_value=0, max_value=7),
)
def test_rc_is_not_negative_where_the_true_class_is_unlikely(logits, label):
    """Lemma 1 of the paper."""
    label %= len(logits)
    row = torch.tensor([logits], dtype=torch.float64)
    if row.softmax(dim=1)[0, label] <= 1 / len(logits):
        assert metrics.relative_cross_entropy(row, [label]).item() >= -1e-12
    probs = row.softmax(dim=1)
    slow = -math.fsum(p * math.log(p) for p in probs[0].tolist())
    assert metrics.entropy(row).item() == pytest.approx(slow, abs=1e-9)
    found = metrics.relative_cross_entropy(probs=probs, labels=[label]).item()
    assert found == pytest.approx(-math.log(probs[0, label]) - slow, abs=1e-9)


def test_rc_is_zero_on_average_for_labels_drawn_from_the_predictions():
    """Lemma 2 of the paper, within four standard errors."""
    generator = torch.Generator().manual_seed(0)
    logits = 2 * torch.randn(50_000, 10, generator=generator, dtype=torch.float64)
    labels = logits.softmax(dim=1).multinomial(1, generator=generator)[:, 0]
    relative = metrics.relative_cross_entropy(logits, labels)
    assert abs(relative.mean().item()) < 4 * relative.std().item() / math.sqrt(50_000)
    gap = metrics.entropy_gap(logits, labels).item()
    assert gap == pytest.approx(abs(relative.mean().item()))


def test_rc_is_infinite_and_never_nan_at_probability_zero():
    probs = torch.tensor([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]])
    assert metrics.relative_cross_entropy(probs=probs, labels=[1, 2]).tolist() == [math.inf] * 2
    relative = metrics.relative_cross_entropy(probs=probs, labels=[0, 0])
    assert relative.tolist() == pytest.approx([0.0, 0.0], abs=1e-7)
    assert metrics.entropy(probs=probs).tolist() == pytest.approx([0.0, math.log(2)])
