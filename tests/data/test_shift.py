"""Other class frequencies of a test part are noticed, and chance is not."""

import math
from dataclasses import replace

import numpy as np
import pytest

from oddkout import Data
from oddkout.data.shift import class_shift, shift_p_value


def hypergeometric_p_value(train, test):
    """By enumeration: all divisions of two classes that are as improbable in chi-square."""
    n, ill = sum(train) + sum(test), train[1] + test[1]
    size = sum(test)

    def distance(k):
        return abs(k / size - ill / n)

    def probability(k):
        return math.comb(ill, k) * math.comb(n - ill, size - k) / math.comb(n, size)

    possible = range(max(0, size - (n - ill)), min(ill, size) + 1)
    return sum(probability(k) for k in possible if distance(k) >= distance(test[1]) - 1e-12)


@pytest.mark.parametrize(
    ("train", "test"), [((90, 10), (16, 4)), ((40, 40), (5, 15)), ((30, 3), (10, 3))]
)
def test_p_values_are_exact_up_to_the_draws(train, test):
    exact = hypergeometric_p_value(train, test)
    estimate = shift_p_value(np.array(train), np.array(test), draws=40_000)
    assert estimate == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 40_000) + 1e-4)


def test_chance_is_reported_as_often_as_it_should():
    rng = np.random.default_rng(0)
    p_values = [
        shift_p_value(rng.multinomial(200, [0.7, 0.2, 0.1]), rng.multinomial(50, [0.7, 0.2, 0.1]),
                      draws=499)
        for _ in range(400)
    ]  # fmt: skip
    rejected = np.mean(np.array(p_values) < 0.05)
    assert 0.02 < rejected < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)


def parts(train, test, **changes):
    y_train, y_test = (np.repeat(np.arange(len(part)), part) for part in (train, test))
    values = {"name": "d", "x_train": np.zeros((len(y_train), 1)), "y_train": y_train,
              "x_test": np.zeros((len(y_test), 1)), "y_test": y_test,
              "classes": ("well", "ill")}  # fmt: skip
    return Data(**values | changes)


def test_a_balanced_test_part_of_imbalanced_data_asks_for_a_uniform_prior():
    shift = class_shift(parts((180, 20), (50, 50)))
    assert shift.prior == "uniform"
    assert "'well' has 50.0% instead of 90.0%, p = 0.0001)" in shift.text
    assert "pass --prior uniform for equally frequent classes" in shift.text
    assert class_shift(parts((180, 20), (30, 70))).prior == "0.3,0.7"
    assert class_shift(parts((180, 20), (88, 12))) is None
    assert class_shift(parts((180, 20), (0, 0))) is None


def test_a_part_that_we_split_off_is_no_surprise():
    data = parts((180, 20), (50, 50))
    assert class_shift(replace(data, test_rows=np.arange(100))) is None


def test_groups_count_as_one():
    """Ten patients of the test part, all of one class, are ten and not a hundred."""
    groups = {"train_groups": np.repeat(np.arange(20), 10), "test_groups": np.repeat([0, 1], 50)}
    data = parts((100, 100), (75, 25), **groups)
    assert class_shift(replace(data, train_groups=None, test_groups=None)) is not None
    assert class_shift(data) is None
    groups = {"train_groups": np.arange(200), "test_groups": np.arange(100)}
    assert class_shift(parts((100, 100), (80, 20), **groups)) is not None
