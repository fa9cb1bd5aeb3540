"""Exports of tables and of several members work, and files name no path."""

import zipfile
from dataclasses import replace

import numpy as np
import pytest
import torch
from exportable import PRIOR, image_classifier, patients, table_classifier

import oddkout as oko
from oddkout.mixture import Mixture
from oddkout.models.cosine import with_cosine_layer
from oddkout.models.ensemble import Ensemble


@pytest.mark.parametrize("columns", [["time", "dose, mg"], ["ward", "drug"]])
def test_tables_of_numbers_or_text_alone_are_exported(columns, tmp_path):
    frame = patients(100)[columns]
    result = oko.export(table_classifier(frame), tmp_path / "model.onnx", examples=frame)
    assert result.real == 100
    assert result.difference < 1e-5


def test_files_name_no_place_on_the_machine_that_made_them(folder, files):
    with zipfile.ZipFile(files[1].path) as archive:
        parts = [archive.read(name) for name in archive.namelist()]
    for text in (b"site-packages", b"src/oddkout", b'.py"', str(folder).encode()):
        assert not any(text in part for part in [*parts, files[0].path.read_bytes()])


@pytest.mark.parametrize(("format", "suffix"), [("onnx", "onnx"), ("torch", "pt2")])
@pytest.mark.parametrize("prior", [None, PRIOR])
def test_one_file_holds_all_members_and_their_calibration(tmp_path, format, suffix, prior):
    """``export`` itself compares the file with the classifier; it raises beyond 1e-5."""
    first, second = (image_classifier("cnn", channels=1, size=8) for _ in range(2))
    with torch.no_grad():
        second.model.out.weight.neg_()
    view = first.mixture.views[0]
    sharper = replace(view.ledger, exponent=1.3)
    together = replace(
        first,
        model=Ensemble([first.model, second.model]),
        mixture=Mixture(views=(replace(view, members=2, ledger=sharper),)),
    )
    path = tmp_path / f"members.{suffix}"
    exported = oko.export(together, path, format=format, prior=prior)
    assert exported.facts["members"] == 2
    x = np.random.default_rng(0).integers(0, 256, (5, 8, 8), dtype=np.uint8)
    alone = replace(together, model=first.model, mixture=first.mixture)
    gap = np.abs(together.predict_proba(x, prior=prior) - alone.predict_proba(x, prior=prior))
    assert gap.max() > 0.01, "the second member matters"
    again = oko.Classifier.load(together.save(tmp_path / "saved"))
    np.testing.assert_array_equal(again.predict_proba(x), together.predict_proba(x))


@pytest.mark.parametrize(("format", "suffix"), [("onnx", "onnx"), ("torch", "pt2")])
@pytest.mark.parametrize("prior", [None, PRIOR])
def test_one_file_holds_the_views_of_a_stack(tmp_path, format, suffix, prior):
    """Networks of two methods, of which one has a last layer of cosines and two members."""
    first, second, third = (image_classifier("cnn", channels=1, size=8) for _ in range(3))
    with torch.no_grad():
        second.model.out.weight.neg_()
        third.model.dense.weight.neg_()
    view = first.mixture.views[0]
    cosine = replace(
        view,
        method="ldam+drw",
        network="cnn+cosine",
        ledger=replace(view.ledger, temperature=3.0, strength=-0.2, exponent=1.2),
        members=2,
        weight=0.3,
    )
    networks = [first.model, with_cosine_layer(second.model), with_cosine_layer(third.model)]
    stack = replace(
        first,
        model=Ensemble(networks),
        mixture=Mixture(views=(replace(view, weight=0.7), cosine), exponent=1.1),
    )
    oko.export(stack, tmp_path / f"stack.{suffix}", format=format, prior=prior)
    x = np.random.default_rng(0).integers(0, 256, (5, 8, 8), dtype=np.uint8)
    again = oko.Classifier.load(stack.save(tmp_path / "saved"))
    np.testing.assert_array_equal(again.predict_proba(x), stack.predict_proba(x))
