"""Ours: sets drawn in a class-balanced pool against sets drawn from all the data.

A set in a pool is distributed as in Algorithm 1; only sets of the same pool depend on each other.
So the gradient stays unbiased, and its variance is within / S + between for S sets in a pool.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, product

import torch
import torch.nn.functional as F
from jaxtyping import Float64, Int64
from torch import Tensor

from oddkout.checks import Number
from oddkout.losses import OddKOutLoss
from oddkout.paper.theory.algorithm import every_set, examples_of, set_probabilities
from oddkout.paper.theory.statement import Check, Statement
from oddkout.sets import ClassIndex, set_sum

CASES = (  # labels, classes and examples per class in a pool, k
    ([0, 0, 0, 0, 1, 1, 1, 2, 2], 2, 2, 0),
    ([0, 0, 0, 0, 1, 1, 1, 2, 2], 2, 2, 1),
    ([0, 0, 0, 0, 1, 1, 1, 2, 2], 3, 3, 1),
    ([0, 0, 0, 1, 1, 1, 2, 2, 3, 3], 3, 2, 2),
)


def pool_probabilities(
    labels: Sequence[int], *, classes: int, per_class: int
) -> dict[tuple[int, ...], Fraction]:
    """Probability of every pool: classes uniformly, then examples of each without replacement."""
    members = examples_of(labels)
    chosen = list(combinations(members, classes))
    probability: dict[tuple[int, ...], Fraction] = {}
    for some in chosen:
        choices = [combinations(members[c], min(per_class, len(members[c]))) for c in some]
        pools = [sum(parts, ()) for parts in product(*choices)]
        probability |= {pool: Fraction(1, len(chosen) * len(pools)) for pool in pools}
    return probability


def set_probabilities_in_pools(
    labels: Sequence[int], *, classes: int, per_class: int, k: int
) -> dict[tuple[int, ...], Fraction]:
    """Probability of every set that is drawn by Algorithm 1 inside a random pool."""
    total: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    pools = pool_probabilities(labels, classes=classes, per_class=per_class)
    for pool, chance in pools.items():
        for places, inside in set_probabilities([labels[i] for i in pool], k).items():
            total[tuple(pool[place] for place in places)] += chance * inside
    return dict(total)


def set_gradients(
    x: Float64[Tensor, "examples features"],
    labels: Int64[Tensor, " examples"],
    sets: Int64[Tensor, "sets members"],
    weights: Float64[Tensor, "classes features"],
) -> Float64[Tensor, "sets entries"]:
    """Gradient of the hard loss of each set in the weights of a linear model.

    Logits are linear, so that a set acts as one example, the sum of its members.
    """
    summed = x[sets].sum(dim=1)
    errors = set_sum(x @ weights.T, sets).softmax(dim=1)
    errors = errors - F.one_hot(labels[sets[:, 0]], len(weights))
    return (errors[:, :, None] * summed[:, None, :]).flatten(1)


@dataclass(frozen=True)
class LayoutVariances:
    """Variance of one update's gradient, summed over its entries.

    Attributes:
        cost: Examples that an update forwards, in either layout.
        k: Number of odd classes in a set.
        one_set: Variance of the gradient of one set, exact.
        between: Variance of the mean gradient over all sets of a pool, over random pools.
        between_error: Its standard error.
        within: Variance of a set inside its pool, estimated likewise; a cross-check.
        within_error: Its standard error.
    """

    cost: int
    k: int
    one_set: float
    between: float
    between_error: float
    within: float
    within_error: float

    @property
    def paper(self) -> float:
        """With independent sets: as many as the cost allows."""
        return self.one_set * (self.k + 2) / self.cost

    def pool(self, sets: Number) -> float:
        """With so many sets inside one pool; ``math.inf`` for all of them."""
        return (self.one_set - self.between) / sets + self.between

    def pool_error(self, sets: Number) -> float:
        """Standard error of ``pool``."""
        return self.between_error * (1 - 1 / sets)

    @property
    def break_even(self) -> float:
        """Number of sets from which the pool has less variance than the paper's layout."""
        return (self.one_set - self.between) / (self.paper - self.between)


