"""The class frequencies that contestants are judged for, requested by the user."""

import numpy as np
import pytest
from rivals import QUICK, signal_table
from sklearn.naive_bayes import GaussianNB

import oddkout as oko
from oddkout.comparing.config import RunConfig
from oddkout.comparing.saved import load_comparison


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """A comparison of four contestants, judged for other frequencies than those of training."""
    return oko.compare(
        signal_table(rows=200),
        methods=["vanilla", "oko"],
        contestants={"bayes": GaussianNB()},
        seeds=2,
        prior=[0.2, 0.2, 0.6],
        out=tmp_path_factory.mktemp("judged"),
        **QUICK,
    )


def test_every_contestant_states_the_requested_prior(judged):
    assert {tuple(run.prior) for run in judged.runs} == {(0.2, 0.2, 0.6)}
    assert judged.prior_sentence == (
        "probabilities are for the class frequencies 0.2, 0.2, 0.6, as requested"
    )
    assert "Probabilities are for the class frequencies 0.2, 0.2, 0.6" in str(judged.table)


def test_guessing_predicts_the_requested_prior(judged):
    """As trained and calibrated: the prior is the only thing that guessing knows."""
    for run in judged.by_method["guess"]:
        for is_tempered in (False, True):
            logits = run.test_logits(is_tempered=is_tempered).astype(np.float64)
            probs = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
            expected = np.tile([0.2, 0.2, 0.6], (len(probs), 1))
            np.testing.assert_allclose(probs, expected, atol=1e-6 if not is_tempered else 0.05)


def test_a_saved_comparison_keeps_its_prior(judged):
    again = load_comparison(judged.folder)
    assert again.setting.population == (0.2, 0.2, 0.6)
    assert RunConfig.from_dict(again.setting.to_dict()).id == again.setting.id


@pytest.mark.parametrize(
    ("prior", "reason"),
    [
        ([0.5, 0.5], r"one frequency for each of the 3 classes, \[0, 1, 2\], got 2"),
        ([0.5, 0.5, 0.0], "positive and sum to 1"),
        ([0.5, 0.5, 0.5], "positive and sum to 1"),
        ({"0": 0.5, "x": 0.5}, "the frequency of each of the classes"),
        ("even", "prior must be one of"),
    ],
)
def test_a_prior_that_does_not_fit_is_one_sentence(prior, reason, tmp_path):
    with pytest.raises(ValueError, match=reason):
        oko.compare(signal_table(), prior=prior, out=tmp_path)


def test_train_and_compare_agree_for_a_requested_prior(tmp_path):
    """By name, in another order than that of the classes."""
    data = signal_table(rows=200)
    prior = {"2": 0.6, "1": 0.2, "0": 0.2}
    options = {"learning_rates": [0.1], "folds": 2, "recipe": {"updates": 10}, "prior": prior}
    comparison = oko.compare(
        data, methods=["oko"], seeds=1, out=tmp_path, executor=QUICK["executor"], **options
    )
    classifier = oko.fit(data, method="oko", **options)
    run = comparison.by_method["oko"][0]
    assert classifier.prior == (0.2, 0.2, 0.6)
    assert classifier.details["prior"].endswith("0.2, 0.2, 0.6, as requested")
    assert classifier.details["folds"] == run.fold_metrics
    assert classifier.temperature == run.temperature


def test_choices_weigh_classes_as_the_prior_does(tmp_path):
    """Guessing the prior scores its entropy out of fold, whatever the labels are."""
    comparison = oko.compare(
        signal_table(rows=200), methods=["vanilla"], seeds=1, prior=[0.7, 0.2, 0.1],
        out=tmp_path, **QUICK,
    )  # fmt: skip
    entropy = -sum(share * np.log(share) for share in (0.7, 0.2, 0.1))
    found = comparison.by_method["guess"][0].fold_metrics["nll"]
    assert found == pytest.approx(entropy, abs=0.02)


def test_test_examples_are_weighted_to_the_requested_prior(judged):
    """The mean over classes of the NLL, each with its requested frequency, averaged over seeds."""
    for method in judged.methods:
        means = []
        for run in judged.by_method[method]:
            logits = run.test_logits(is_tempered=True).astype(np.float64)
            probs = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
            losses = -np.log(probs[np.arange(len(probs)), run.labels])
            by_class = [losses[run.labels == label].mean() for label in range(3)]
            means.append(np.dot(by_class, [0.2, 0.2, 0.6]))
            assert run.value("nll", is_tempered=True) == pytest.approx(means[-1], rel=0.02)
        assert judged.mean(method, "nll", is_tempered=True).mean == pytest.approx(np.mean(means))
