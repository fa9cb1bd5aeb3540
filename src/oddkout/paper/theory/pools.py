"""Ours: sets drawn from a class-balanced pool, compared with sets drawn from all the data.

Each set in a pool is distributed as in Algorithm 1, so the gradient stays unbiased. Sets of the
same pool depend on each other: with S sets per pool the variance is within / S + between.
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
    """Probability of every pool: uniform classes, then examples of each without replacement."""
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
    """Probability of every set that Algorithm 1 draws inside a random pool."""
    total: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    pools = pool_probabilities(labels, classes=classes, per_class=per_class)
    for pool, chance in pools.items():
        for positions, inside in set_probabilities([labels[i] for i in pool], k).items():
            total[tuple(pool[position] for position in positions)] += chance * inside
    return dict(total)


def set_gradients(
    x: Float64[Tensor, "examples features"],
    labels: Int64[Tensor, " examples"],
    sets: Int64[Tensor, "sets members"],
    weights: Float64[Tensor, "classes features"],
) -> Float64[Tensor, "sets entries"]:
    """Gradient of the hard loss of each set with respect to the weights of a linear model.

    The logits are linear, so a set acts like one example: the sum of its members.
    """
    summed = x[sets].sum(dim=1)
    errors = set_sum(x @ weights.T, sets).softmax(dim=1)
    errors = errors - F.one_hot(labels[sets[:, 0]], len(weights))
    return (errors[:, :, None] * summed[:, None, :]).flatten(1)


@dataclass(frozen=True)
class LayoutVariances:
    """Variance of the gradient of one update, summed over its entries.

    Attributes:
        cost: Examples that an update forwards in either layout.
        k: Number of odd classes in a set.
        one_set: Exact variance of the gradient of one set.
        between: Variance over random pools of the mean gradient of all sets of a pool.
        between_error: Standard error of ``between``.
        within: Variance of a set inside its pool, estimated from the same pools as a cross-check.
        within_error: Standard error of ``within``.
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
        """Variance with as many independent sets as the cost allows."""
        return self.one_set * (self.k + 2) / self.cost

    def pool(self, sets: Number) -> float:
        """Variance with this number of sets in one pool; ``math.inf`` for all sets."""
        return (self.one_set - self.between) / sets + self.between

    def pool_error(self, sets: Number) -> float:
        """Standard error of ``pool``."""
        return self.between_error * (1 - 1 / sets)

    @property
    def break_even(self) -> float:
        """Number of sets from which the pool has less variance than the paper's layout."""
        return (self.one_set - self.between) / (self.paper - self.between)


@cache  # the statement and the figure use the same numbers
def layout_variances(
    *,
    classes: int = 5,
    per_class: int = 6,
    k: int = 1,
    pools: int = 200,
    steps: int = 0,
    seed: int = 0,
) -> LayoutVariances:
    """Variances of both layouts for a linear model on Gaussian clusters of 12 examples.

    The variance of one set and the variance within each pool are exact sums over all sets.

    Args:
        classes: Number of classes; every pool has all of them.
        per_class: Examples of each class in a pool.
        k: Number of odd classes in a set.
        pools: Number of pools to average over.
        steps: Steps of gradient descent before the variances are computed.
        seed: Seed of data, model and pools.
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
    """A number of sets as text."""
    return "all" if math.isinf(sets) else str(sets)


def _gradient_gap() -> float:
    """Largest difference between ``set_gradients`` and the gradient of ``OddKOutLoss``."""
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
    """Check the distribution of a set in a pool, in fractions, and compare variances."""
    unlike, sets = 0, 0
    for labels, classes, per_class, k in CASES:
        expected = set_probabilities(labels, k)
        in_pools = set_probabilities_in_pools(labels, classes=classes, per_class=per_class, k=k)
        sets += len(expected)
        unlike += sum(in_pools.get(key) != chance for key, chance in expected.items())
        unlike += len(in_pools.keys() - expected.keys())
    untrained, trained = (layout_variances(steps=steps) for steps in (0, 100))
    totals = [
        (v.within + v.between - v.one_set) / math.hypot(v.between_error, v.within_error)
        for v in (untrained, trained)
    ]
    return Statement(
        name="Ours: pool layout",
        statement="A set drawn inside a class-balanced pool is distributed as in Algorithm 1; at "
        "equal cost, a pool with enough sets gives a gradient with less variance.",
        computed=f"Every pool and every set in it for {len(CASES)} small data sets, in fractions; "
        f"the variance of a linear model's gradient with {untrained.cost} examples per update "
        f"(k = {untrained.k}), exact except for a mean over 200 pools.",
        checks=(
            Check(
                quantity=f"sets with another probability, of {sets:,}",
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
            f"{state} model, {v.cost} examples per update: paper layout, "
            f"{v.cost // (v.k + 2)} sets, {v.paper:.3f}; pool by number of sets: "
            + ", ".join(
                f"{_count(s)}: {v.pool(s):.3f} +- {1.96 * v.pool_error(s):.3f}"
                for s in (5, 10, 20, 60, 240, math.inf)
            )
            + f"; less than the paper layout from {math.ceil(v.break_even)} sets on"
            for state, v in (("untrained", untrained), ("trained", trained))
        ),
    )
