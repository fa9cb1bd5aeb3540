"""Proposition: re-weighting the loss by class equals batch-balancing in expectation."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from random import Random

import torch
import torch.nn.functional as F
from jaxtyping import Float64, Int64
from torch import Tensor

from oddkout.losses import class_weights
from oddkout.paper.theory.algorithm import examples_of
from oddkout.paper.theory.statement import Check, Statement


def reweighted(
    labels: Sequence[int], losses: Sequence[Fraction], batch: int, *, is_literal: bool = False
) -> Fraction:
    """Expected re-weighted loss of a uniformly drawn batch, over all batches.

    Args:
        labels: Class of every example.
        losses: Loss of every example.
        batch: Number of examples in a batch, drawn with replacement.
        is_literal: Take class frequencies from the batch, as the printed definition reads, instead
            of from the data.
    """
    total = Fraction(0)
    for drawn in product(range(len(labels)), repeat=batch):
        among = [labels[i] for i in drawn] if is_literal else list(labels)
        terms = [losses[i] / Fraction(among.count(labels[i]), len(among)) for i in drawn]
        total += sum(terms, Fraction(0)) / batch
    return total / Fraction(len(labels) ** batch)


def balanced(labels: Sequence[int], losses: Sequence[Fraction], batch: int) -> Fraction:
    """Expected plain loss of a batch drawn by batch-balancing (Algorithm 2), over all batches."""
    members = examples_of(labels)
    total = Fraction(0)
    for drawn in product(range(len(labels)), repeat=batch):
        chance = Fraction(1)
        for i in drawn:
            chance *= Fraction(1, len(members) * len(members[labels[i]]))
        total += chance * sum(losses[i] for i in drawn) / batch
    return total


@dataclass(frozen=True)
class Variances:
    """Two unbiased one-example estimates of a gradient.

    Attributes:
        reweighted: Variance of a uniform draw with class weights, summed over the entries.
        balanced: Variance of a draw by batch-balancing, summed over the entries.
        squared_mean: Squared norm of the gradient.
        bias: Largest difference between the two expectations.
    """

    reweighted: float
    balanced: float
    squared_mean: float
    bias: float


def gradient_variances(
    gradients: Float64[Tensor, "examples entries"], labels: Int64[Tensor, " examples"]
) -> Variances:
    """Exact variances of both estimates, from the gradient of every example."""
    classes = int(labels.max()) + 1
    weighted = class_weights(labels, classes=classes).double()[labels][:, None] * gradients
    chance = 1 / (classes * labels.bincount()[labels].double())
    mean, weighted_mean = chance @ gradients, weighted.mean(dim=0)
    return Variances(
        reweighted=float(((weighted - weighted_mean) ** 2).sum(dim=1).mean()),
        balanced=float(chance @ ((gradients - mean) ** 2).sum(dim=1)),
        squared_mean=float(mean @ mean),
        bias=float((mean - weighted_mean).abs().max()),
    )


def untrained_gradients(
    counts: Sequence[int], *, features: int = 4
) -> tuple[Float64[Tensor, "examples entries"], Int64[Tensor, " examples"]]:
    """Per-example cross-entropy gradients of a linear model at 0, on one cluster per class."""
    generator = torch.Generator().manual_seed(0)
    classes = len(counts)
    labels = torch.repeat_interleave(torch.arange(classes), torch.tensor(counts))
    centres = torch.randn(classes, features, generator=generator, dtype=torch.float64)
    noise = torch.randn(len(labels), features, generator=generator, dtype=torch.float64)
    x = centres[labels] + noise
    errors = torch.full((len(labels), classes), 1 / classes, dtype=torch.float64)
    errors -= F.one_hot(
        labels, classes
    )  # gradient with respect to the logits: softmax minus one-hot
    return (errors[:, :, None] * x[:, None, :]).flatten(1), labels


def balancing() -> Statement:
    """Check the proposition in fractions, and compute the variances that it says nothing about."""
    random = Random(0)
    ratios, literal = set(), set()
    for _ in range(5):
        labels = [0] * random.randint(4, 6) + [1] * random.randint(2, 3) + [2]
        losses = [Fraction(random.randint(1, 1000), 100) for _ in labels]
        plain = balanced(labels, losses, 2)
        ratios.add(plain / reweighted(labels, losses, 2))
        literal.add(plain / reweighted(labels, losses, 2, is_literal=True))

    counts = (80, 10, 6, 4)
    gradients, y = untrained_gradients(counts)
    untrained = gradient_variances(gradients, y)
    even = gradient_variances(gradients / gradients.norm(dim=1, keepdim=True), y)
    learnt = gradient_variances(torch.where(y[:, None] == 0, gradients, 0.0), y)
    mean_squares = even.reweighted + even.squared_mean, even.balanced + even.squared_mean
    return Statement(
        name="Proposition on batch-balancing",
        statement="Re-weighting by inverse class frequency and batch-balancing have the same "
        "expected loss, for all parameters, up to a constant lambda.",
        computed="Every batch of 2 from random imbalanced data of 3 classes, in fractions; the "
        "exact variance of both one-example gradients for a linear model on 80, 10, 6 and 4 "
        "examples of 4 classes.",
        checks=(
            Check(
                quantity="number of values of lambda over 5 data sets",
                value=len(ratios),
                relation="=",
                expected=1,
                reason="exact: fractions",
            ),
            Check(
                quantity="lambda C, C = 3",
                value=float(3 * max(ratios)),
                relation="=",
                expected=1,
                reason="exact: fractions",
            ),
            Check(
                quantity="number of values with frequencies of each batch",
                value=len(literal),
                relation=">=",
                expected=2,
                reason="exact: as printed, no lambda exists",
            ),
            Check(
                quantity="expected gradients with class_weights, difference",
                value=max(untrained.bias, learnt.bias),
                relation="=",
                expected=0,
                tolerance=1e-6,
                reason="class_weights are float32; lambda = 1",
            ),
            Check(
                quantity="variance re-weighted / balanced, untrained model",
                value=untrained.reweighted / untrained.balanced,
                relation=">=",
                expected=1,
                reason="a ratio of exact sums",
            ),
            Check(
                quantity="ratio of mean squares, gradients of equal norm",
                value=mean_squares[0] / mean_squares[1],
                relation="=",
                expected=sum(sum(counts) / (4 * count) for count in counts) / 4,
                tolerance=1e-5,
                reason="mean of n / (C n_c), always >= 1; float32 weights",
            ),
            Check(
                quantity="variance ratio once the rare classes are learnt",
                value=learnt.reweighted / learnt.balanced,
                relation="<=",
                expected=1,
                reason="a ratio of exact sums: here the order is reversed",
            ),
        ),
        remarks=(
            "lambda = 1 / C; with weights of mean 1, as class_weights returns, it is 1",
            "batch-balancing has less variance while rare classes have gradients as large as "
            "others; this is no theorem, and it is reversed once they are learnt",
        ),
    )
