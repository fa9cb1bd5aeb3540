"""What several files of tests of the report begin with."""

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
        "oddkout.report.section.pictures", lambda comparison, name: {kind: [] for kind in kinds}
    )
