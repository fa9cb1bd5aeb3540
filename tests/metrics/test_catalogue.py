"""The table of metrics: complete, and unambiguous."""

import torch

from oddkout import evaluate
from oddkout.metrics.catalogue import METRICS


def test_every_metric_of_an_evaluation_has_a_row_and_a_title_of_its_own():
    logits = torch.randn(60, 3, generator=torch.Generator().manual_seed(0))
    measured = evaluate(logits, torch.arange(60) % 3, replicates=40).metrics
    assert list(measured) == list(METRICS)
    assert len({metric.title for metric in METRICS.values()}) == len(METRICS)
    assert all(metric.meaning.endswith(".") for metric in METRICS.values())


def test_the_direction_is_that_of_better_predictions():
    """A model that knows the classes better is better by every metric that has a direction."""
    generator = torch.Generator().manual_seed(0)
    true = 3 * torch.randn(4000, 3, generator=generator)
    labels = true.softmax(dim=1).multinomial(1, generator=generator)[:, 0]
    noise = 6 * torch.randn(4000, 3, generator=generator)
    good, bad = (evaluate(logits, labels, replicates=40) for logits in (true, true + noise))
    for name, metric in METRICS.items():
        if metric.direction != "none":
            assert metric.sign * good[name].value < metric.sign * bad[name].value, name
