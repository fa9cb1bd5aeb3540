"""Error rates among the most confident answers: exact limits, and tests over many thresholds."""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from oddkout.checks import Labels, Matrix, Number
from oddkout.decisions.inputs import labelled, share

# Each tested number of answers is this many times the one before it.
_STEP = 1.1
# The first tested number is this part of all answers: fewer are upset by a single error.
_FIRST = 4
# Points of the risk-coverage curve that has a band.
_POINTS = 20


def needed_answers(risk: float, confidence: float, *, errors: int = 0) -> int:
    """Least number of answers that shows a risk, if so many of them are wrong.

    Example:
        59 answers without an error show a risk of at most 5 %: 0.95 ** 59 < 0.05.

        >>> needed_answers(0.05, 0.95)
        59
    """
    from scipy.special import bdtr

    answers = max(errors + 1, math.ceil(math.log(1 - confidence) / math.log1p(-risk) - 1e-9))
    while bdtr(errors, answers, risk) > 1 - confidence:
        answers += 1
    return answers


def upper_limit(errors: int, answers: int, *, confidence: float) -> float:
    """Exact one-sided upper limit of an error rate (Clopper and Pearson, 1934).

    Example:
        >>> round(upper_limit(0, 59, confidence=0.95), 4)
        0.0495
    """
    from scipy.special import betaincinv

    if errors >= answers:
        return 1.0
    return float(betaincinv(errors + 1, answers - errors, confidence))


@dataclass(frozen=True)
class Ranked:
    """Answers, the most confident first, and where a threshold may separate them.

    Attributes:
        confidence: Confidences, highest first.
        errors: Number of wrong answers among the first 1, 2, ...
        cuts: Numbers of first answers that a threshold can separate from the rest.
    """

    confidence: Float[ndarray, " answers"]
    errors: Int[ndarray, " answers"]
    cuts: Int[ndarray, " cuts"]

    @classmethod
    def of(
        cls, confidence: Float[ndarray, " answers"], is_wrong: Float[ndarray, " answers"]
    ) -> "Ranked":
        """Sort answers by confidence."""
        order = np.argsort(-confidence, kind="stable")
        sorted_ = confidence[order]
        ends = np.flatnonzero(np.append(sorted_[:-1] > sorted_[1:], True)[: len(sorted_)]) + 1
        return cls(sorted_, is_wrong[order].cumsum().astype(np.int64), ends)

    def threshold(self, answers: int) -> float:
        """The confidence above which the first answers lie; 0 for all, 1 for none."""
        if answers == 0:
            return 1.0
        return 0.0 if answers == len(self.confidence) else float(self.confidence[answers])

    def safe_answers(self, *, risk: float, confidence: float) -> int:
        """Largest number of first answers shown to be wrong at most at the given rate; 0 if none.

        Numbers of answers are tested in a fixed sequence, from few to many, each by an exact
        binomial test, up to the first that fails (Learn then Test; Angelopoulos et al., 2021).
        The sequence depends on how many answers there are, not on which are right. It starts at a
        quarter of them, or at the least number that shows the risk if none is wrong.
        Given the threshold, the answers above it are a random sample of all such cases, so
        each test is exact. All together are exact if the error rate rises as the threshold falls.
        """
        from scipy.special import bdtr

        total = len(self.confidence)
        start = max(needed_answers(risk, confidence), total // _FIRST)
        sequence = []
        wanted = float(start)
        while start <= total:
            at = int(np.searchsorted(self.cuts, min(math.ceil(wanted), total)))
            cut = int(self.cuts[at])
            sequence.append(cut)
            if cut == total:
                break
            wanted = max(wanted * _STEP, cut + 1)
        safe = 0
        for answers in sequence:
            if bdtr(int(self.errors[answers - 1]), answers, risk) > 1 - confidence:
                break
            safe = answers
        return safe


@dataclass(frozen=True)
class RiskBand:
    """Error rate among the answered against the share that is answered.

    Attributes:
        coverage: Share of cases that are answered, the most confident first.
        risk: Error rate among them.
        low: Lower end of the band.
        high: Upper end of the band, which holds the whole curve with the stated confidence.
    """

    coverage: Float[ndarray, " points"]
    risk: Float[ndarray, " points"]
    low: Float[ndarray, " points"]
    high: Float[ndarray, " points"]


def risk_band(
    logits: Matrix = None, labels: Labels = None, *, probs: Matrix = None, confidence: Number = 0.95
) -> RiskBand:
    """Risk-coverage curve with a band: exact limits at 20 points, corrected for their number.

    Args:
        logits: Logits, of shape (examples, classes).
        labels: True classes.
        probs: Probabilities, instead of ``logits``.
        confidence: Confidence that all points lie in the band.

    Example:
        >>> band = risk_band(probs=[[0.9, 0.1], [0.6, 0.4]], labels=[0, 1])
        >>> band.coverage.tolist(), band.risk.tolist()
        ([0.5, 1.0], [0.0, 0.5])
    """
    rows, truth = labelled(logits, labels, probs=probs)
    is_wrong = rows.argmax(axis=1) != truth
    return band_of(
        Ranked.of(rows.max(axis=1), is_wrong.astype(float)), share("confidence", confidence)
    )


def band_of(ranked: Ranked, confidence: float) -> RiskBand:
    """The band of ranked answers."""
    total = len(ranked.confidence)
    wanted = np.ceil(np.linspace(0, total, _POINTS + 1)[1:]).astype(np.int64)
    cuts = np.unique(ranked.cuts[np.searchsorted(ranked.cuts, wanted)])
    errors = ranked.errors[cuts - 1]
    # Half of the allowed error on either side of each point.
    level = 1 - (1 - confidence) / (2 * len(cuts))
    pairs = list(zip(errors.tolist(), cuts.tolist(), strict=True))
    return RiskBand(
        coverage=cuts / total,
        risk=errors / cuts,
        low=np.array([1 - upper_limit(n - e, n, confidence=level) for e, n in pairs]),
        high=np.array([upper_limit(e, n, confidence=level) for e, n in pairs]),
    )
