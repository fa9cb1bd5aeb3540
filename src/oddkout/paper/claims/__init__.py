"""The paper's empirical claims, each with a function that judges it from runs.

A verdict rests on the 95 % confidence interval of a difference that is paired by seed and averaged
over the sizes that both sides have. A claim that fails is a result, too.
"""

from oddkout.paper.claims.ablations import odd_class_claims, target_claims
from oddkout.paper.claims.accuracy import accuracy_claims
from oddkout.paper.claims.calibration import calibration_claims
from oddkout.paper.claims.claim import Claim, Judged, Outcome, Verdict, verdict_on
from oddkout.paper.claims.others import other_claims
from oddkout.paper.evidence import Evidence

__all__ = ["CLAIMS", "Claim", "Judged", "Outcome", "Verdict", "judged", "verdict_on"]

CLAIMS = (
    *accuracy_claims(),
    *calibration_claims(),
    *odd_class_claims(),
    *target_claims(),
    *other_claims(),
)


def judged(evidence: Evidence) -> list[Judged]:
    """All claims, each with its outcome."""
    return [Judged(claim=claim, outcome=claim.check(evidence)) for claim in CLAIMS]
