"""Temperature and strength of prior adjustment: planted values are recovered, fits never harm."""

import math

import pytest
import torch
import torch.nn.functional as F
from scipy.optimize import brute

from oddkout.calibrators import AdjustedTemperature, PriorCorrection

FREQUENCIES = torch.tensor([0.7, 0.2, 0.1], dtype=torch.float64)


def planted(examples, *, temperature, strength, seed=0, classes=FREQUENCIES):
    """Examples whose probabilities are the softmax of logits / T - strength * log frequencies."""
    source = torch.Generator().manual_seed(seed)
    wide = 2 * torch.randn(examples, len(classes), generator=source, dtype=torch.float64)
    probs = (wide / temperature - strength * classes.log()).softmax(dim=1)
    return wide, probs.multinomial(1, generator=source)[:, 0]


@pytest.mark.parametrize(("temperature", "strength"), [(0.5, 0.0), (2.0, 1.0), (1.0, -0.5)])
def test_planted_numbers_are_recovered_from_many_examples(temperature, strength):
    logits, labels = planted(50_000, temperature=temperature, strength=strength)
    fit = AdjustedTemperature(FREQUENCIES).fit(logits, labels)
    assert fit.temperature.item() == pytest.approx(temperature, rel=0.05)
    assert fit.strength.item() == pytest.approx(strength, abs=0.05)


@pytest.mark.parametrize("is_balanced", [False, True])
def test_the_fit_is_the_minimum_of_the_penalised_loss(is_balanced):
    """A grid search over both numbers finds the same place."""
    logits, labels = planted(60, temperature=2.0, strength=0.7, seed=3)
    fit = AdjustedTemperature(FREQUENCIES).fit(logits, labels, is_balanced=is_balanced)
    counts = labels.bincount(minlength=3)
    weights = 1 / (counts[labels] * 3).double() if is_balanced else torch.full((60,), 1 / 60)
    centred = FREQUENCIES.log() - FREQUENCIES.log().mean()

    def loss(point):
        log_t, strength = point
        moved = logits / math.exp(log_t) - strength * centred
        losses = F.cross_entropy(moved, labels, reduction="none")
        return (weights.double() @ losses).item() + 3 / 60 * (log_t**2 + strength**2)

    best = brute(loss, ((-2, 2), (-2, 2)), Ns=41)
    assert math.log(fit.temperature.item()) == pytest.approx(best[0], abs=1e-3)
    assert fit.strength.item() == pytest.approx(best[1], abs=1e-3)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("examples", [2, 10, 100])
def test_a_fit_is_never_worse_than_none(examples, seed):
    logits, labels = planted(examples, temperature=1 + seed / 5, strength=seed / 10, seed=seed)
    fit = AdjustedTemperature(FREQUENCIES).fit(logits, labels)
    assert F.cross_entropy(fit(logits), labels) <= F.cross_entropy(logits, labels) + 1e-12


def test_a_class_with_few_examples_cannot_ruin_the_fit():
    """Two wrong examples of a rare class want a huge adjustment; the weak prior resists."""
    logits = torch.tensor([[5.0, 0.0, 0.0]] * 40 + [[5.0, 0.0, 0.0]] * 2, dtype=torch.float64)
    labels = torch.tensor([0] * 40 + [2] * 2)
    fit = AdjustedTemperature(FREQUENCIES).fit(logits, labels, is_balanced=True)
    assert 0 < fit.strength.item() < 1.5
    assert 0.5 < fit.temperature.item() < 4


def test_predictions_that_are_all_right_are_not_sharpened_without_limit():
    logits = 3 * torch.eye(3, dtype=torch.float64).repeat(20, 1)
    fit = AdjustedTemperature(FREQUENCIES).fit(logits, torch.arange(3).repeat(20))
    assert 0.1 < fit.temperature.item() < 1


def test_equal_frequencies_leave_the_strength_at_zero():
    logits, labels = planted(200, temperature=2.0, strength=0.0, classes=torch.full((4,), 0.25))
    fit = AdjustedTemperature([0.25] * 4).fit(logits, labels)
    assert fit.strength.item() == 0
    only = AdjustedTemperature([0.4, 0.3, 0.2, 0.1]).fit(logits, labels, has_strength=False)
    assert only.strength.item() == 0
    assert only.temperature.item() == pytest.approx(fit.temperature.item(), rel=1e-5)


def test_a_strength_of_one_is_the_correction_to_equal_frequencies():
    logits = torch.randn(5, 3, dtype=torch.float64)
    adjusted = AdjustedTemperature(FREQUENCIES, strength=1.0)(logits).softmax(dim=1)
    corrected = PriorCorrection([1 / 3] * 3, train_prior=FREQUENCIES)(logits).softmax(dim=1)
    torch.testing.assert_close(adjusted, corrected)


def test_the_shift_is_added_after_the_temperature():
    logits = torch.randn(5, 3, dtype=torch.float64)
    shift = torch.tensor([1.0, 0.0, -1.0])
    calibrator = AdjustedTemperature(FREQUENCIES, temperature=2.0, shift=shift)
    torch.testing.assert_close(calibrator(logits), logits / 2 + shift)
    assert repr(calibrator) == "AdjustedTemperature(temperature=2, strength=0)"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temperature": 0.0}, "temperature must be a positive number"),
        ({"strength": math.inf}, "strength must be a finite number"),
    ],
)
def test_bad_numbers_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        AdjustedTemperature(FREQUENCIES, **options)


def test_frequencies_of_other_classes_are_refused():
    with pytest.raises(ValueError, match="must be of the 2 classes of the logits, got 3"):
        AdjustedTemperature(FREQUENCIES).fit([[0.0, 1.0]], [1])
