"""The ledger of claims: counts, and what the claims without runs need."""

from collections import Counter
from dataclasses import replace

import pytest
from made_up import made_up

from oddkout.paper.claims import judged
from oddkout.paper.evidence import Evidence
from oddkout.paper.ledger import claims_document, is_silent, verdict_counts, verdict_table
from oddkout.paper.presets import PROTOCOL_GRID

_NEEDED = {
    "accuracy": "all methods of Table 1",
    "ece": "all methods of figure 10",
    "entropy-gap": "all methods of Table 2",
    "k0": "k = 0, 1, 2, 3",
    "k": "k = 1, 2, 3",
    "soft": "hard and soft targets",
    "balancing": "BB and weighted cross-entropy",
}


@pytest.fixture(scope="module")
def whole():
    """The ledger once the protocol's grid is performed: its smallest sizes suffice."""
    runs = []
    for setting, variant, seed in PROTOCOL_GRID.entries:
        if seed < 42 and setting.per_class == (40 if setting.data.startswith("cifar") else 10):
            run = made_up(setting, variant, seed=seed)
            config = replace(PROTOCOL_GRID.config(setting, variant), seed=seed)
            extras = {"entropy": {"correct": [9] + [0] * 48 + [1], "wrong": [1] + [0] * 48 + [4]}}
            runs.append(replace(run, config=config, extras=extras, seconds={"cpu": 9.0}))
    return judged(Evidence(runs, PROTOCOL_GRID))


def test_the_whole_grid_leaves_at_most_60_claims_without_data(whole):
    silent = [item for item in whole if item.outcome.verdict == "no data"]
    assert len(whole) == 263
    assert len(silent) <= 60
    data = Counter(item.claim.name.split("/")[1] for item in silent)
    assert set(data) == {"cifar100", "20-shot", "50-shot"}, "for which the paper lacks a number"
    assert data["cifar100"] == 43


def test_every_claim_without_runs_is_named_with_what_it_needs(whole):
    text = claims_document(whole).markdown()
    section = text[text.index("### Claims without runs") :]
    for item in filter(is_silent, whole):
        needed = _NEEDED[item.claim.name.split("/")[0]]
        assert f"| {item.claim.statement} | {item.claim.where} | {needed} |" in section
    assert section.count("\n| ") == 2 + sum(map(is_silent, whole)), "no other rows"


def test_the_counts_add_up(whole):
    rows = verdict_table(whole).rows
    assert sum(int(row[1]) for row in rows) == 263
    assert all(int(row[1]) == sum(map(int, row[2:])) for row in rows)
    assert verdict_counts([]) == "0 hold, 0 do not hold, 0 undecided, 0 without data"
