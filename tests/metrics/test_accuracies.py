"""Accuracies are those of scikit-learn."""

import numpy as np
import pytest
from random_predictions import overconfident
from sklearn import metrics as sklearn_metrics

from oddkout import metrics


@pytest.mark.parametrize("seed", range(5))
def test_accuracies_are_those_of_scikit_learn(seed):
    logits, labels = overconfident(seed=seed)
    probs = logits.softmax(dim=1)
    y, predicted = labels.numpy(), probs.argmax(dim=1).numpy()
    accuracy = sklearn_metrics.accuracy_score(y, predicted)
    balanced = sklearn_metrics.balanced_accuracy_score(y, predicted)
    for given in ({"probs": probs}, {"logits": logits}):
        assert metrics.accuracy(**given, labels=labels).item() == pytest.approx(accuracy)
        found = metrics.balanced_accuracy(**given, labels=labels).item()
        assert found == pytest.approx(balanced, abs=1e-6)
    recalls = sklearn_metrics.recall_score(y, predicted, average=None)
    assert metrics.per_class_accuracy(probs, y).tolist() == pytest.approx(recalls.tolist())


def test_of_equal_probabilities_the_first_is_the_prediction():
    assert metrics.accuracy([[0.5, 0.5], [0.5, 0.5]], [0, 1]).item() == 0.5


def test_groups_of_classes_are_thirds_by_training_frequency():
    train = np.repeat(np.arange(8), [5, 80, 10, 40, 20, 1, 2, 60])
    groups = metrics.frequency_groups(train, classes=8)
    found = {name: members.tolist() for name, members in groups.items()}
    assert found == {"head": [1, 7], "middle": [0, 2, 3, 4], "tail": [5, 6]}


def test_groups_are_refused_where_there_are_none():
    with pytest.raises(ValueError, match="at least 3 classes, got 2"):
        metrics.frequency_groups([0, 1], classes=2)
    with pytest.raises(ValueError, match=r"0 \.\. 2, got 0 \.\. 5"):
        metrics.frequency_groups([0, 5], classes=3)
