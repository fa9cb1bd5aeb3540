"""Comparisons: intervals, ties, the winner and the verdict."""

import math
import random
from dataclasses import replace

import pytest
from grids import SMALL, comparison_of, run_of
from scipy import stats

from oddkout.comparing.comparison import Comparison
from oddkout.comparing.statistics import t_interval
from oddkout.comparing.tables import comparison_json, comparison_text


# Student's t, 97.5 %: two-sided 95 % with 1, 4 and 9 degrees of freedom, from printed tables.
@pytest.mark.parametrize(("count", "quantile"), [(2, 12.706), (5, 2.776), (10, 2.262)])
def test_an_interval_agrees_with_printed_tables_of_student_s_t(count, quantile):
    draw = random.Random(count)
    values = [draw.gauss(3, 2) for _ in range(count)]
    mean = sum(values) / count
    deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / (count - 1))
    interval = t_interval(values)
    assert interval.mean == pytest.approx(mean)
    assert interval.high - mean == pytest.approx(quantile * deviation / math.sqrt(count), rel=1e-3)
    assert mean - interval.low == pytest.approx(interval.high - mean)


@pytest.mark.parametrize("comparisons", [1, 3, 11])
def test_an_interval_has_0_inside_where_the_t_test_corrected_by_bonferroni_does_not_reject(
    comparisons,
):
    draw, rejected = random.Random(0), 0
    for _ in range(50):
        values = [draw.gauss(1, 1) for _ in range(5)]
        test = stats.ttest_1samp(values, 0)
        interval = t_interval(values, comparisons=comparisons)
        limits = test.confidence_interval(1 - 0.05 / comparisons)
        assert (interval.low, interval.high) == pytest.approx(tuple(limits))
        assert interval.has_zero() == (test.pvalue > 0.05 / comparisons)
        rejected += not interval.has_zero()
    assert 0 < rejected < 50, "both happen"


def test_a_single_value_has_no_interval():
    interval = t_interval([3.0])
    assert interval.mean == 3.0
    assert math.isnan(interval.low)
    assert interval.has_zero()


def test_differences_are_paired_by_seed():
    """Seeds differ far more than methods, so only paired differences are significant."""
    comparison = comparison_of(oko=[0.9, 0.5, 0.7, 0.3, 0.8], bb=[0.88, 0.47, 0.68, 0.27, 0.78])
    lag = comparison.lag("bb", "accuracy")
    test = stats.ttest_rel([0.9, 0.5, 0.7, 0.3, 0.8], [0.88, 0.47, 0.68, 0.27, 0.78])
    assert (lag.low, lag.high) == pytest.approx(tuple(test.confidence_interval(0.95)))
    assert comparison.tied("accuracy") == ["oko"]
    unpaired = comparison.mean("oko", "accuracy")
    assert unpaired.low < comparison.mean("bb", "accuracy").mean < unpaired.high


def test_more_methods_make_wider_intervals():
    two = comparison_of(oko=[0.90, 0.91, 0.92], bb=[0.89, 0.89, 0.92])
    four = comparison_of(
        oko=[0.90, 0.91, 0.92], bb=[0.89, 0.89, 0.92], vanilla=[0.1, 0.2, 0.1], pair=[0.1, 0.1, 0.1]
    )
    ratio = (four.lag("bb", "nll").high - four.lag("bb", "nll").low) / (
        two.lag("bb", "nll").high - two.lag("bb", "nll").low
    )
    assert ratio == pytest.approx(stats.t.ppf(1 - 0.025 / 6, 2) / stats.t.ppf(0.975, 2))


def test_lags_are_above_0_where_worse_whichever_way_a_metric_goes():
    comparison = comparison_of(oko=[0.9, 0.8, 0.9], bb=[0.8, 0.7, 0.7])
    assert comparison.best("accuracy") == comparison.best("nll") == "oko"
    assert comparison.lag("bb", "accuracy").mean == pytest.approx(0.4 / 3)
    assert comparison.lag("bb", "nll").mean == pytest.approx(0.4 / 3)
    assert comparison.lag("oko", "nll").mean == 0


