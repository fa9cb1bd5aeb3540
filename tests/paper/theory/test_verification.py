"""Every statement of the theory holds."""

import pytest
import torch
from statements import BAD, GOOD, statement_with

from oddkout.paper import theory
from oddkout.paper.theory import verification


@pytest.mark.parametrize("statement", verification.STATEMENTS, ids=lambda s: s.__name__)
def test_the_statement_holds(statement):
    result = statement()
    assert result.holds, str(result)


def test_verify_returns_the_statements_and_reports_each_at_once(monkeypatch):
    monkeypatch.setattr(
        verification, "STATEMENTS", (lambda: statement_with(GOOD), lambda: statement_with(BAD))
    )
    seen = []
    assert (
        theory.verify(on_claim=seen.append) == seen == [statement_with(GOOD), statement_with(BAD)]
    )


def test_verify_uses_one_thread_and_restores_the_number_of_threads(monkeypatch):
    during, threads = [], torch.get_num_threads()

    def statement():
        during.append(torch.get_num_threads())
        return statement_with(GOOD)

    monkeypatch.setattr(verification, "STATEMENTS", (statement,))
    torch.set_num_threads(2)
    try:
        theory.verify()
        assert (during, torch.get_num_threads()) == ([1], 2)
    finally:
        torch.set_num_threads(threads)
