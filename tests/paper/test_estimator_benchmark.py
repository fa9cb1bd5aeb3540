"""The benchmark of the estimator: means over folds, and wins against scikit-learn's network."""

import pytest

from oddkout.paper.estimator_benchmark import estimator_benchmark


def lines(data, model, values):
    return [
        {"data": data, "model": model, "fold": fold, "metrics": {"nll": nll, "accuracy": 0.9}}
        for fold, nll in enumerate(values)
    ]


def test_wins_are_counted_by_mean_nll_on_data_that_both_models_have():
    text = estimator_benchmark(
        [
            *lines("wine", "OddKOut", [0.1, 0.4]),
            *lines("wine", "MLP", [0.2, 0.2]),
            *lines("car", "OddKOut", [0.1, 0.1]),
            *lines("car", "MLP", [0.2, 0.2]),
            *lines("yeast", "OddKOut", [0.1, 0.1]),
        ]
    ).markdown()
    assert "OddKOut has a lower mean NLL than MLP on 1 of 2 data sets." in text
    half = 0.15 * 12.7062  # standard error 0.15, Student's t with one degree of freedom
    assert f"| wine | OddKOut | 2 | 0.900 ± 0.000 |  | 0.250 ± {half:.3f} |" in text


@pytest.mark.parametrize("given", [[], [{"other": 1}]])
def test_without_results_there_is_no_table(given):
    assert estimator_benchmark(given).markdown().endswith("No results yet.\n")
