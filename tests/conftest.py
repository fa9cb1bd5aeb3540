"""Fixtures of the tests of comparisons and reports."""

import jaxtyping
import pytest
from synthetic import METHODS, fill


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    return fill(tmp_path_factory.mktemp("runs"), methods=METHODS)


@pytest.fixture(scope="module")
def without_shape_checks():
    """Skip the checks of shapes: a third of the time of long tests, whose parts have their own."""
    before = jaxtyping.config.jaxtyping_disable
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", before)


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
