"""Held-out predictions of a saved classifier."""

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from oddkout import Classifier, fit
from oddkout.fitting.folds import UNSCORED
from oddkout.fitting.held_out_file import (
    HELD_OUT,
    held_out_rows,
    load_held_out,
    save_held_out,
)

QUICK = {"learning_rates": [0.1], "recipe": {"updates": 15}, "test_size": 0.0}


def table(examples=90):
    rng = np.random.default_rng(0)
    y = np.array(["ill", "well"])[(rng.random(examples) < 0.7).astype(int)]
    return rng.normal(size=(examples, 3)) + 2 * (y == "ill")[:, None], y


@pytest.mark.parametrize(
    ("options", "source", "examples"),
    [
        ({"folds": 3}, "members", 90),
        ({"folds": 3, "members": "single"}, "others", 90),
        ({"folds": 1}, "split", 9),
        ({"folds": 3, "calibrate": "none"}, "members", 90),
    ],
)
def test_what_was_scored_out_of_fold_is_kept_and_where_it_comes_from(options, source, examples):
    held_out = fit(table(), **QUICK, **options).held_out
    assert held_out.source == source
    assert held_out.logits.shape == (examples, 2)
    assert len(np.unique(held_out.folds)) == options["folds"]
    assert held_out.groups is None


def test_without_folds_nothing_is_kept():
    assert fit(table(), folds=0, **QUICK).held_out is None


def test_an_ensemble_of_fold_members_scores_its_held_out_rows_as_its_members_do():
    """Each held-out row is the prediction of its member, up to the calibration of the folds."""
    x, y = table()
    classifier = fit((x, y), folds=3, calibrate="none", **QUICK)
    held_out = classifier.held_out
    each = classifier.mixture.by_member(classifier.network_logits(x)).softmax(dim=2).numpy()
    own = torch.tensor(held_out.logits).softmax(dim=1).numpy()
    best = np.abs(each[:, None, :, :] - own[None, :, None, :]).max(axis=3)
    rows, members = np.arange(len(own)), held_out.folds
    nearest = best[:, rows, members].min(axis=0)
    assert (nearest < 1e-5).all()


def test_rows_without_a_fold_are_left_out_and_groups_are_renumbered():
    held_out = held_out_rows(
        torch.arange(8.0).view(4, 2),
        torch.tensor([0, 1, 0, 1]),
        torch.tensor([3, UNSCORED, 1, 3]),
        groups=torch.tensor([70, 5, 20, 70]),
        source="members",
    )
    assert held_out.labels.tolist() == [0, 0, 1]
    assert held_out.folds.tolist() == [1, 0, 1]
    assert held_out.groups.tolist() == [1, 0, 1]
    assert held_out.logits.tolist() == [[0, 1], [4, 5], [6, 7]]


def test_a_saved_classifier_keeps_them_to_the_bit_and_a_new_one_replaces_them(tmp_path):
    classifier = fit(table(), folds=3, **QUICK)
    classifier.save(tmp_path)
    again = Classifier.load(tmp_path).held_out
    assert again.source == "members"
    for name in ("logits", "labels", "folds"):
        np.testing.assert_array_equal(getattr(again, name), getattr(classifier.held_out, name))
    assert sorted(load_file(tmp_path / HELD_OUT)) == ["folds", "labels", "logits"]
    fit(table(), folds=0, **QUICK).save(tmp_path)
    assert not (tmp_path / HELD_OUT).exists()


def damaged(held_out, path, change):
    save_held_out(held_out, path)
    if change == "cut":
        path.write_bytes(path.read_bytes()[:-50])
    if change == "text":
        path.write_text("nothing")


@pytest.mark.parametrize("change", ["cut", "text", "classes"])
def test_damaged_files_are_refused(tmp_path, change):
    held_out = fit(table(), folds=3, **QUICK).held_out
    damaged(held_out, tmp_path / HELD_OUT, change)
    with pytest.raises(
        ValueError, match="cannot be read as the held-out predictions of this class"
    ):
        load_held_out(tmp_path / HELD_OUT, classes=3 if change == "classes" else 2)
    assert load_held_out(tmp_path / "gone", classes=2) is None
