"""Rows that nearly equal others across the split are found, and chance is not."""

import numpy as np
import pandas as pd
import pytest

from oddkout import Data, doctor


def table(seed=0, rows=200):
    rng = np.random.default_rng(seed)
    x = pd.DataFrame(rng.normal(size=(rows, 6)).round(4)).add_prefix("m")
    return x.assign(ward=rng.choice(["n", "s"], rows), y=rng.choice(["a", "b"], rows))


def near(train, test):
    findings = doctor(train, target="y", test=test).findings
    return [f.text for f in findings if f.code == "near-duplicates"]


@pytest.mark.parametrize("change", ["number", "category", "noise"])
def test_second_records_are_found(change):
    train, test = table(), table(seed=1, rows=60)
    copied = train[:7].copy()
    if change == "number":
        copied["m3"] += 0.5
    elif change == "category":
        copied["ward"] = copied["ward"].map({"n": "s", "s": "n"})
    else:
        copied[[f"m{i}" for i in range(6)]] += 0.001
    [text] = near(train, pd.concat([test, copied], ignore_index=True))
    assert text.startswith("7 of 67 test examples nearly equal a training example")


def test_rows_that_differ_are_not():
    assert near(table(), table(seed=1, rows=60)) == []


def test_agreement_of_few_categories_is_chance():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 4, size=(300, 6))).add_prefix("c").astype(str)
    assert near(frame.assign(y=["a", "b"] * 150), frame[:60].assign(y=["a", "b"] * 30)) == []


def test_exact_copies_are_reported_as_such_alone():
    train = table()
    test = pd.concat([table(seed=1, rows=60), train[:5]], ignore_index=True)
    codes = [finding.code for finding in doctor(train, target="y", test=test).findings]
    assert codes == ["duplicates-across"]


def test_agreement_that_so_many_pairs_give_by_chance_is_no_copy():
    """60,000 pairs; 1 in 27,000 agrees in three columns of 30 values, about nine in all."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 30, size=(500, 4)).astype(np.float32)
    y = np.arange(500) % 2
    data = Data(name="d", x_train=x[:300], y_train=y[:300], x_test=x[300:], y_test=y[300:],
                classes=("a", "b"))  # fmt: skip
    assert "near-duplicates" not in {finding.code for finding in doctor(data).findings}
