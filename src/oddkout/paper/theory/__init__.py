"""The paper's theory, executable: every statement as a program that checks it."""

from oddkout.paper.theory.statement import Check, Statement
from oddkout.paper.theory.verification import verify

__all__ = ["Check", "Statement", "verify"]
