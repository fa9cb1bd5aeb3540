"""Figures of the theory draw the numbers they are given."""

import torch

from oddkout.paper.theory.divergence import toy_path
from oddkout.paper.theory.pools import LayoutVariances


def test_figures_show_the_numbers_they_are_given():
    from matplotlib.figure import Figure

    from oddkout.paper.theory import figures

    axes = Figure().subplots(2, 2).flatten()
    path = toy_path((0, 3), rate=0.1, steps=5)
    figures.draw_toy(path, axes[0])
    assert axes[0].lines[0].get_xydata().tolist() == path.tolist()

    figures.draw_growth({"a": [0.0, 1.0, 2.0], "b": [0.0, 2.0, 4.0], "c": [0.0, 3.0, 6.0]}, axes[1])
    assert axes[1].lines[1].get_xydata().tolist() == [[1, 2], [2, 4]]

    probabilities = torch.tensor([[0.5, 0.7, 0.3], [0.5, 0.6, 0.4]], dtype=torch.float64)
    figures.draw_minimisers([0.1, 0.01], probabilities, axes[2])
    drawn = [line.get_ydata() for line in axes[2].lines if len(line.get_xdata()) == 2]
    assert any(list(values) == [0.7, 0.6] for values in drawn)

    variances = LayoutVariances(
        cost=30, k=1, one_set=10.0, between=1.0, between_error=0.1, within=9.0, within_error=0.1
    )
    figures.draw_variance(variances, [1, 9], axes[3])
    assert axes[3].lines[0].get_ydata().tolist() == [10, 2]
    assert axes[3].lines[1].get_ydata()[0] == variances.paper == 1
