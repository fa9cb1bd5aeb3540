"""The paper's theory, executable: every statement as a program that checks it."""

from oddkout.theory.claim import Check, Claim
from oddkout.theory.verification import verify

__all__ = ["Check", "Claim", "verify"]
