"""Evaluate predictions for other class frequencies than those of the test examples."""

from dataclasses import replace
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from oddkout.checks import Labels, Prior, class_labels, frequencies
from oddkout.evaluation.evaluate import evaluate
from oddkout.evaluation.report import Evaluation

# Limits for the number of repeated examples, and for the error of rounding their numbers.
_LARGEST, _TOLERANCE = 200_000, 0.01


def class_weights_for(labels: Int[Tensor, " examples"], prior: Prior) -> Float[Tensor, " examples"]:
    """Weight of each example, with mean 1, so that classes have the given frequencies.

    Frequencies of classes without examples are shared by the others.

    Example:
        >>> class_weights_for(torch.tensor([0, 0, 0, 1]), [0.5, 0.5]).tolist()
        [0.6666666666666666, 0.6666666666666666, 0.6666666666666666, 2.0]
    """
    shares = frequencies("prior", prior)
    weights = (shares / labels.bincount(minlength=len(shares)).clamp_min(1))[labels]
    return weights / weights.mean()


def repeated_rows(labels: Int[Tensor, " examples"], prior: Prior) -> Int[Tensor, " rows"]:
    """Positions of examples, repeated so that classes have about the given frequencies.

    Frequencies are met to 1 % if 200,000 rows are enough for it.

    Example:
        >>> repeated_rows(torch.tensor([0, 0, 0, 1]), [0.5, 0.5]).tolist()
        [0, 1, 2, 3, 3, 3]
    """
    weights = class_weights_for(labels, prior)
    best, error = torch.ones_like(labels), float("inf")
    for least in range(1, 101):
        exact = weights * (least / weights.min())
        counts = exact.round().long().clamp_min(1)
        if counts.sum() > _LARGEST and least > 1:
            break
        worst = float((counts / counts.sum() * exact.sum() / exact - 1).abs().max())
        if worst < error:
            best, error = counts, worst
        if error < _TOLERANCE:
            break
    return torch.arange(len(labels)).repeat_interleave(best)


def evaluate_for_prior(
    logits: Float[Tensor, "examples classes"],
    labels: Labels,
    *,
    prior: Prior,
    groups: Any = None,
    **options: Any,
) -> Evaluation:
    """Like ``evaluate``, with metrics for given class frequencies.

    Examples are repeated until classes have these frequencies; the copies of an example form a
    group, so that intervals and null levels do not take them for further examples. Intervals are
    rather too wide: the bootstrap lets class sizes vary, which the weights undo. The results of
    single classes, the confusion matrix and the curves count every example once.

    Args:
        logits: Logits for these class frequencies.
        labels: True classes.
        prior: The class frequencies.
        groups: Group of each example.
        **options: Further arguments of ``evaluate``.
    """
    given = class_labels(labels).cpu()
    units = torch.arange(len(given)) if groups is None else torch.as_tensor(groups)
    plain = evaluate(logits, given, prior=prior, groups=groups, **options)
    rows = repeated_rows(given, prior)
    weighted = evaluate(logits[rows], given[rows], prior=prior, groups=units[rows], **options)
    note = (
        "metrics are for the requested class frequencies: test examples are weighted; the results "
        "of single classes and the confusion matrix count every example once"
    )
    return replace(
        plain, metrics=weighted.metrics, guess=weighted.guess, notes=[note, *plain.notes]
    )
