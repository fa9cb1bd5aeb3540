"""Prediction sets: as many classes as needed to hold the true one with a stated coverage."""

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from oddkout.checks import Matrix, Number, few, one_of
from oddkout.decisions.calibrated import Calibrated, CalibrationExamples
from oddkout.decisions.clusters import clustered_classes
from oddkout.decisions.inputs import percent, probabilities, share
from oddkout.decisions.promises import Source, promised_coverage
from oddkout.decisions.scores import SCORES, conformity_scores
from oddkout.decisions.tails import ScoreTail, is_vacuous


class PredictionSets(Calibrated):
    """Sets of classes that hold the true class with a stated coverage (conformal prediction).

    A class is in the set unless fewer than a share alpha = 1 - ``coverage`` of the calibration
    examples, the new one included, fit it as badly. Nothing is assumed about the model; the
    calibration examples must come from where the sets are used, and no model may have seen those
    that it scores. The coverage is an average over sets of calibration examples, too.

    A class with fewer than 1 / alpha - 1 calibration examples of its own can never be excluded. It
    is in every set, and ``notes`` says so.

    Args:
        coverage: Share of examples whose set holds the true class.
        by_class: True: the coverage holds for each class. It then holds for any class frequencies,
            too. False: only on average, so that rare classes may be missed. ``"clustered"``: on
            average over classes whose scores are alike, for many classes of medium size.
        score: How badly a class fits: ``"lac"``, ``"aps"`` or ``"raps"``; see
            ``conformity_scores``. ``"lac"`` gives the smallest sets, some of them empty; ``"aps"``
            gives larger sets to difficult examples. Without a seed, ``"aps"`` gives the least
            probable class the score 1, so that with two classes it seldom excludes one.
        seed: Seed for randomised scores and ties. On average over seeds the coverage is then exact
            instead of at least the stated one, and sets are smaller. By default nothing is random,
            except for the examples that find clusters.

    Attributes:
        classes: Names of the classes.
        always: Positions of the classes that are in every set, for want of examples.
        promised: Coverage of each class that a theorem guarantees, with its cluster or on average
            if not ``by_class``.
        notes: What a user should know, one sentence each.

    Example:
        Nine calibration examples per class just suffice for 90 %.

        >>> probs, labels = [[0.9, 0.1]] * 9 + [[0.2, 0.8]] * 9, [0] * 9 + [1] * 9
        >>> sets = PredictionSets(coverage=0.9).fit(probs=probs, labels=labels)
        >>> sets.predict(probs=[[0.95, 0.05], [0.5, 0.5]]).tolist()
        [[True, False], [False, False]]
    """

    always: tuple[int, ...]
    promised: Float[ndarray, " classes"]

    def __init__(
        self,
        coverage: Number = 0.9,
        *,
        by_class: bool | str = True,
        score: str = "lac",
        seed: int | None = None,
    ) -> None:
        self.coverage = share("coverage", coverage)
        if by_class not in (True, False, "clustered"):
            raise ValueError(f"by_class must be True, False or 'clustered', got {by_class!r}")
        one_of("score", score, SCORES)
        self.by_class = by_class
        self.score = score
        self.seed = seed

    def _calibrate(self, examples: CalibrationExamples) -> None:
        truth, count = examples.labels, len(self.classes)
        has_members = examples.folds is not None
        member_of = np.zeros(len(truth), np.int64) if examples.folds is None else examples.folds
        self.members = int(member_of.max()) + 1 if has_members else 1
        self._has_members = has_members
        uniforms = self._uniforms(0, len(truth))
        scores = conformity_scores(examples.probs, score=self.score, uniforms=uniforms)
        own = scores[np.arange(len(truth)), truth]
        is_calibrating = np.ones(len(truth), bool)
        self._category = np.arange(count) if self.by_class is True else np.zeros(count, np.int64)
        if self.by_class == "clustered":
            clusters = clustered_classes(
                own, truth, classes=count, alpha=1 - self.coverage, seed=self.seed or 0
            )
            self._category, is_calibrating = clusters.cluster_of, ~clusters.is_used
        category = self._category[truth]
        # No theorem covers members together with weights; by class, a shift needs no weights.
        has_shift = self._shift.is_shifted and self.by_class is not True
        self._is_weighted = examples.groups is not None or has_shift
        unit = _group_weights(examples.groups, category, is_calibrating)
        weights = unit * self._shift.weights[truth]
        self._tails = [
            [
                ScoreTail.of(own[mine], weights[mine])
                for member in range(self.members)
                for mine in [is_calibrating & (category == place) & (member_of == member)]
            ]
            for place in range(int(self._category.max()) + 1)
        ]
        sizes = np.bincount(category, weights=unit * is_calibrating, minlength=len(self._tails))
        self._describe(sizes.round().astype(np.int64)[self._category])

    def predict(
        self, logits: Matrix = None, *, probs: Matrix = None
    ) -> Bool[ndarray, "examples classes"]:
        """Whether each class is in the set of each example.

        Args:
            logits: Logits, of shape (examples, classes); after ``fit`` with folds those of every
                member, of shape (examples, members, classes).
            probs: Probabilities, instead of ``logits``.
        """
        is_in = self.p_values(logits, probs=probs) > 1 - self.coverage + 1e-12
        is_in[:, list(self.always)] = True
        return is_in

    def p_values(
        self, logits: Matrix = None, *, probs: Matrix = None
    ) -> Float[ndarray, "examples classes"]:
        """Share of the calibration examples, the new one included, that fit as badly.

        The arguments are those of ``predict``.
        """
        if not hasattr(self, "_tails"):
            raise ValueError("the sets are not fitted; call fit with calibration examples first")
        given = self._member_probabilities(logits, probs)
        uniforms = self._uniforms(1, len(given))
        ties = self._uniforms(2, len(given))
        scores = [
            conformity_scores(
                self._shift.moved(given[:, member]), score=self.score, uniforms=uniforms
            )
            for member in range(self.members)
        ]
        p_values = np.empty((len(given), len(self.classes)))
        for number, place in enumerate(self._category):
            new = float(self._shift.weights[number])
            tails = list(zip(self._tails[place], scores, strict=True))
            as_bad = sum(tail.beyond(own[:, number], is_strict=False) for tail, own in tails) + new
            if ties is not None:
                worse = sum(tail.beyond(own[:, number], is_strict=True) for tail, own in tails)
                as_bad = worse + ties * (as_bad - worse)
            p_values[:, number] = as_bad / (sum(tail.total for tail, _ in tails) + new)
        return p_values

    @property
    def guarantee(self) -> str:
        """What the sets promise, in words."""
        return self.guarantee_from("members" if self._has_members else "split")

    def guarantee_from(self, source: Source) -> str:
        """What the sets promise if their calibration scores come from a source."""
        alpha, wanted = 1 - self.coverage, percent(self.coverage)
        whom = {
            True: "for each class, whatever the class frequencies",
            False: "on average over all classes, not for each class",
            "clustered": "on average over the classes of a cluster, not for each class",
        }[self.by_class]
        if source == "split":
            verb = "holds" if self.seed is None else "holds, by randomisation,"
            return f"the set {verb} the true class in at least {wanted} of cases, {whom}"
        if source == "others":
            return (
                f"the set aims at {wanted} coverage, {whom}, but nothing is guaranteed: the "
                "calibration scores come from other networks than the prediction"
            )
        if self._is_weighted:
            return (
                f"the set aims at {wanted} coverage, {whom}, but nothing is guaranteed: theory has "
                "no bound for scores of fold members (CV+) with groups or changed class frequencies"
            )
        least = [c for number, c in enumerate(self.promised) if number not in self.always]
        floor = percent(min(least)) if least else percent(1 - 2 * alpha)
        return (
            f"the set aims at {wanted} coverage, {whom}; theory guarantees {floor} for scores of "
            f"fold members (CV+): 1 - 2 alpha = {percent(max(0.0, 1 - 2 * alpha))}, less a term "
            "for the size of the folds"
        )

    def _describe(self, sizes: Int[ndarray, " classes"]) -> None:
        """Set ``always``, ``promised`` and ``notes`` from the number of examples of each class."""
        alpha, own = 1 - self.coverage, self._shift.weights
        totals = np.array([sum(tail.total for tail in self._tails[p]) for p in self._category])
        vacuous = is_vacuous(totals, own, alpha=alpha)
        self.always = tuple(np.flatnonzero(vacuous).tolist())
        source: Source = "members" if self._has_members else "split"
        if self._has_members and self._is_weighted:
            source = "others"
        promised = promised_coverage(sizes, alpha=alpha, source=source, folds=max(2, self.members))
        self.promised = np.where(vacuous, 1.0, promised)
        needed = int(np.ceil(1 / alpha - 1 - 1e-9))
        self.notes = ()
        if self.always:
            names = [f"{self.classes[c]} ({sizes[c]})" for c in self.always]
            whose = "per class" if self.by_class is True else "per cluster"
            whose = whose if self.by_class else "in total"
            self.notes = (
                f"{percent(self.coverage)} coverage needs at least {needed} calibration examples "
                f"{whose}, but {few(names)} have fewer: these classes are in every set, so the "
                "guarantee says nothing about them; collect more examples or lower the coverage",
            )

    def _member_probabilities(
        self, logits: Matrix, probs: Matrix
    ) -> Float[ndarray, "examples members classes"]:
        """Checked predictions, with an axis for the members."""
        given = probs if logits is None else logits
        shape = tuple(np.shape(given))
        count = len(self.classes)
        if self._has_members and (len(shape) != 3 or shape[1] != self.members):
            raise ValueError(
                "the sets were fitted with folds, so predictions must be those of every member, of "
                f"shape (examples, {self.members}, {count}), got shape {shape}; fit without folds "
                "for a model that saw none of the calibration examples"
            )
        if not self._has_members:
            return probabilities(logits, probs=probs, classes=count)[:, None]
        flat = given.reshape(-1, shape[2]) if hasattr(given, "reshape") else np.reshape(
            np.asarray(given), (-1, shape[2])
        )  # fmt: skip
        rows = (
            probabilities(probs=flat, classes=count)
            if logits is None
            else probabilities(flat, classes=count)
        )
        return rows.reshape(shape[0], self.members, count)

    def _uniforms(self, stream: int, examples: int) -> Float[ndarray, " examples"] | None:
        """Numbers from 0 to 1, or None without a seed."""
        if self.seed is None:
            return None
        return np.random.default_rng([self.seed, stream]).random(examples)


def _group_weights(
    groups: Int[ndarray, " examples"] | None,
    category: Int[ndarray, " examples"],
    is_calibrating: Bool[ndarray, " examples"],
) -> Float[ndarray, " examples"]:
    """Weight of each example: all examples of a group in a category weigh 1 together."""
    if groups is None:
        return np.ones(len(category))
    pairs = groups * (int(category.max()) + 1) + category
    _, number = np.unique(pairs, return_inverse=True)
    counts = np.bincount(number, weights=is_calibrating.astype(float))
    weights: Float[ndarray, " examples"] = 1 / np.maximum(counts[number], 1)
    return weights
