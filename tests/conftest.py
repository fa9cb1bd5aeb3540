"""Fixtures of the tests of comparisons and reports."""

import pytest
from synthetic import METHODS, fill


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    return fill(tmp_path_factory.mktemp("runs"), methods=METHODS)


@pytest.fixture
def without_pictures(monkeypatch):
    """Pictures take most of the time, and some tests do not look at them."""
    kinds = ("reliability", "entropy", "classes", "risk-coverage", "learning")
    monkeypatch.setattr(
        "oddkout.report.page.pictures", lambda comparison: {kind: [] for kind in kinds}
    )
