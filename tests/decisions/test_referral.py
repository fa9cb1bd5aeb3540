"""Referral: the stated risk in simulations, and what is said if it cannot be shown."""

import numpy as np
import pytest
import torch
from simulated import class_shares, predictions

from oddkout.decisions import Referral


def exceeded(referral_of, *, examples, risk, draws=300, classes=3, ratio=1.0, signal=1.6, seed=0):
    """How often the true error among the answered exceeds the risk; and the mean share answered."""
    rng = np.random.default_rng(seed)
    shares = class_shares(classes, ratio)
    new, truth = predictions(5000, shares, rng, signal=signal)
    times, answered = 0, []
    for _ in range(draws):
        logits, labels = predictions(examples, shares, rng, signal=signal)
        answers = referral_of().fit(logits, labels).predict(new)
        is_answered = answers != "refer"
        wrong = (answers[is_answered] != truth[is_answered]).mean() if is_answered.any() else 0
        times += wrong > risk
        answered.append(is_answered.mean())
    return times / draws, float(np.mean(answered))


@pytest.mark.parametrize("examples", [100, 400])
def test_the_risk_is_exceeded_in_at_most_5_percent_of_data_sets(examples):
    """The model is too confident, so that its own probabilities would be too optimistic."""
    share, answered = exceeded(lambda: Referral(risk=0.1), examples=examples, risk=0.1, draws=150)
    assert share <= 0.05 + 3 * (0.05 * 0.95 / 150) ** 0.5
    assert answered > 0.1


def test_without_the_correction_the_risk_would_be_exceeded(monkeypatch):
    """A threshold at which the observed rate is below the risk is exceeded half of the time."""

    def naive(self, *, risk, confidence):
        is_below = self.errors / np.arange(1, len(self.errors) + 1) <= risk
        return int(np.flatnonzero(is_below).max() + 1)

    monkeypatch.setattr("oddkout.decisions.risk_limits.Ranked.safe_answers", naive)
    share, _ = exceeded(lambda: Referral(risk=0.1), examples=400, risk=0.1, draws=60)
    assert share > 0.3


def test_given_coverage_that_share_is_answered_and_the_limit_holds():
    rng = np.random.default_rng(0)
    shares = class_shares(3, 1.0)
    new, truth = predictions(20_000, shares, rng)
    too_low = 0
    for _ in range(100):
        logits, labels = predictions(200, shares, rng)
        referral = Referral(coverage=0.7).fit(logits, labels)
        answers = referral.predict(new)
        is_answered = answers != "refer"
        too_low += (answers[is_answered] != truth[is_answered]).mean() > referral.limits[0]
        assert referral.answered.tolist() == [140]
        assert abs(is_answered.mean() - 0.7) < 5 * (0.7 * 0.3 / 200) ** 0.5
    assert too_low <= 5 + 3 * (100 * 0.05 * 0.95) ** 0.5


def test_by_class_the_risk_holds_for_the_answers_of_each_class():
    rng = np.random.default_rng(0)
    shares = class_shares(3, 5.0)
    new, truth = predictions(30_000, shares, rng)
    too_high = 0
    for _ in range(60):
        logits, labels = predictions(900, shares, rng)
        answers = Referral(risk=0.1, by_class=True).fit(logits, labels).predict(new)
        too_high += any((truth[answers == c] != c).mean() > 0.1 for c in range(3) if c in answers)
    assert too_high <= 60 * 0.05 + 3 * (60 * 0.05 * 0.95) ** 0.5


def test_the_risk_holds_for_the_requested_class_frequencies():
    rng = np.random.default_rng(0)
    shares, wanted = class_shares(3, 5.0), class_shares(3, 5.0)[::-1].copy()
    new, truth = predictions(20_000, wanted, rng)
    new += 1.5 * (np.log(shares) - np.log(wanted))  # the model assumes the old ones
    too_high = answered = 0
    for _ in range(60):
        logits, labels = predictions(1500, shares, rng)
        answers = Referral(risk=0.1).fit(logits, labels, prior=wanted).predict(new)
        is_answered = answers != "refer"
        answered += is_answered.mean() / 60
        too_high += (answers[is_answered] != truth[is_answered]).mean() > 0.1
    assert too_high <= 60 * 0.05 + 3 * (60 * 0.05 * 0.95) ** 0.5
    assert answered > 0.3


