"""Fixtures of the tests of comparisons and reports."""

import pytest
from synthetic import METHODS, fill


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    return fill(tmp_path_factory.mktemp("runs"), methods=METHODS)


@pytest.fixture
def without_pictures(monkeypatch):
    """Skip the pictures, which are slow and not needed in some tests."""
    kinds = ("reliability", "entropy", "classes", "risk-coverage", "learning")
    monkeypatch.setattr(
        "oddkout.report.page.pictures", lambda comparison: {kind: [] for kind in kinds}
    )


@pytest.fixture
def ours_alone(monkeypatch):
    """Compare our methods alone, without guessing and logistic regression."""
    monkeypatch.setattr("oddkout.comparing.contestants.ALWAYS", ())
