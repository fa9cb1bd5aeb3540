"""Originals for all tests of this folder, made once, and copies to damage."""

import shutil

import pytest
from hostile.originals import compared_in, trained_in


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """A classifier of the table."""
    return trained_in(tmp_path_factory.mktemp("trained"))


@pytest.fixture(scope="session")
def compared(tmp_path_factory):
    """A comparison on the table."""
    return compared_in(tmp_path_factory.mktemp("compared"))


@pytest.fixture
def model(trained, tmp_path):
    """A copy of the classifier, to damage."""
    return shutil.copytree(trained, tmp_path / "model")


@pytest.fixture
def runs(compared, tmp_path):
    """A copy of the comparison, to damage."""
    return shutil.copytree(compared, tmp_path / "runs")
