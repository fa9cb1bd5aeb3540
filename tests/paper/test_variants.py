"""Variants are recognised by their configs, and forward as many examples as others."""

from statistics import fmean

import pytest
import torch
from made_up import TEN_SHOT

from oddkout.comparing.config import RunConfig
from oddkout.fitting.budget import Budget
from oddkout.fitting.methods import METHODS
from oddkout.fitting.objective import Objective
from oddkout.paper.presets import PRESETS
from oddkout.paper.settings import Setting
from oddkout.paper.variants import VARIANTS, expected_distinct, variant_of


def test_every_variant_is_recognised_by_its_config():
    for setting in (TEN_SHOT, Setting("cifar100", "heavy-tailed", 40)):
        for name in VARIANTS:
            assert variant_of(PRESETS["paper"].config(setting, name)) == name
    odd = RunConfig(data="mnist", method="oko", k=4)
    assert variant_of(odd) == "oko (k=4, head=none, pool layout)"


@pytest.mark.parametrize("distribution", ["uniform", "heavy-tailed"])
def test_the_expected_number_of_distinct_examples_is_what_sets_hold(distribution):
    setting = Setting("mnist", distribution, 20)
    counts = [round(size) for size in setting.class_sizes]
    assert abs(sum(counts) - setting.examples) <= len(counts) / 2
    labels = torch.cat([torch.full((count,), row) for row, count in enumerate(counts)])
    budget = Budget(updates=1, examples=1, sets=64, layout="paper")
    objective = Objective(METHODS["oko"], labels, classes=10, budget=budget)
    seen = [len(objective.draw(update)[0]) for update in range(300)]
    assert fmean(seen) == pytest.approx(expected_distinct(setting, k=1, sets=64), abs=1)


@pytest.mark.parametrize("setting", [TEN_SHOT, Setting("fashion_mnist", "heavy-tailed", 1000)])
def test_the_papers_recipe_forwards_as_many_examples_as_all_others(setting):
    own = PRESETS["paper"].config(setting, "oko-paper")
    other = PRESETS["paper"].config(setting, "oko")
    assert own.layout == "paper"
    assert (own.sets, own.clip_value, own.clip_norm) == (64, 1.0, None)
    assert (own.head_weight, own.head_until, own.dropout) == (1.0, 0.0, 0.0)
    forwarded = own.updates * expected_distinct(setting, k=1, sets=64)
    assert forwarded == pytest.approx(other.updates * other.examples, rel=0.02)
