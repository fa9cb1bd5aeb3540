"""Statements of the theory for tests, with checks that hold and checks that do not."""

from dataclasses import replace

from oddkout.paper.theory import Check, Statement

GOOD = Check(quantity="one", value=1.0, relation="=", expected=1)
BAD = replace(GOOD, value=2.0)


def statement_with(*checks):
    return Statement(name="Lemma", statement="So it is.", computed="By hand.", checks=checks)
