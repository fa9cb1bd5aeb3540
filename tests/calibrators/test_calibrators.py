"""Calibrators recover what was planted, never do harm, and survive thin data."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from sklearn.isotonic import IsotonicRegression
from torch import nn

import oddkout as oko
from oddkout.calibrators import (
    IsotonicCalibration,
    PriorCorrection,
    TemperatureScaling,
    VectorScaling,
    cross_fitted_temperature,
    fold_numbers,
)

FITTED = [TemperatureScaling, VectorScaling, IsotonicCalibration, PriorCorrection]


def drawn(examples, classes=10, *, seed=0, temperature=1.0):
    """Logits, and labels drawn from them at a temperature."""
    source = torch.Generator().manual_seed(seed)
    logits = 3 * torch.randn(examples, classes, generator=source, dtype=torch.float64)
    labels = (logits / temperature).softmax(dim=1).multinomial(1, generator=source)[:, 0]
    return logits, labels


@pytest.mark.parametrize(("planted", "seed"), [(0.5, 0), (2.5, 1)])
def test_a_planted_temperature_is_recovered_within_one_percent(planted, seed):
    """One likely class against six hundred unlikely ones: there 1 % is three standard errors."""
    source = torch.Generator().manual_seed(seed)
    logits = 0.3 * torch.randn(10_000, 600, generator=source, dtype=torch.float64)
    logits[:, 0] += math.log(600)
    labels = logits.softmax(dim=1).multinomial(1, generator=source)[:, 0]
    assert standard_error(logits) < 0.01 / 3
    found = TemperatureScaling().fit(planted * logits, labels).temperature.item()
    assert found == pytest.approx(planted, rel=0.01)


@pytest.mark.parametrize("classes", [2, 10, 100])
@pytest.mark.parametrize("seed", range(5))
def test_the_error_of_a_fitted_temperature_is_what_the_examples_allow(classes, seed):
    """With ordinary logits no estimator is sure of 1 %: the standard error is 0.6 to 2 %."""
    logits, labels = drawn(10_000, classes, seed=seed)
    found = TemperatureScaling().fit(logits, labels).temperature.item()
    assert abs(found - 1) < 4 * standard_error(logits)


def standard_error(logits):
    """Of a fitted temperature near 1, from the curvature of the likelihood."""
    probs = logits.softmax(dim=1)
    mean = (probs * logits).sum(dim=1, keepdim=True)
    variance = (probs * (logits - mean) ** 2).sum(dim=1).mean().item()
    return 1 / math.sqrt(len(logits) * variance)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("examples", [10, 50, 1000])
def test_the_fit_is_the_minimum_and_never_worse_than_no_fit(seed, examples):
    logits, labels = drawn(examples, 3, seed=seed, temperature=1.0 + seed / 5)
    calibrator = TemperatureScaling().fit(logits, labels)
    fitted = F.cross_entropy(calibrator(logits), labels).item()
    assert fitted <= F.cross_entropy(logits, labels).item() + 1e-15
    if not (logits.argmax(dim=1) == labels).all():
        for factor in (0.999, 1.001):
            near = F.cross_entropy(calibrator(logits) * factor, labels).item()
            assert fitted < near
        # A zero of the derivative: mean logit under the model equals mean logit of the truth.
        scaled = calibrator(logits)
        expected = (scaled.softmax(dim=1) * scaled).sum(dim=1).mean()
        found = scaled.gather(1, labels[:, None]).mean()
        assert expected.item() == pytest.approx(found.item(), abs=1e-9)


@pytest.mark.parametrize("scale", [1e-2, 1.0, 30.0])
def test_the_predicted_class_is_untouched(scale):
    logits, labels = drawn(500, temperature=2.0)
    calibrator = TemperatureScaling().fit(scale * logits, labels)
    assert torch.equal(calibrator(logits).argmax(dim=1), logits.argmax(dim=1))


def test_separable_data_stop_at_what_they_support():
    """Ten of ten right support a confidence of 11/12 and no more."""
    logits = torch.tensor([[1.0, 0.0]], dtype=torch.float64).expand(10, 2)
    calibrator = TemperatureScaling().fit(logits, [0] * 10)
    assert calibrator(logits).softmax(dim=1)[0, 0].item() == pytest.approx(11 / 12)
    sure = TemperatureScaling().fit(100 * logits, [0] * 10)
    assert sure.temperature.item() == 1.0, "a model that is surer already is left as it is"
    perfect, _ = drawn(200)
    fit = TemperatureScaling().fit(perfect, perfect.argmax(dim=1))
    assert fit.temperature.item() <= 1
    assert fit(perfect).softmax(dim=1).amax(dim=1).mean().item() <= 201 / 202 + 1e-9


def test_worse_than_guessing_becomes_guessing():
    logits, _ = drawn(200, 3)
    calibrator = TemperatureScaling().fit(logits, logits.argmin(dim=1))
    assert calibrator.temperature.item() == pytest.approx(1e3)
    almost = torch.tensor([[1e-6, 0.0]] * 99 + [[0.0, 1e-6]], dtype=torch.float64)
    assert TemperatureScaling().fit(almost, [0] * 100).temperature.item() == pytest.approx(1e-3)


@pytest.mark.parametrize("kind", FITTED)
@pytest.mark.parametrize("examples", [10, 300])
def test_thin_data_and_a_missing_class_give_finite_distributions(kind, examples):
    logits, labels = drawn(examples, 4)
    labels[labels == 3] = 0
    for classes in (labels, logits[:, :3].argmax(dim=1)):  # the second is nearly separable
        calibrator = kind().fit(logits, classes)
        probs = calibrator.predict_proba(logits)
        assert probs.isfinite().all()
        torch.testing.assert_close(probs.sum(dim=1), torch.ones(examples, dtype=torch.float64))
        assert (probs > 0).all()


@pytest.mark.parametrize("kind", FITTED)
def test_arrays_in_arrays_out_and_a_module_on_logits(kind):
    logits, labels = drawn(400, 3, temperature=2.0)
    calibrator = kind().fit(logits.numpy(), labels.tolist())
    probs = calibrator.predict_proba(logits.numpy())
    assert isinstance(probs, np.ndarray)
    from_module = nn.Sequential(nn.Identity(), calibrator)(logits).softmax(dim=1)
    torch.testing.assert_close(torch.from_numpy(probs), from_module)
    assert calibrator(logits.float()).dtype == torch.float32
    assert isinstance(calibrator.predict_proba(logits.float()), torch.Tensor)


@pytest.mark.parametrize("kind", FITTED)
def test_the_state_is_plain_tensors_that_safetensors_keeps(kind, tmp_path):
    from safetensors.torch import load_file, save_file

    logits, labels = drawn(400, 3, temperature=2.0)
    calibrator = kind().fit(logits, labels)
    save_file(calibrator.state_dict(), tmp_path / "state.safetensors")
    state = load_file(tmp_path / "state.safetensors")
    twin = kind()
    for name, value in state.items():
        setattr(twin, name, value)
    torch.testing.assert_close(twin(logits), calibrator(logits))


def test_vector_scaling_recovers_planted_factors_and_offsets():
    logits, _ = drawn(40_000, 3)
    scale, offset = torch.tensor([0.5, 0.8, 0.3]), torch.tensor([0.4, 0.0, -0.4])
    source = torch.Generator().manual_seed(3)
    labels = (logits * scale + offset).softmax(dim=1).multinomial(1, generator=source)[:, 0]
    calibrator = VectorScaling().fit(logits, labels)
    torch.testing.assert_close(calibrator.scale, scale.double(), atol=0.03, rtol=0)
    found = calibrator.offset - calibrator.offset.mean()
    torch.testing.assert_close(found, offset.double(), atol=0.05, rtol=0)
    plain = TemperatureScaling().fit(logits, labels)
    assert F.cross_entropy(calibrator(logits), labels) < F.cross_entropy(plain(logits), labels)


def test_isotonic_calibration_is_that_of_scikit_learn():
    logits, labels = drawn(600, 3, temperature=2.0)
    fresh, _ = drawn(200, 3, seed=1)
    found = IsotonicCalibration().fit(logits, labels).predict_proba(fresh.numpy())
    columns = []
    for column in range(3):
        curve = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
        curve.fit(logits.softmax(dim=1)[:, column].numpy(), (labels == column).double().numpy())
        columns.append(curve.predict(fresh.softmax(dim=1)[:, column].numpy()))
    expected = np.stack(columns, axis=1).clip(1e-6)
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found, expected, atol=1e-9)


def balanced_model(examples, prior, *, seed=0):
    """Exact logits of a model for equal frequencies, and data of other frequencies."""
    source = torch.Generator().manual_seed(seed)
    labels = torch.tensor(prior).multinomial(examples, replacement=True, generator=source)
    means = torch.tensor([[0.0, 0.0], [1.5, 0.0], [0.0, 1.0], [-0.5, -1.0]])[: len(prior)]
    x = means[labels] + torch.randn(examples, 2, generator=source)
    return x @ means.T - (means**2).sum(dim=1) / 2, labels


def test_prior_correction_makes_a_balanced_model_calibrated_on_imbalanced_data():
    prior = [0.7, 0.2, 0.06, 0.04]
    logits, labels = balanced_model(4000, prior)
    before = oko.evaluate(logits, labels, replicates=300)
    assert before["ece"].null.p_value < 0.01
    known = oko.evaluate(PriorCorrection(prior)(logits), labels, replicates=300)
    assert known["ece"].null.p_value > 0.05
    assert known["classwise_ece"].null.p_value > 0.05
    assert known["nll"].high < before["nll"].low

    unlabelled, _ = balanced_model(4000, prior, seed=1)
    estimated = PriorCorrection().fit(unlabelled)
    assert estimated.prior.tolist() == pytest.approx(prior, abs=0.03)
    unknown = oko.evaluate(estimated(logits), labels, replicates=300)
    assert unknown["ece"].null.p_value > 0.05
    found = [report["ece"].null.p_value for report in (before, known, unknown)]
    print(f"p of ECE before, with the known prior, with the estimated one: {found}")


def test_the_estimated_prior_has_the_highest_likelihood():
    """At a maximum the mean prediction under the prior is the prior itself."""
    logits, _ = balanced_model(500, [0.5, 0.3, 0.2])
    calibrator = PriorCorrection(train_prior=[0.2, 0.3, 0.5]).fit(logits)
    mean = calibrator.predict_proba(logits).double().mean(dim=0)
    torch.testing.assert_close(mean, calibrator.prior, atol=1e-6, rtol=0)


def test_a_correction_there_and_back_changes_nothing():
    logits, _ = drawn(20, 3)
    there = PriorCorrection([0.5, 0.3, 0.2], train_prior=[0.1, 0.1, 0.8])
    back = PriorCorrection([0.1, 0.1, 0.8], train_prior=[0.5, 0.3, 0.2])
    torch.testing.assert_close(back(there(logits)), logits)
    counted = PriorCorrection().fit(logits, [0] * 17 + [1, 1, 2])
    assert counted.prior.tolist() == pytest.approx([18 / 23, 3 / 23, 2 / 23])


def test_cross_fitting_scales_each_fold_by_the_others():
    logits, labels = drawn(600, 4, temperature=1.7)
    folds = fold_numbers(labels, folds=5, generator=torch.Generator().manual_seed(0))
    fit = cross_fitted_temperature(logits, labels, folds=folds)
    for fold in range(5):
        own = folds == fold
        others = TemperatureScaling().fit(logits[~own], labels[~own]).temperature
        assert fit.temperatures[fold] == others
        torch.testing.assert_close(fit.logits[own], logits[own] / others)
    assert fit.calibrator.temperature.item() == pytest.approx(1.7, rel=0.15)
    before = oko.metrics.expected_calibration_error(logits=logits, labels=labels)
    after = oko.metrics.expected_calibration_error(logits=fit.logits, labels=labels)
    assert after < before / 2


def test_folds_are_even_and_spread_every_class():
    labels = torch.tensor([0] * 50 + [1] * 7 + [2] * 3)
    folds = fold_numbers(labels, folds=5, generator=torch.Generator().manual_seed(0))
    assert folds.bincount().tolist() == [12] * 5
    assert folds[:50].bincount().tolist() == [10] * 5
    assert folds[50:57].bincount(minlength=5).tolist() in ([2, 2, 1, 1, 1],)
    assert folds[57:].unique().numel() == 3


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: TemperatureScaling(0), "temperature must be a positive number, got 0"),
        (lambda: TemperatureScaling(float("inf")), "positive number, got inf"),
        (lambda: TemperatureScaling().fit([[0.0, 1.0]], [2]), "example 0 has label 2"),
        (lambda: TemperatureScaling().fit([[0.0, np.nan]], [1]), r"rows \[0\] hold NaN"),
        (lambda: TemperatureScaling().predict_proba([[0.0]]), "at least 2 classes, got 1"),
        (lambda: VectorScaling(spread=0), "spread must be a positive number"),
        (lambda: PriorCorrection([0.5, 0.6]), r"sum to 1, got \[0.5, 0.6\]"),
        (lambda: PriorCorrection([1.0, 0.0]), "must be positive"),
        (lambda: PriorCorrection([[1.0]]), r"got shape \(1, 1\)"),
        (lambda: PriorCorrection([0.5, 0.5], train_prior=[0.2, 0.3, 0.5]), "got 2 and 3"),
        (lambda: PriorCorrection([0.5, 0.5])(torch.zeros(2, 3)), "one frequency per class, 3, got"),
        (
            lambda: PriorCorrection(train_prior=[0.5, 0.5]).fit(np.zeros((2, 3))),
            "train_prior must hold one frequency per class, 3, got 2",
        ),
        (lambda: fold_numbers([0, 1], folds=3), "3 folds need at least 3 examples, got 2"),
        (
            lambda: cross_fitted_temperature(np.zeros((3, 2)), [0, 1, 0], folds=[0, 0, 0]),
            "one of at least 2 folds, got 3 numbers of 1 folds",
        ),
    ],
)
def test_bad_input_gets_one_sentence(call, text):
    with pytest.raises(ValueError, match=text) as raised:
        call()
    assert "\n" not in str(raised.value)


def test_balanced_fitting_is_fitting_to_examples_repeated_until_classes_are_equal():
    logits = 3 * torch.randn(30, 3, generator=torch.Generator().manual_seed(0))
    labels = torch.tensor([0] * 20 + [1] * 5 + [2] * 5)
    repeated = torch.cat([torch.arange(20), torch.arange(20, 30).repeat(4)])
    expected = TemperatureScaling().fit(logits[repeated], labels[repeated]).temperature
    found = TemperatureScaling().fit(logits, labels, is_balanced=True).temperature
    assert found.item() == pytest.approx(expected.item(), rel=1e-9)
    assert found.item() != pytest.approx(TemperatureScaling().fit(logits, labels).temperature)
