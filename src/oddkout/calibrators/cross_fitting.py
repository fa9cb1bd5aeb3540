"""Cross-fitting: fit a temperature by cross-validation, without held-out data."""

from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor

from oddkout.calibrators.calibrator import fitting_data
from oddkout.calibrators.temperature import TemperatureScaling
from oddkout.checks import Labels, Matrix, at_least, class_labels


class CrossFittedTemperature(NamedTuple):
    """A temperature for the model trained on all data, with logits to evaluate it.

    Attributes:
        calibrator: Fitted on all out-of-fold logits. Use it with the model trained on all data.
        logits: The out-of-fold logits, each fold scaled by the temperature of the other folds.
            Their evaluation is unbiased, because no example was used to fit its own temperature.
        temperatures: The temperature applied to each fold.
    """

    calibrator: TemperatureScaling
    logits: Tensor
    temperatures: Tensor


def cross_fitted_temperature(
    logits: Matrix, labels: Labels, *, folds: Labels, is_balanced: bool = False
) -> CrossFittedTemperature:
    """Fit a temperature to out-of-fold logits.

    To obtain these, train one model per fold on all other folds and let it predict its own fold.

    Args:
        logits: Logits of each example from the model that was not trained on it.
        labels: True classes.
        folds: Fold of each example, e.g. from ``fold_numbers``.
        is_balanced: Whether all classes weigh the same, see ``TemperatureScaling.fit``.

    Example:
        >>> logits = torch.tensor([[2.0, 0.0], [0.0, 2.0], [2.0, 0.0]]).repeat(4, 1)
        >>> fit = cross_fitted_temperature(logits, [0, 1, 1] * 4, folds=[0] * 6 + [1] * 6)
        >>> fit.temperatures.round(decimals=4).tolist()  # 2 of 3 correct: T = 2 / log(2)
        [2.8854, 2.8854]
    """
    rows, classes = fitting_data(logits, labels)
    fold_of = class_labels(folds).cpu()
    numbers = fold_of.unique().tolist()  # type: ignore[no-untyped-call]  # untyped in PyTorch
    if len(fold_of) != len(rows) or len(numbers) < 2:
        raise ValueError(
            f"folds must give each of the {len(rows)} examples one of at least 2 folds, got "
            f"{len(fold_of)} numbers of {len(numbers)} folds; use fold_numbers(labels, folds=5)"
        )
    scaled, temperatures = torch.empty_like(rows), []
    for number in numbers:
        in_fold = fold_of == number
        calibrator = TemperatureScaling()
        calibrator.fit(rows[~in_fold], classes[~in_fold], is_balanced=is_balanced)
        scaled[in_fold] = calibrator(rows[in_fold])
        temperatures.append(calibrator.temperature)
    return CrossFittedTemperature(
        TemperatureScaling().fit(rows, classes, is_balanced=is_balanced),
        scaled,
        torch.stack(temperatures),
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
