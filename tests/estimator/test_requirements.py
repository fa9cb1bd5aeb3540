"""Arguments and labels that the estimator refuses."""

import numpy as np
import pytest
from estimators import IRIS, quick
from sklearn.exceptions import NotFittedError


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"k": 3}, r"k=3 needs at least 4 classes, got 3 class.*lower k"),
        ({"method": "magic"}, "method must be one of 'vanilla'"),
        ({"max_updates": 0}, "max_updates must be at least 1, got 0"),
        ({"folds": -1}, "folds must be at least 0, got -1"),
        (
            {"folds": 0, "learning_rate": None, "method": "oko"},
            "choosing among 2 recipes.*needs folds",
        ),
        ({"random_state": -1}, "random_state must be at least 0, got -1"),
        ({"prior": "equal"}, "prior must be one of 'train', 'uniform', got 'equal'"),
        ({"prior": [0.5, 0.5]}, "one frequency for each of the 3 classes, got 2"),
        ({"views": "all"}, "views must be one of 'stack', 'single', got 'all'"),
        ({"learning_rate": -1.0}, "learning_rate must be above 0, got -1.0"),
        ({"module": "giant"}, "a model is one of auto"),
    ],
)
def test_settings_that_cannot_be_are_refused(changes, text):
    with pytest.raises(ValueError, match=text):
        quick(**changes).fit(*IRIS)


def test_data_that_cannot_be_are_refused():
    x, y = IRIS
    with pytest.raises(ValueError, match="weight of 2 would have to equal a repeated example"):
        quick().fit(x, y, sample_weight=np.ones(len(y)))
    with pytest.raises(ValueError, match="needs at least 2 classes, got 1 class"):
        quick().fit(x[:50], y[:50])
    with pytest.raises(NotFittedError):
        quick().predict(x)