@cache  # the claim and the figure show the same numbers
def layout_variances(
    *,
    classes: int = 5,
    per_class: int = 6,
    k: int = 1,
    pools: int = 200,
    steps: int = 0,
    seed: int = 0,
) -> LayoutVariances:
    """Both layouts for a linear model on Gaussian clusters, 12 examples of every class.

    The variance of one set and that within each pool are exact sums over all sets.

    Args:
        classes: Number of classes, all of which are in every pool.
        per_class: Examples of each class in a pool.
        k: Number of odd classes in a set.
        pools: Number of pools to average over.
        steps: Steps of gradient descent that the model has made.
        seed: Of data, model and pools.
    """
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(12 * classes) % classes
    centres = torch.randn(classes, 8, generator=generator, dtype=torch.float64)
    x = centres[labels] + torch.randn(len(labels), 8, generator=generator, dtype=torch.float64)
    weights = 0.1 * torch.randn(classes, 8, generator=generator, dtype=torch.float64)

    sets, chance = every_set(labels.tolist(), k)
    gradients = set_gradients(x, labels, sets, weights)
    for _ in range(steps):
        weights = weights - 0.05 * (chance @ gradients).view_as(weights)
        gradients = set_gradients(x, labels, sets, weights)
    mean = chance @ gradients
    one_set = float(chance @ ((gradients - mean) ** 2).sum(dim=1))

    index = ClassIndex(labels)
    inner_labels = torch.arange(classes).repeat_interleave(per_class)
    inner_sets, inner_chance = every_set(inner_labels.tolist(), k)
    within, between = [], []
    for _ in range(pools):
        pool = index.draw_balanced(per_class=per_class, generator=generator)
        inner = set_gradients(x[pool], labels[pool], inner_sets, weights)
        inner_mean = inner_chance @ inner
        within.append(float(inner_chance @ ((inner - inner_mean) ** 2).sum(dim=1)))
        between.append(float(((inner_mean - mean) ** 2).sum()))
    (within_mean, within_error), (between_mean, between_error) = map(_mean, (within, between))
    return LayoutVariances(
        cost=classes * per_class,
        k=k,
        one_set=one_set,
        between=between_mean,
        between_error=between_error,
        within=within_mean,
        within_error=within_error,
    )


def _mean(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard error."""
    tensor = torch.tensor(values, dtype=torch.float64)
    return float(tensor.mean()), float(tensor.std()) / math.sqrt(len(values))


def _count(sets: Number) -> str:
    """A number of sets in words."""
    return "all" if math.isinf(sets) else str(sets)


def _gradient_gap() -> float:
    """Distance of ``set_gradients`` from the gradient of ``OddKOutLoss``."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(8, 3, generator=generator, dtype=torch.float64)
    weights = torch.randn(4, 3, generator=generator, dtype=torch.float64, requires_grad=True)
    labels = torch.arange(8) % 4
    sets = ClassIndex(labels).draw_sets(k=2, sets=50, generator=generator)
    loss = OddKOutLoss(k=2)(x @ weights.T, labels, sets=sets)
    (automatic,) = torch.autograd.grad(loss, weights)
    ours = set_gradients(x, labels, sets, weights.detach()).mean(dim=0)
    return float((ours - automatic.flatten()).abs().max())


def pools() -> Statement:
    """Distribution of a set in a pool, in fractions, and the variances of the two layouts."""
    unlike, sets = 0, 0
    for labels, classes, per_class, k in CASES:
        expected = set_probabilities(labels, k)
        found = set_probabilities_in_pools(labels, classes=classes, per_class=per_class, k=k)
        sets += len(expected)
        unlike += sum(found.get(key) != chance for key, chance in expected.items())
        unlike += len(found.keys() - expected.keys())
    untrained, trained = (layout_variances(steps=steps) for steps in (0, 100))
    totals = [
        (v.within + v.between - v.one_set) / math.hypot(v.between_error, v.within_error)
        for v in (untrained, trained)
    ]
    return Statement(
        name="Ours: pool layout",
        statement="A set drawn inside a class-balanced pool is distributed as in Algorithm 1; at "
        "equal cost, a pool with enough sets gives a gradient of less variance.",
        computed=f"Every pool and every set in it for {len(CASES)} small data sets, in fractions; "
        f"the variance of a linear model's gradient with {untrained.cost} examples an update "
        f"(k = {untrained.k}), exact but for a mean over 200 pools.",
        checks=(
            Check(
                quantity=f"sets of {sets:,} whose probability differs",
                value=unlike,
                relation="=",
                expected=0,
                reason="exact: fractions",
            ),
            Check(
                quantity="gradient - automatic gradient of OddKOutLoss",
                value=_gradient_gap(),
                relation="=",
                expected=0,
                tolerance=1e-14,
                reason="rounding",
            ),
            Check(
                quantity="within + between - one set, in standard errors",
                value=max(map(abs, totals)),
                relation="<=",
                expected=4,
                reason="4 standard errors; law of total variance",
            ),
            *(
                Check(
                    quantity=f"variance, pool with {_count(drawn)} sets / paper layout, {state}",
                    value=v.pool(drawn) / v.paper,
                    relation="<=",
                    expected=1 - 4 * v.pool_error(drawn) / v.paper,
                    reason="below 1 by 4 standard errors",
                )
                for state, v in (("untrained", untrained), ("trained", trained))
                for drawn in (2 * v.cost, math.inf)
            ),
            Check(
                quantity="variance, pool with 1 set / one set",
                value=untrained.pool(1) / untrained.one_set,
                relation="=",
                expected=1,
                tolerance=1e-12,
                reason="rounding",
            ),
        ),
        remarks=tuple(
            f"{state} model, {v.cost} examples an update: paper layout, {v.cost // (v.k + 2)} "
            f"sets, {v.paper:.3f}; pool by its sets: "
            + ", ".join(
                f"{_count(s)}: {v.pool(s):.3f} +- {1.96 * v.pool_error(s):.3f}"
                for s in (5, 10, 20, 60, 240, math.inf)
            )
            + f"; less from {math.ceil(v.break_even)} sets on"
            for state, v in (("untrained", untrained), ("trained", trained))
        ),
    )
