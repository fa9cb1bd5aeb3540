"""All statements, in the order of the paper."""

from collections.abc import Callable

import torch

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
)


def verify(*, on_claim: Callable[[Statement], object] | None = None) -> list[Statement]:
    """Check every statement of the theory on this machine; see ``docs/theory.md``.

    Needs ``pip install 'oddkout[theory]'``, and takes less than half a minute.

    Args:
        on_claim: Called with every claim as soon as it is checked.
    """
    claims = []
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # the tensors are tiny: a second thread only gets in the way
    try:
        for statement in STATEMENTS:
            claim = statement()
            claims.append(claim)
            if on_claim is not None:
                on_claim(claim)
    finally:
        torch.set_num_threads(threads)
    return claims
