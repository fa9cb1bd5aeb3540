"""AUROC is that of scikit-learn, and the risk-coverage curve that of a slow loop."""

import pytest
import torch
from random_predictions import overconfident
from sklearn import metrics as sklearn_metrics

from oddkout import metrics


@pytest.mark.parametrize("seed", range(5))
def test_auroc_is_that_of_scikit_learn(seed):
    logits, labels = overconfident(seed=seed)
    probs = logits.softmax(dim=1)
    hits, confidence = probs.argmax(dim=1) == labels, probs.amax(dim=1)
    expected = sklearn_metrics.roc_auc_score(hits.numpy(), confidence.numpy())
    for given in ({"probs": probs}, {"logits": logits}):
        found = metrics.correctness_auroc(**given, labels=labels).item()
        assert found == pytest.approx(expected, abs=1e-6)


def test_auroc_counts_equal_confidences_half():
    probs = torch.rand(300, generator=torch.Generator().manual_seed(0)).mul(5).round().div(10) + 0.5
    probs = torch.stack([probs, 1 - probs], dim=1)
    labels = torch.arange(300) % 3 == 0
    hits = (probs.argmax(dim=1) == labels).numpy()
    expected = sklearn_metrics.roc_auc_score(hits, probs.amax(dim=1).numpy())
    found = metrics.correctness_auroc(probs, labels.long()).item()
    assert found == pytest.approx(expected, abs=1e-6)


def test_risk_coverage_equals_a_slow_loop():
    logits, labels = overconfident(examples=60)
    confidence, predicted = logits.softmax(dim=1).max(dim=1)
    order = confidence.argsort(descending=True)
    wrong = (predicted != labels)[order].double()
    risks = [wrong[: last + 1].mean().item() for last in range(60)]
    curve = metrics.risk_coverage(logits=logits, labels=labels)
    assert curve.risk.tolist() == pytest.approx(risks)
    assert curve.coverage.tolist() == pytest.approx([(last + 1) / 60 for last in range(60)])
    assert curve.area.item() == pytest.approx(sum(risks) / 60)
