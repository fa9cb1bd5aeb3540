"""The paper's theory: every statement is checked by a program."""

from oddkout.paper.theory.statement import Check, Statement
from oddkout.paper.theory.verification import verify

__all__ = ["Check", "Statement", "verify"]
