"""The cost of runs, spent and estimated."""

from dataclasses import replace

import pytest
from made_up import TEN_SHOT, made_up

from oddkout.paper import cost
from oddkout.paper.settings import Setting


def test_a_shared_training_is_counted_once():
    together = [made_up(TEN_SHOT, name) for name in ("bb", "bb+ts", "oko")]
    assert cost.spent_seconds(together) == pytest.approx(2 * (10 + 2))
    together[0].seconds["cpu"] = together[1].seconds["cpu"] = 35.0
    assert cost.spent_seconds(together) == pytest.approx(35 + 12)


def test_an_estimate_counts_what_is_forwarded(monkeypatch):
    """A training example takes 1 ms, a test example 0.1 ms, an evaluation half a second."""
    monkeypatch.setattr(cost, "_measured", lambda *arguments: (1e-3, 1e-4))
    one = made_up(TEN_SHOT, "bb").config
    assert cost.estimated_seconds([one]) == pytest.approx(12 + 1 + 0.5)
    both = [one, replace(one, method="bb+ts")]
    assert cost.estimated_seconds(both) == pytest.approx(12 + 1 + 2 * 0.5), "trained once"
    choosing = replace(one, folds=5, members="folds")
    assert cost.estimated_seconds([choosing]) == pytest.approx(4 * 12), "no test part"
    held_out = replace(choosing, folds=1)
    assert cost.estimated_seconds([held_out]) == pytest.approx(0.9 * 12)
    large = made_up(Setting("mnist", "uniform", 500), "bb").config
    assert cost.estimated_seconds([large]) == pytest.approx(828 * 0.1 + 1.5)
