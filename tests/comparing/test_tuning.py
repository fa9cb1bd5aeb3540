"""The learning rate of a method: chosen out of fold, whatever the order of the runs."""

import itertools

from synthetic import synthetic_run, with_seed

from oddkout.comparing.tuning import best_config


def test_without_an_out_of_fold_nll_the_lowest_rate_is_taken():
    runs = [synthetic_run(with_seed(0, learning_rate=rate)) for rate in (0.3, 0.1, 0.2)]
    for run in runs:
        run.fold_metrics = {}
    assert {best_config(order).learning_rate for order in itertools.permutations(runs)} == {0.1}
