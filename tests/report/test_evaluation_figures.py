"""The figures of one evaluation, as files."""

from random_predictions import drawn

import oddkout as oko
from oddkout.report.evaluation_figures import save_figures


def test_an_evaluation_writes_its_four_figures(tmp_path):
    logits, labels = drawn(300, 4)
    report = oko.evaluate(logits, labels, replicates=50)
    paths = save_figures(report, tmp_path / "new" / "folder")
    assert [path.name for path in paths] == [
        "reliability.png",
        "entropy.png",
        "risk-coverage.png",
        "classes.png",
    ]
    for path in paths:
        assert path.read_bytes().startswith(b"\x89PNG")
