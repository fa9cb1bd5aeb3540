"""A forest as tensors, against the forest of scikit-learn that it holds."""

import numpy as np
import pytest
import torch
from sklearn.datasets import load_iris
from sklearn.ensemble import ExtraTreesClassifier

from oddkout.models.forest import Forest


def iris():
    x, y = load_iris(return_X_y=True)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y)


def test_votes_are_those_of_scikit_learn_with_half_a_vote_for_all_classes():
    x, y = iris()
    forest = Forest(4).fit(x[::2], y[::2], seed=3)  # no example has class 3
    grown = ExtraTreesClassifier(50, random_state=3).fit(x[::2].numpy(), y[::2].numpy())
    votes = np.pad(grown.predict_proba(x.numpy()), ((0, 0), (0, 1)))
    expected = (50 * votes + 0.5 / 4) / 50.5
    np.testing.assert_allclose(forest(x).exp(), expected, atol=1e-6)


def test_leaves_of_many_rows_are_those_of_scikit_learn():
    source = torch.Generator().manual_seed(0)
    x = torch.randn(2100, 5, generator=source)
    y = (x[:, 0] + torch.randn(2100, generator=source) > 0).long()
    grown = ExtraTreesClassifier(50, min_samples_leaf=2, random_state=7).fit(x.numpy(), y.numpy())
    expected = (50 * grown.predict_proba(x.numpy()) + 0.25) / 50.5
    np.testing.assert_allclose(Forest(2).fit(x, y, seed=7)(x).exp(), expected, atol=1e-6)


def test_trees_of_any_size_can_be_loaded():
    x, y = iris()
    forest = Forest(3).fit(x, y, seed=0)
    other = Forest(3)
    other.load_state_dict(forest.state_dict())
    assert torch.equal(other(x), forest(x))
    assert Forest(3)(x).exp().allclose(torch.full((150, 3), 1 / 3)), "without trees"


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("left", lambda left: torch.zeros_like(left)),  # a cycle
        ("right", lambda right: right + 10**6),
        ("leaf", lambda leaf: leaf - 1),
        ("roots", lambda roots: roots + 10**6),
        ("value", lambda value: value[:, :2]),
        ("threshold", lambda threshold: threshold[:-1]),
    ],
)
def test_files_that_hold_no_trees_are_refused(name, change):
    x, y = iris()
    state = Forest(3).fit(x, y, seed=0).state_dict()
    with pytest.raises(ValueError, match="nodes whose children follow them"):
        Forest(3).load_state_dict(state | {name: change(state[name])})