def test_equal_methods_are_tied():
    """E.g. the accuracies of bb and bb+ts, because a temperature changes no predicted class."""
    comparison = comparison_of(bb=[0.9, 0.8, 0.7], bb_ts=[0.9, 0.8, 0.7])
    assert comparison.tied("accuracy") == ["bb", "bb+ts"]


def test_one_seed_shows_no_difference():
    comparison = comparison_of(oko=[0.9], bb=[0.1])
    assert comparison.tied("accuracy") == ["bb", "oko"]
    assert comparison.verdict == (
        "oko has the highest mean accuracy, 90.0 %; one seed cannot show a significant difference. "
        "oko has the best probabilities (NLL 0.100); one seed cannot show a significant difference."
        " oko has the lowest out-of-fold NLL."
    )


def test_a_clear_winner_is_named():
    comparison = comparison_of(oko=[0.9, 0.91, 0.9], bb=[0.5, 0.51, 0.5], vanilla=[0.3, 0.31, 0.3])
    assert comparison.verdict == (
        "oko has the highest mean accuracy, 90.3 %: significantly better than every other method "
        "(3 seeds). oko has the best probabilities (NLL 0.097): significantly better than every "
        "other method (3 seeds). oko has the lowest out-of-fold NLL."
    )


def test_where_all_are_tied_the_verdict_says_so():
    comparison = comparison_of(oko=[0.9, 0.7, 0.9], bb=[0.8, 0.8, 0.7], vanilla=[0.7, 0.9, 0.7])
    assert comparison.verdict.count("the difference to every other method is within chance.") == 2


def test_a_verdict_names_those_behind_and_those_tied():
    comparison = comparison_of(
        oko=[0.9, 0.91, 0.92], bb=[0.91, 0.9, 0.91], vanilla=[0.3, 0.31, 0.32], pair=[0.2, 0.2, 0.2]
    )
    expected = (
        "significantly better than vanilla and pair (3 seeds); the difference to bb is within "
        "chance."
    )
    assert expected in comparison.verdict


def test_the_winner_is_chosen_out_of_fold_whatever_the_test_part_says():
    configs = [replace(SMALL, method=method) for method in ("bb", "oko")]
    runs = [
        run_of(config, nll=nll, fold_metrics=fold_metrics)
        for config, nll, fold_metrics in zip(configs, (0.1, 0.9), (0.8, 0.2), strict=True)
    ]
    comparison = Comparison(runs=runs)
    assert comparison.best("nll", is_tempered=True) == "bb"
    assert comparison.winner == "oko"
    for run in runs:
        run.fold_metrics = {}
    assert Comparison(runs=runs).winner is None


def test_a_method_that_failed_is_shown_with_its_reason_and_left_out_of_the_verdict():
    comparison = comparison_of(vanilla=[0.9, None, None], oko=[0.8, 0.81, 0.8], bb=[0.5, 0.51, 0.5])
    assert comparison.methods == ["bb", "oko"], "in the order of the table of methods"
    assert comparison.failed == {"vanilla": "seed 1 diverged\nTraceback"}
    assert comparison.verdict.startswith("oko has the highest mean accuracy, 80.3 %: significantly")
    text = comparison_text(comparison)
    runs = [run for run in comparison.by_method["vanilla"] if run.has_failed]
    which = "; ".join(f"run {run.config.id}, seed {run.config.seed}" for run in runs)
    assert f"vanilla failed: seed 1 diverged ({which})" in " ".join(text.split())
    assert "--retry-failed" in text, "what to do"
    assert "Traceback" not in text
    assert comparison_json(comparison)["failed"] == comparison.failed


def test_a_single_method_is_not_said_to_have_beaten_others():
    for comparison in (
        comparison_of(oko=[0.8, 0.9]),
        comparison_of(oko=[0.8, 0.9], bb=[None, None]),
    ):
        assert comparison.verdict.count("no other method took part.") == 2


def test_where_every_method_failed_the_verdict_says_so():
    comparison = comparison_of(vanilla=[None], oko=[None])
    assert comparison.verdict == "Every method failed; see the reasons."
    assert comparison.winner is None
    assert "failed: seed 0 diverged" in comparison_text(comparison)
