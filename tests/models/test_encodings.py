"""Encodings of columns, against scikit-learn, scipy and numpy."""

import numpy as np
import pytest
import torch
from scipy.stats import norm, rankdata
from sklearn.preprocessing import StandardScaler

from oddkout.models import build_model
from oddkout.models.encodings import Encoding, EncodingPlan, encoded_network

NAN = float("nan")


def fitted(rows, name):
    x = torch.as_tensor(rows, dtype=torch.float32)
    return Encoding(EncodingPlan.of(x, name=name)).fit(x)


def skewed(rows=200, columns=3):
    return np.random.default_rng(0).lognormal(size=(rows, columns)).astype(np.float32)


def test_standard_is_that_of_scikit_learn():
    x = skewed()
    expected = StandardScaler().fit_transform(x)
    np.testing.assert_allclose(fitted(x, "standard")(torch.tensor(x)), expected, atol=1e-5)


def test_codes_say_how_much_of_a_bin_lies_below():
    x = skewed()
    encoding = fitted(x, "piecewise")
    codes = encoding(torch.tensor(x))[:, 3:].view(200, 3, 8).numpy()
    edges = np.quantile(x, np.linspace(0, 1, 9), axis=0)
    for column in range(3):
        for row in range(0, 200, 17):
            for number in range(8):
                low, high = edges[number, column], edges[number + 1, column]
                share = np.clip((x[row, column] - low) / (high - low), 0, 1)
                assert codes[row, column, number] == pytest.approx(share, abs=1e-4)


def test_scores_are_those_of_ranks():
    x = skewed(5000, 1)
    scores = fitted(x, "normal")(torch.tensor(x))[:, 0].numpy()
    expected = norm.ppf((rankdata(x[:, 0]) - 0.5) / 5000)
    is_usual = np.abs(expected) < 2
    np.testing.assert_allclose(scores[is_usual], expected[is_usual], atol=0.05)
    assert np.abs(scores).max() <= 3.0001
    assert (np.diff(scores[np.argsort(x[:, 0])]) >= 0).all()


def test_equal_cells_share_the_middle_of_their_ranks():
    x = np.repeat([[0.0], [1.0], [2.0]], [30, 40, 30], axis=0)
    scores = fitted(x, "normal")(torch.tensor([[0.0], [1.0], [2.0]]))[:, 0]
    np.testing.assert_allclose(scores, norm.ppf([0.15, 0.5, 0.85]), atol=1e-5)


@pytest.mark.parametrize("name", ["standard", "piecewise", "normal"])
def test_missing_cells_become_medians_with_an_indicator(name):
    rows = torch.tensor([[1.0, 5.0], [2.0, 6.0], [4.0, 7.0], [NAN, 8.0], [9.0, 2.0]])
    encoding = fitted(rows, name)
    assert encoding.plan.missing == (0,)
    encoded = encoding(rows)
    assert encoded.shape == (5, encoding.plan.features)
    assert encoded[:, -1].tolist() == [0, 0, 0, 1, 0]
    filled = encoding(torch.tensor([[2.0, 8.0]]))  # the lower median of 1, 2, 4, 9
    assert torch.equal(encoded[3, :-1], filled[0, :-1])


@pytest.mark.parametrize("name", ["standard", "piecewise", "normal"])
def test_a_column_that_is_constant_in_the_training_rows_has_no_effect(name):
    everything = torch.tensor([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 1.0], [5.0, 2.0]])
    plan = EncodingPlan.of(everything, name=name)
    encoding = Encoding(plan).fit(everything[:3])
    first, second = encoding(torch.tensor([[1.0, 0.0], [1.0, 2.0]]))
    assert torch.equal(first, second)


def test_an_extreme_cell_leaves_all_features_finite():
    x = skewed()
    for name in ("standard", "piecewise", "normal"):
        encoded = fitted(x, name)(torch.tensor([[1e30, -1e30, NAN]]))
        assert encoded.isfinite().all()
        assert encoded.abs().max() <= 100


def test_a_plan_survives_a_card_and_names_its_columns():
    rows = torch.tensor([[0.0, 1.0, NAN], [1.0, 2.0, 3.0], [0.0, 3.0, 4.0], [1.0, 9.0, 5.0]])
    plan = EncodingPlan.of(rows, name="piecewise")
    assert (plan.coded, plan.missing, plan.features) == ((1, 2), (2,), 3 + 16 + 1)
    assert EncodingPlan.from_dict(plan.to_dict()) == plan
    with pytest.raises(ValueError, match=r"must lie in 0 \.\. 1, got \(2,\)"):
        EncodingPlan(name="normal", columns=2, coded=(2,))


def test_a_network_sees_encoded_rows():
    x = torch.tensor(skewed())
    encoding = fitted(x, "piecewise")
    shape = (encoding.plan.features,)
    network = build_model("mlp-small", shape=shape, classes=4, generator=torch.Generator())
    both = encoded_network(encoding, network)
    assert torch.equal(both(x), network(encoding(x)))
    assert isinstance(next(both.children()), Encoding)
    assert network(encoding(x)).softmax(dim=1).std() < 0.05, "first predictions are almost equal"
