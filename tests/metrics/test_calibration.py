"""Calibration errors are compared with other libraries, closed forms and slow loops."""

import math

import numpy as np
import pytest
import torch
from random_predictions import overconfident
from torchmetrics.functional.classification import multiclass_calibration_error

from oddkout import metrics
from oddkout.metrics.calibration import BinSums


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("bins", [1, 10, 15])
def test_binned_errors_agree_with_netcal(seed, bins):
    from netcal.metrics import ECE, MCE

    logits, labels = overconfident(seed=seed)
    probs = logits.softmax(dim=1)
    given = probs.numpy(), labels.numpy()
    found = metrics.expected_calibration_error(probs, labels, bins=bins).item()
    assert found == pytest.approx(ECE(bins).measure(*given), abs=1e-6)
    found = metrics.maximum_calibration_error(probs, labels, bins=bins).item()
    assert found == pytest.approx(MCE(bins).measure(*given), abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_binned_errors_agree_with_torchmetrics_where_it_is_right(seed):
    logits, labels = overconfident(seed=seed)
    probs = logits.softmax(dim=1)
    for norm, error in (
        ("l1", metrics.expected_calibration_error),
        ("max", metrics.maximum_calibration_error),
    ):
        theirs = multiclass_calibration_error(probs, labels, 5, n_bins=15, norm=norm)
        assert error(probs, labels).item() == pytest.approx(theirs.item(), abs=1e-6)


def test_confidence_one_belongs_to_the_last_bin():
    """Right at 0.95 and wrong at 1.0 share the last of 10 bins: |0.975 - 0.5|."""
    probs, labels = torch.tensor([[0.95, 0.05], [1.0, 0.0]]), torch.tensor([0, 1])
    assert metrics.expected_calibration_error(probs, labels, bins=10).item() == pytest.approx(0.475)
    wrong = multiclass_calibration_error(probs, labels, 2, n_bins=10).item()
    assert wrong == pytest.approx(0.525)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_bins_are_closed_on_the_right(dtype):
    """Right at 0.7 and wrong at 0.72: apart in 10 bins, since 0.7 closes the bin below."""
    probs = torch.tensor([[0.7, 0.3], [0.72, 0.28]], dtype=dtype)
    found = metrics.expected_calibration_error(probs, [0, 1], bins=10).item()
    assert found == pytest.approx((0.3 + 0.72) / 2)
    curve = metrics.reliability_curve(probs, [0, 1], bins=10)
    assert curve.high_edge.tolist() == pytest.approx([0.7, 0.8])
    for edge in range(51, 100):  # 0.57 * 100 rounds down and 0.07 * 100 up: neither may matter
        row = torch.tensor([[edge / 100, 1 - edge / 100]], dtype=dtype)
        assert metrics.reliability_curve(row, [0], bins=100).high_edge == pytest.approx(edge / 100)


@pytest.mark.parametrize("bins", [4, 15])
def test_equal_mass_and_classwise_errors_equal_slow_loops(bins):
    logits, labels = overconfident(examples=120)
    probs = logits.softmax(dim=1)
    confidence, predicted = probs.max(dim=1)
    hits = (predicted == labels).double()
    slow = 0.0
    for part in np.array_split(confidence.argsort().numpy(), 4):  # 120 examples: 4 bins are even
        slow += abs((confidence[part] - hits[part]).sum().item()) / 120
    found = metrics.expected_calibration_error(probs, labels, bins=4, binning="equal-mass").item()
    assert found == pytest.approx(slow)

    slow = 0.0
    for column in range(5):
        for low in range(bins):
            inside = (probs[:, column] > low / bins) & (probs[:, column] <= (low + 1) / bins)
            is_class = (labels == column).double()
            slow += abs((probs[inside, column] - is_class[inside]).sum().item()) / 120 / 5
    found = metrics.classwise_calibration_error(probs, labels, bins=bins).item()
    assert found == pytest.approx(slow)


def test_equal_mass_bins_do_not_tear_equal_confidences_apart():
    """All at one confidence are one bin, whatever the order of right and wrong."""
    probs = torch.tensor([[0.8, 0.2]]).expand(10, 2)
    found = metrics.expected_calibration_error(
        probs, [0] * 8 + [1] * 2, bins=5, binning="equal-mass"
    )
    assert found.item() == pytest.approx(0.0, abs=1e-6)


def test_the_debiased_error_is_unbiased_where_the_plain_one_is_not():
    """Confidence 0.8, accuracy 0.7, 20 examples: the mean square over many samples is 0.1 ** 2."""
    generator = torch.Generator().manual_seed(0)
    hits = torch.rand(20_000, 20, generator=generator, dtype=torch.float64) < 0.7
    count = torch.full((1, 20_000), 20.0, dtype=torch.float64)
    sums = BinSums(count, 0.8 * count, hits.double().sum(dim=1)[None])
    accuracy = sums.hits / 20
    squares = (0.8 - accuracy) ** 2 - accuracy * (1 - accuracy) / 19
    sigma = squares.std().item() / math.sqrt(20_000)
    assert abs(squares.mean().item() - 0.01) < 4 * sigma
    torch.testing.assert_close(sums.debiased_error(), squares.clamp_min(0).sqrt()[0])
    assert (0.8 - accuracy).pow(2).mean().item() > 0.01 + 20 * sigma


def test_one_example_has_metrics():
    assert metrics.expected_calibration_error([[0.7, 0.3]], [0]).item() == pytest.approx(0.3)
