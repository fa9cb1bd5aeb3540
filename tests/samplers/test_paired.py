"""Natural pairs: classes by a power of their frequency, partners of the same class."""

import pytest
import torch
from scipy.stats import chisquare

from oddkout import PairedBatchSampler

LONG_TAIL = torch.tensor([0] * 60 + [1] * 20 + [2] * 8 + [3] * 4 + [4] * 2)


def drawn(**changes):
    options = {"pairs": 8, "batches": 2000, "seed": 0} | changes
    sampler = PairedBatchSampler(LONG_TAIL, **options)
    return sampler, torch.tensor(list(sampler)).view(-1, options["pairs"], 2)


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("k", [0, 1, 2])
def test_pairs_are_two_examples_of_a_class_and_classes_have_the_stated_frequencies(power, k):
    sampler, pairs = drawn(power=power, k=k)
    classes = LONG_TAIL[pairs]
    assert (classes[..., 0] == classes[..., 1]).all()
    assert (pairs[..., 0] != pairs[..., 1]).all()
    different = torch.tensor([len(set(batch)) for batch in classes[..., 0].tolist()])
    assert (different >= k + 1).all()
    # Pairs of a batch are not independent once it is completed, so one pair of each batch counts.
    some = classes[torch.arange(len(classes)), torch.arange(len(classes)) % 8, 0]
    if k == 0:
        expected = (LONG_TAIL.bincount().double() ** power).numpy()
        assert torch.allclose(sampler.prior, torch.tensor(expected / expected.sum()))
    counts = some.bincount(minlength=5).numpy()
    assert chisquare(counts, len(some) * sampler.prior.numpy()).pvalue > 1e-4


def test_with_power_one_every_example_is_equally_likely():
    _, pairs = drawn(k=0, batches=4000)
    counts = pairs.flatten().bincount(minlength=len(LONG_TAIL))
    assert chisquare(counts.numpy()).pvalue > 1e-4


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"power": 1.5}, r"power of the class frequencies must lie from 0 .* got 1.5"),
        ({"power": -0.1}, "must lie from 0"),
        ({"pairs": 1}, "1 pairs of 5 classes cannot hold 2 different classes"),
        ({"k": 5, "pairs": 20}, "cannot hold 6 different classes; draw more pairs or lower k"),
        ({"pairs": 0}, "pairs must be at least 1, got 0"),
        ({"singletons": "odd-only"}, "singletons must be one of 'error', 'repeat'"),
    ],
)
def test_bad_arguments_are_refused(changes, text):
    with pytest.raises(ValueError, match=text):
        drawn(**changes)


def test_a_class_without_partner_is_refused_or_paired_with_itself():
    labels = [0, 0, 0, 1]
    with pytest.raises(ValueError, match=r"classes \[1\] hold only 1"):
        PairedBatchSampler(labels, pairs=2, batches=1)
    sampler = PairedBatchSampler(labels, pairs=2, batches=50, singletons="repeat")
    assert all(batch[2:] == [3, 3] or batch[:2] == [3, 3] for batch in sampler)
