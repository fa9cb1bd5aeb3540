"""From probability to action: prediction sets, referral, and decisions by cost."""

from oddkout.decisions.costing import PolicyCost, cheapest_answers, costs, policy_costs
from oddkout.decisions.coverage import SetCoverage, set_coverage
from oddkout.decisions.decision_curve import DecisionCurve, decision_curve
from oddkout.decisions.referral import Referral
from oddkout.decisions.risk_limits import RiskBand, risk_band
from oddkout.decisions.scores import conformity_scores
from oddkout.decisions.sets import PredictionSets

__all__ = [
    "DecisionCurve",
    "PolicyCost",
    "PredictionSets",
    "Referral",
    "RiskBand",
    "SetCoverage",
    "cheapest_answers",
    "conformity_scores",
    "costs",
    "decision_curve",
    "policy_costs",
    "risk_band",
    "set_coverage",
]
