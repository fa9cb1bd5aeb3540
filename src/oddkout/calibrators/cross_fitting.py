"""Cross-fitting: fit a calibrator by cross-validation, without held-out data."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor

from oddkout.calibrators.calibrator import Calibrator, fitting_data
from oddkout.calibrators.temperature import TemperatureScaling
from oddkout.checks import Labels, Matrix, at_least, class_labels


class CrossFitted(NamedTuple):
    """A calibrator for the model trained on all data, with logits to evaluate it.

    Attributes:
        calibrator: Fitted on all out-of-fold logits. Use it with the model trained on all data.
        logits: The out-of-fold logits, each fold calibrated by the fit to the other folds. Their
            evaluation is unbiased, because no example was used to fit its own calibrator.
        by_fold: The calibrator applied to each fold.
    """

    calibrator: Calibrator
    logits: Tensor
    by_fold: list[Calibrator]


def cross_fitted(
    fit: Callable[[Tensor, Tensor], Calibrator], logits: Matrix, labels: Labels, *, folds: Labels
) -> CrossFitted:
    """Fit a calibrator to out-of-fold logits.

    To obtain these, train one model per fold on all other folds and let it predict its own fold.

    Args:
        fit: Fits a new calibrator to logits and labels.
        logits: Logits of each example from the model that was not trained on it.
        labels: True classes.
        folds: Fold of each example, e.g. from ``fold_numbers``.
    """
    rows, classes = fitting_data(logits, labels)
    fold_of = class_labels(folds).cpu()
    numbers = fold_of.unique().tolist()  # type: ignore[no-untyped-call]  # untyped in PyTorch
    if len(fold_of) != len(rows) or len(numbers) < 2:
        raise ValueError(
            f"folds must give each of the {len(rows)} examples one of at least 2 folds, got "
            f"{len(fold_of)} numbers of {len(numbers)} folds; use fold_numbers(labels, folds=5)"
        )
    calibrated, by_fold = torch.empty_like(rows), []
    for number in numbers:
        in_fold = fold_of == number
        by_fold.append(fit(rows[~in_fold], classes[~in_fold]))
        calibrated[in_fold] = by_fold[-1](rows[in_fold])
    return CrossFitted(fit(rows, classes), calibrated, by_fold)


def cross_fitted_temperature(
    logits: Matrix, labels: Labels, *, folds: Labels, is_balanced: bool = False
) -> CrossFitted:
    """Fit a temperature to out-of-fold logits; see ``cross_fitted``.

    Args:
        logits: Logits of each example from the model that was not trained on it.
        labels: True classes.
        folds: Fold of each example, e.g. from ``fold_numbers``.
        is_balanced: Whether all classes weigh the same, see ``TemperatureScaling.fit``.

    Example:
        >>> logits = torch.tensor([[2.0, 0.0], [0.0, 2.0], [2.0, 0.0]]).repeat(4, 1)
        >>> fit = cross_fitted_temperature(logits, [0, 1, 1] * 4, folds=[0] * 6 + [1] * 6)
        >>> [round(part.temperature.item(), 4) for part in fit.by_fold]  # 2 of 3: T = 2 / log(2)
        [2.8854, 2.8854]
    """
    return cross_fitted(
        lambda rows, classes: TemperatureScaling().fit(rows, classes, is_balanced=is_balanced),
        logits,
        labels,
        folds=folds,
    )


def fold_numbers(
    labels: Labels, *, folds: int = 5, generator: torch.Generator | None = None
) -> Int[Tensor, " examples"]:
    """Assign each example to a random fold, stratified by class.

    Example:
        >>> numbers = fold_numbers([0] * 4 + [1] * 4, folds=2)
        >>> numbers[:4].sum().item(), numbers[4:].sum().item()
        (2, 2)
    """
    classes = class_labels(labels).cpu()
    at_least("folds", folds, 2)
    if len(classes) < folds:
        raise ValueError(
            f"{folds} folds need at least {folds} examples, got {len(classes)}; lower folds"
        )
    shuffled = torch.randperm(len(classes), generator=generator)
    by_class = shuffled[classes[shuffled].argsort(stable=True)]
    # Deal the examples out class by class: the sizes of the folds differ by at most one.
    numbers = torch.empty_like(classes)
    numbers[by_class] = torch.arange(len(classes)) % folds
    return numbers
