"""The outcome of a run: its metrics and its predictions."""

import numpy as np
import pytest
from grids import SMALL, metrics

import oddkout as oko
from oddkout.comparing.run import Run


def test_a_metric_without_a_value_reads_as_nan():
    run = Run(config=SMALL, as_trained=metrics(nll=None))
    assert np.isnan(run.value("nll"))


def test_tempered_predictions_are_those_that_were_measured(filled):
    store, comparison = filled
    for run in comparison.runs:
        read = store.read(run.config, has_predictions=True)
        for is_tempered, measured in ((False, run.as_trained), (True, run.tempered)):
            logits = read.test_logits(is_tempered=is_tempered)
            nll = oko.metrics.negative_log_likelihood(logits, read.labels).item()
            assert nll == pytest.approx(measured["nll"]["value"], rel=1e-5), run.config.method
