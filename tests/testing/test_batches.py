"""Batches are read in all their usual forms, and others are refused."""

import numpy as np
import pytest
import torch
from loaders import LONG_TAIL, Changed, of_pools, of_sets
from torch.utils.data import DataLoader, TensorDataset

from oddkout.testing import check_loader


def as_pairs(batch):
    return torch.randn(len(batch), 3), LONG_TAIL[batch]


def as_indexed(batch):
    return torch.tensor(batch), torch.randn(len(batch), 3), LONG_TAIL[batch]


def as_mapping(batch):
    return {"labels": LONG_TAIL[batch], "index": torch.tensor(batch), "pixels": torch.zeros(1)}


def as_arrays(batch):
    return np.arange(len(batch) * 2.0), LONG_TAIL[batch].numpy()


@pytest.mark.parametrize(
    ("form", "evidence"),
    [
        (list, "indices"),
        (torch.tensor, "indices"),
        (lambda batch: [torch.tensor(batch)], "indices"),
        (as_pairs, "contents"),
        (as_indexed, "indices"),
        (as_mapping, "indices"),
    ],
)
@pytest.mark.parametrize(("sampler", "layout"), [(of_sets(), "paper"), (of_pools(), "pool")])
def test_our_samplers_are_sound_whatever_batches_look_like(sampler, layout, form, evidence):
    report = check_loader(Changed(sampler, form), LONG_TAIL, 2, layout=layout)
    report.raise_if_broken()
    assert report.is_sound
    assert report.evidence == evidence
    assert report.batches == [[12, 12]] if layout == "paper" else [[40, 40]]
    assert report.units == 188 if layout == "paper" else 80
    assert "NO" not in str(report)


def test_contents_that_stay_the_same_are_the_same_batch():
    report = check_loader(Changed(of_pools(classes_per_batch=None), as_arrays), LONG_TAIL, 2)
    assert report.evidence == "contents"
    assert report.shared_by_epochs == 1.0


def test_a_function_reads_batches_of_another_form():
    loader = Changed(of_sets(), lambda batch: [("image", int(LONG_TAIL[i]), i) for i in batch])
    with pytest.raises(ValueError, match=r"got a list of \[tuple, tuple.*pass read="):
        check_loader(loader, LONG_TAIL, 2, layout="paper")

    def read(batch):
        return torch.tensor([y for _, y, _ in batch]), torch.tensor([i for *_, i in batch])

    assert check_loader(loader, LONG_TAIL, 2, layout="paper", read=read).evidence == "indices"


@pytest.mark.parametrize(
    ("loader", "text"),
    [
        ([], "must yield batches, but there were none on rank 0 in epoch 0"),
        (iter([[0, 1, 60]]), "none on rank 0 in epoch 1; pass a loader, not an iterator"),
        ([[0, 1, 94]], "indices into labels, got a list of"),
        ([(torch.zeros(2), torch.tensor([0, 7]))], r"but \[7\] are not among them"),
        ([{"labels": torch.tensor([1]), "index": torch.tensor([0])}], "but they have others"),
        ([{"pixels": torch.zeros(2)}], r"a mapping with \['pixels'\]"),
        ([torch.zeros(2, 2)], r"torch.float32 of shape \(2, 2\)"),
    ],
)
def test_what_cannot_be_checked_is_refused(loader, text):
    with pytest.raises(ValueError, match=text):
        check_loader(loader, LONG_TAIL, 1, layout="paper")


def test_whole_numbers_that_are_no_indices_are_contents():
    data = TensorDataset(torch.arange(94).flip(0), LONG_TAIL)
    report = check_loader(DataLoader(data, batch_sampler=of_pools()), LONG_TAIL, 2)
    assert report.evidence == "contents"
    assert report.is_sound
