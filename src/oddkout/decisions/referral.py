"""Referral: answer when the model is confident enough, else pass the case on."""

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped
from numpy import ndarray

from oddkout.checks import Matrix, Number
from oddkout.decisions.calibrated import Calibrated, CalibrationExamples
from oddkout.decisions.inputs import named, percent, probabilities, share
from oddkout.decisions.risk_limits import Ranked, RiskBand, band_of, needed_answers, upper_limit

REFER = "refer"


class Referral(Calibrated):
    """Answers confident cases and refers the others, at a stated risk.

    With ``risk=``, the threshold on confidence is the lowest at which the error rate among the
    answered cases is shown to be at most the risk, with the stated confidence over all
    calibration sets; see ``Ranked.safe_answers``. With ``coverage=``, that share of cases is
    answered, and ``limits`` says how many of the answers may be wrong.

    Args:
        risk: Largest error rate among answered cases.
        coverage: Share of cases to answer, instead of ``risk``.
        confidence: Confidence in the error rate.
        by_class: Whether the risk holds for the answers of each class, all classes together with
            the stated confidence; each class then has a threshold of its own. By default it holds
            for all answers together.
        seed: Seed of the choice of examples, with ``groups`` or ``prior``.

    Attributes:
        classes: Names of the classes.
        thresholds: A case is answered if its confidence is above that of the predicted class.
        answered: Number of answered calibration examples, by class if ``by_class``.
        errors: Number of wrong answers among them.
        limits: Upper limit of the error rate, at the stated confidence.
        examples: Number of calibration examples that were used.
        curve: Risk-coverage curve of the calibration examples, with its band.
        notes: What a user should know, one sentence each.

    Example:
        >>> probs = [[0.99, 0.01]] * 100 + [[0.6, 0.4]] * 100
        >>> labels = [0] * 100 + [0, 1] * 50
        >>> referral = Referral(risk=0.05).fit(probs=probs, labels=labels)
        >>> referral.predict(probs=[[0.99, 0.01], [0.6, 0.4]]).tolist()
        [0, 'refer']
    """

    thresholds: Float[ndarray, " classes"]
    answered: Int[ndarray, " parts"]
    errors: Int[ndarray, " parts"]
    limits: Float[ndarray, " parts"]
    examples: int
    curve: RiskBand

    def __init__(
        self,
        risk: Number | None = None,
        *,
        coverage: Number | None = None,
        confidence: Number = 0.95,
        by_class: bool = False,
        seed: int = 0,
    ) -> None:
        if (risk is None) == (coverage is None):
            raise ValueError(
                "either risk or coverage must be given, got "
                + ("neither" if risk is None else "both")
                + "; pass risk=0.05 for at most 5 % wrong answers, or coverage=0.8 to answer 80 %"
            )
        self.risk = None if risk is None else share("risk", risk)
        self.coverage = None if coverage is None else share("coverage", coverage)
        self.confidence = share("confidence", confidence)
        self.by_class = by_class
        self.seed = seed

    def _calibrate(self, examples: CalibrationExamples) -> None:
        if examples.folds is not None:
            raise ValueError(
                "folds are for prediction sets, but referral has one prediction per case; leave "
                "them out and fit to out-of-fold predictions"
            )
        count = len(self.classes)
        is_used = self._drawn(examples)
        rows, truth = examples.probs[is_used], examples.labels[is_used]
        confidence, predicted = rows.max(axis=1), rows.argmax(axis=1)
        is_wrong = (predicted != truth).astype(float)
        parts = [predicted == c for c in range(count)] if self.by_class else [truth >= 0]
        level = 1 - (1 - self.confidence) / len(parts)
        ranked = [Ranked.of(confidence[mine], is_wrong[mine]) for mine in parts]
        kept = [self._answers(part, level) for part in ranked]
        limits = [part.threshold(n) for part, n in zip(ranked, kept, strict=True)]
        self.thresholds = np.broadcast_to(np.array(limits, dtype=float), (count,)).copy()
        self.answered = np.array(kept, dtype=np.int64)
        self.errors = np.array(
            [part.errors[n - 1] if n else 0 for part, n in zip(ranked, kept, strict=True)],
            dtype=np.int64,
        )
        self.limits = np.array(
            [
                upper_limit(int(wrong), n, confidence=level)
                for wrong, n in zip(self.errors, kept, strict=True)
            ]
        )
        self.examples = len(truth)
        self.curve = band_of(Ranked.of(confidence, is_wrong), self.confidence)
        self.notes = self._notes([len(part.confidence) for part in ranked], level)

    def predict(
        self, logits: Matrix = None, *, probs: Matrix = None
    ) -> Shaped[ndarray, " examples"]:
        """The predicted class of each case, or ``"refer"``.

        Classes are numbers, or names if ``fit`` was given names.

        Args:
            logits: Logits, of shape (examples, classes).
            probs: Probabilities, instead of ``logits``.
        """
        rows = self.moved(logits, probs=probs)
        is_named = self.classes != named(None, len(self.classes))
        answers = np.array(self.classes if is_named else range(len(self.classes)), dtype=object)
        return np.where(self._is_answered(rows), answers[rows.argmax(axis=1)], REFER)

    def moved(
        self, logits: Matrix = None, *, probs: Matrix = None
    ) -> Float[ndarray, "examples classes"]:
        """Probabilities for the class frequencies of ``fit``; arguments as in ``predict``."""
        if not hasattr(self, "thresholds"):
            raise ValueError("referral is not fitted; call fit with calibration examples first")
        return self._shift.moved(probabilities(logits, probs=probs, classes=len(self.classes)))

    def _is_answered(self, rows: Float[ndarray, "examples classes"]) -> Bool[ndarray, " examples"]:
        """Whether each case is answered."""
        return np.asarray(rows.max(axis=1) > self.thresholds[rows.argmax(axis=1)])

    @property
    def guarantee(self) -> str:
        """What is promised of the answers, in words."""
        if not self.answered.sum():
            return "no case is answered, so nothing is promised"
        worst = self.risk if self.risk is not None else float(self.limits.max())
        whose = "of the answers of each class" if self.by_class else "of the answered"
        sure = percent(self.confidence)
        return f"at most {percent(worst)} {whose} are wrong, with {sure} confidence"

    def _answers(self, ranked: Ranked, level: float) -> int:
        """Number of calibration examples to answer."""
        if self.risk is not None:
            return ranked.safe_answers(risk=self.risk, confidence=level)
        wanted = round(self.coverage * len(ranked.confidence)) if self.coverage else 0
        return int(ranked.cuts[ranked.cuts <= wanted].max(initial=0))

    def _drawn(self, examples: CalibrationExamples) -> Bool[ndarray, " examples"]:
        """Examples that are independent draws from where cases are decided."""
        truth = examples.labels
        rng = np.random.default_rng(self.seed)
        is_used = np.ones(len(truth), bool)
        if examples.groups is not None:
            order = rng.permutation(len(truth))
            _, first = np.unique(examples.groups[order], return_index=True)
            is_used = np.isin(np.arange(len(truth)), order[first])
        if examples.shift.is_shifted:
            chance = examples.shift.weights[truth]
            is_used &= rng.random(len(truth)) < chance / chance.max()
            if not is_used.any():
                is_used[int(chance.argmax())] = True
        return is_used

    def _notes(self, sizes: list[int], level: float) -> tuple[str, ...]:
        """Say which answers cannot be given for want of examples."""
        if self.risk is None:
            return ()
        needed = needed_answers(self.risk, level)
        names = self.classes if self.by_class else ("all classes together",)
        lacking = [f"{n} ({size})" for n, size in zip(names, sizes, strict=True) if size < needed]
        failing = [
            str(name)
            for name, size, kept in zip(names, sizes, self.answered, strict=True)
            if size >= needed and not kept
        ]
        found: tuple[str, ...] = ()
        if lacking:
            found += (
                f"a risk of {percent(self.risk)} needs at least {needed} answers without an error, "
                f"but there are fewer calibration examples for {', '.join(lacking[:8])}: all these "
                "cases are referred; collect more examples or allow a higher risk",
            )
        if failing:
            found += (
                f"a risk of {percent(self.risk)} could not be shown for {', '.join(failing[:8])}: "
                "too many of the most confident answers are wrong, given their number, so that all "
                "these cases are referred",
            )
        return found
