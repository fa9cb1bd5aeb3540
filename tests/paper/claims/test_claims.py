"""The list of claims: names, coverage, and what the paper itself contradicts."""

from collections import Counter

import pytest

from oddkout.paper.claims import CLAIMS, judged
from oddkout.paper.evidence import Evidence


def test_claims_have_unique_names_and_cover_the_paper():
    names = [claim.name for claim in CLAIMS]
    assert len(names) == len(set(names))
    kinds = Counter(name.split("/")[0] for name in names)
    assert set(kinds) == {
        "accuracy", "ece", "entropy-gap", "entropies", "k0", "k", "soft", "balancing", "cost",
    }  # fmt: skip
    assert sum(name.startswith("accuracy/") and name.count("/") == 3 for name in names) == 8 * 6


def test_without_runs_no_claim_has_a_verdict():
    assert {item.outcome.verdict for item in judged(Evidence([]))} == {"no data"}


def test_the_paper_contradicts_itself_where_its_tables_do():
    contradicted = {claim.name: claim.published for claim in CLAIMS if claim.contradicted}
    assert contradicted["balancing/fashion_mnist"] == pytest.approx(0.7124 - 0.7145)
    assert contradicted["entropy-gap/mnist/uniform/focal"] == pytest.approx(0.073 - 0.044)
    assert not any(name.startswith("accuracy/") for name in contradicted)
