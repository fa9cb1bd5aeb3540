"""The Lightning callback, on two processes."""

import pytest
import torch
from training_stacks import EVERY_LAYOUT

from oddkout import evaluate


@EVERY_LAYOUT
def test_the_callback_logs_what_one_process_measures_on_all_examples_once(launch, layout):
    ranks, out = launch("lightning")
    assert ranks[0][layout]["weights"] == ranks[1][layout]["weights"]
    weight, bias = map(torch.tensor, ranks[0][layout]["weights"])
    x = torch.randn(37, 1, generator=torch.Generator().manual_seed(0))
    report = evaluate(x @ weight.T + bias, torch.arange(37) % 5, replicates=100)
    for found in ranks:
        logged = found[layout]["logged"]
        for name in ("accuracy", "nll", "brier", "ece"):
            assert logged[f"val_{name}"] == pytest.approx(report[name].value, rel=1e-5)
        assert logged["val_ece_null"] == pytest.approx(report["ece"].null.mean, rel=0.1)
    pictures = sorted(out.glob("lightning_logs/*/reliability/*.png"))
    assert [p.name for p in pictures] == ["val-12.png", "val-18.png", "val-6.png"] * 2
