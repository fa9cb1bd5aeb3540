"""The recipe: what suits the number of examples, and what users may change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oddkout.fitting.recipe import Recipe, suited_to
from oddkout.paper.settings import Setting


@given(st.lists(st.integers(1, 500), min_size=1, max_size=20))
def test_examples_count_by_the_variance_of_a_mean_over_balanced_classes(sizes):
    """So many balanced examples as would give the mean over classes of noise the same variance."""
    variance = sum(1 / size for size in sizes) / len(sizes) ** 2
    ratio = max(1, 1 / variance / len(sizes) / 10)
    found = suited_to([*sizes, 0])
    assert found["weight_decay"] == pytest.approx(2e-3 / ratio, rel=0.01)
    assert found["head_weight"] == pytest.approx(2 / ratio, rel=0.01)
    assert found["updates"] == pytest.approx(600 * min(ratio, 2), rel=0.01)
    assert suited_to(reversed(sizes)) == suited_to(sizes)


@pytest.mark.parametrize(
    "sizes", [[10] * 10, [2, 3], Setting("mnist", "heavy-tailed", 50).class_sizes]
)
def test_few_examples_of_a_class_are_what_the_defaults_are_for(sizes):
    assert Recipe(**suited_to(sizes)) == Recipe()
