"""A classifier on disk, and its exported files."""

import pytest
from exportable import PRIOR, saved_classifier

import oddkout as oko


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A classifier on disk and some of its examples."""
    return saved_classifier(tmp_path_factory.mktemp("cnn"))


@pytest.fixture(scope="session")
def files(folder):
    """The same classifier, exported in both formats."""
    return [
        oko.export(folder / "model", folder / f"prior.{suffix}", format=format, prior=PRIOR)
        for format, suffix in (("onnx", "onnx"), ("torch", "pt2"))
    ]