def test_a_class_that_becomes_frequent_brings_its_errors():
    """All answers are class 0: 3 % are wrong as the examples come, half with equal classes."""
    labels = np.repeat([0, 1], [970, 30])
    probs = np.tile([0.999, 0.001], (1000, 1))
    as_it_is = Referral(risk=0.1).fit(probs=probs, labels=labels)
    assert set(as_it_is.predict(probs=probs)) == {0}
    equal = Referral(risk=0.1).fit(probs=probs, labels=labels, prior=[0.5, 0.5])
    assert equal.examples == pytest.approx(60, abs=4 * 30**0.5)  # all 30, and as many others
    assert set(equal.predict(probs=probs)) == {"refer"}


def test_of_each_group_one_example_is_used():
    rng = np.random.default_rng(0)
    logits, labels = predictions(600, class_shares(3, 1.0), rng, signal=4.0)
    alone = Referral(risk=0.05).fit(logits, labels)
    grouped = Referral(risk=0.05).fit(logits, labels, groups=np.arange(600) // 6)
    assert (alone.examples, grouped.examples) == (600, 100)
    copies = Referral(risk=0.05).fit(
        logits[:60].repeat(10, axis=0), labels[:60].repeat(10), groups=np.arange(60).repeat(10)
    )
    once = Referral(risk=0.05).fit(logits[:60], labels[:60])
    assert copies.thresholds.tolist() == once.thresholds.tolist()


def test_too_few_examples_are_named_and_everything_is_referred():
    """0.95 ** 58 is above 5 %, 0.95 ** 59 below: 59 right answers are just enough."""
    probs = np.array([[0.9, 0.1]] * 59)
    few = Referral(risk=0.05).fit(probs=probs[:58], labels=[0] * 58)
    assert set(few.predict(probs=probs)) == {"refer"}
    assert few.notes == (
        "a risk of 5 % needs at least 59 answers without an error, but there are fewer "
        "calibration examples for all classes together (58): all these cases are referred; collect "
        "more examples or allow a higher risk",
    )
    assert few.guarantee == "no case is answered, so nothing is promised"
    enough = Referral(risk=0.05).fit(probs=probs, labels=[0] * 59)
    assert set(enough.predict(probs=probs)) == {0}
    assert enough.guarantee == "at most 5 % of the answered are wrong, with 95 % confidence"
    assert enough.limits[0] == pytest.approx(1 - 0.05 ** (1 / 59))


def test_a_useless_model_is_never_answered():
    rng = np.random.default_rng(0)
    referral = Referral(risk=0.05).fit(rng.normal(size=(300, 2)), rng.integers(0, 2, 300))
    assert set(referral.predict(rng.normal(size=(50, 2)))) == {"refer"}
    assert "too many of the most confident answers are wrong" in referral.notes[0]


def test_answers_are_names_if_names_are_given_and_numbers_else():
    probs = torch.tensor([[0.1, 0.9]] * 59)
    named = Referral(risk=0.05).fit(probs=probs, labels=[1] * 59, classes=["well", "ill"])
    assert named.predict(probs=probs[:2]).tolist() == ["ill", "ill"]
    assert Referral(risk=0.05).fit(probs=probs, labels=[1] * 59).predict(probs=probs[:1])[0] == 1


def test_wrong_input_is_refused_in_one_sentence():
    with pytest.raises(ValueError, match="either risk or coverage must be given, got neither"):
        Referral()
    with pytest.raises(ValueError, match="either risk or coverage must be given, got both"):
        Referral(risk=0.1, coverage=0.9)
    with pytest.raises(ValueError, match="risk must lie between 0 and 1, both excluded, got 5"):
        Referral(risk=5)
    with pytest.raises(ValueError, match="confidence must lie between 0 and 1"):
        Referral(risk=0.1, confidence=95)
    with pytest.raises(ValueError, match="not fitted"):
        Referral(risk=0.1).predict([[0.0, 1.0]])
    with pytest.raises(ValueError, match="folds are for prediction sets"):
        Referral(risk=0.1).fit([[0.0, 1.0]] * 30, [1] * 30, folds=[0] * 30)
    fitted = Referral(risk=0.1).fit([[0.0, 1.0]] * 30, [1] * 30)
    with pytest.raises(ValueError, match="each of the 2 classes that were fitted, got 3"):
        fitted.predict([[0.0, 1.0, 2.0]])
