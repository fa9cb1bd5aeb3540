"""Cross-fitting: a temperature from the training data themselves, where none can be spared."""

from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor

from oddkout.calibrators.calibrator import fitting_data
from oddkout.calibrators.temperature import TemperatureScaling
from oddkout.checks import Labels, Matrix, at_least, class_labels


class CrossFittedTemperature(NamedTuple):
    """A temperature for the model trained on all data, and what it was worth.

    Attributes:
        calibrator: Fitted on all out-of-fold logits; for the model that is trained on all data.
        logits: The out-of-fold logits, each fold scaled by the temperature of the other folds: to
            be evaluated without having been fitted.
        temperatures: These temperatures, one for each fold.
    """

    calibrator: TemperatureScaling
    logits: Tensor
    temperatures: Tensor


def cross_fitted_temperature(
    logits: Matrix, labels: Labels, *, folds: Labels, is_balanced: bool = False
) -> CrossFittedTemperature:
    """Fit a temperature to out-of-fold logits.

    Train one model for each fold on all other folds and let it predict its own; every example
    then has logits from a model that has not seen it.

    Args:
        logits: These logits, in the order of the examples.
        labels: The classes of the examples.
        folds: The fold of every example, e.g. from ``fold_numbers``.
        is_balanced: Whether all classes weigh the same, see ``TemperatureScaling.fit``.

    Example:
        >>> logits = torch.tensor([[2.0, 0.0], [0.0, 2.0], [2.0, 0.0]]).repeat(4, 1)
        >>> fit = cross_fitted_temperature(logits, [0, 1, 1] * 4, folds=[0] * 6 + [1] * 6)
        >>> fit.temperatures.round(decimals=4).tolist()  # 2 of 3 right at 2: T = 2 / log(2)
        [2.8854, 2.8854]
    """
    rows, classes = fitting_data(logits, labels)
    fold_of = class_labels(folds).cpu()
    numbers = fold_of.unique().tolist()  # type: ignore[no-untyped-call]  # PyTorch leaves it so
    if len(fold_of) != len(rows) or len(numbers) < 2:
        raise ValueError(
            f"folds must give each of the {len(rows)} examples one of at least 2 folds, got "
            f"{len(fold_of)} numbers of {len(numbers)} folds; fold_numbers(labels, folds=5) does"
        )
    scaled, temperatures = torch.empty_like(rows), []
    for number in numbers:
        is_own = fold_of == number
        others = TemperatureScaling().fit(rows[~is_own], classes[~is_own], is_balanced=is_balanced)
        scaled[is_own] = others(rows[is_own])
        temperatures.append(others.temperature)
    return CrossFittedTemperature(
        TemperatureScaling().fit(rows, classes, is_balanced=is_balanced),
        scaled,
        torch.stack(temperatures),
    )


def fold_numbers(
    labels: Labels, *, folds: int = 5, generator: torch.Generator | None = None
) -> Int[Tensor, " examples"]:
    """A random fold for every example, each class spread over the folds as evenly as can be.

    Example:
        >>> numbers = fold_numbers([0] * 4 + [1] * 4, folds=2)
        >>> numbers[:4].sum().item(), numbers[4:].sum().item()
        (2, 2)
    """
    found = class_labels(labels).cpu()
    at_least("folds", folds, 2)
    if len(found) < folds:
        raise ValueError(f"{folds} folds need as many examples, got {len(found)}; lower folds")
    shuffled = torch.randperm(len(found), generator=generator)
    by_class = shuffled[found[shuffled].argsort(stable=True)]
    # Dealt like cards, class after class: no fold is more than one ahead.
    numbers = torch.empty_like(found)
    numbers[by_class] = torch.arange(len(found)) % folds
    return numbers
