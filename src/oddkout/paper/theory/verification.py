"""Verification of all statements, in the order of the paper."""

from collections.abc import Callable

import torch

from oddkout.paper.theory.adjusted_sets import adjusted_sets
from oddkout.paper.theory.balancing import balancing
from oddkout.paper.theory.divergence import divergence
from oddkout.paper.theory.excess_confidence import excess_confidence
from oddkout.paper.theory.low_data import theorem_1
from oddkout.paper.theory.odd_head import odd_head
from oddkout.paper.theory.pools import pools
from oddkout.paper.theory.risk_minima import risk_minima
from oddkout.paper.theory.risks import risks
from oddkout.paper.theory.shift import shift_invariance
from oddkout.paper.theory.statement import Statement
from oddkout.paper.theory.two_points import two_points

STATEMENTS: tuple[Callable[[], Statement], ...] = (
    theorem_1,
    risks,
    risk_minima,
    divergence,
    balancing,
    excess_confidence,
    shift_invariance,
    two_points,
    pools,
    odd_head,
    adjusted_sets,
)


def verify(*, on_claim: Callable[[Statement], object] | None = None) -> list[Statement]:
    """Check every statement of the theory; see ``docs/theory.md``.

    It needs ``pip install 'oddkout[theory]'`` and takes less than half a minute.

    Args:
        on_claim: Called with every statement as soon as it is checked.
    """
    statements = []
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # for tiny tensors a second thread costs more than it saves
    try:
        for check in STATEMENTS:
            statement = check()
            statements.append(statement)
            if on_claim is not None:
                on_claim(statement)
    finally:
        torch.set_num_threads(threads)
    return statements
