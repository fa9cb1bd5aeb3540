"""Requirements of training on the number of classes and examples; ``doctor`` applies the same."""

from collections.abc import Iterable, Sequence

from oddkout.checks import few
from oddkout.fitting.methods import Method


def refuse_few_classes(present: Sequence[object], method: Method) -> None:
    """Raise if a method needs more classes than the training part has.

    Args:
        present: Names of the classes that have training examples.
    """
    needed = max(2, method.k + 1)
    if len(present) < needed:
        raise ValueError(
            f"{method.name} with k={method.k} needs at least {needed} classes, got "
            f"{len(present)} class(es), {few(present)}; "
            + ("lower k" if len(present) > 1 else "add examples of another class")
        )


def class_notes(sizes: dict[str, int], *, folds: int) -> dict[str, str]:
    """Notes on classes that are too small: a sentence for each code.

    Args:
        sizes: Number of training examples of each class.
        folds: Requested number of folds; 0 for none.
    """
    notes = {}
    if single := [name for name, size in sizes.items() if size == 1]:
        notes["single-examples"] = (
            f"classes {few(single)} have a single training example: it is paired with itself and "
            "never scored out of fold, and the variation within the class cannot be learned"
        )
    if absent := [name for name, size in sizes.items() if size == 0]:
        notes["absent-classes"] = (
            f"classes {few(absent)} have no training examples and cannot be predicted; drop them "
            "or add examples"
        )
    if folds and fold_count(sizes.values(), folds=max(folds, 2)) == 0:  # 1 holds out a part
        notes["no-folds"] = (
            "no class has 2 examples: cross-validation is impossible and the temperature stays at 1"
        )
    return notes


def fold_count(sizes: Iterable[int], *, folds: int) -> int:
    """Number of folds that the data allow: at most the number of scored examples; 0 if below 2.

    Args:
        sizes: Number of training examples of each class; a class with one example is not scored.
        folds: Requested number of folds.

    Example:
        >>> fold_count([1, 1, 3], folds=5), fold_count([1, 1], folds=5)
        (3, 0)
    """
    scored = sum(size for size in sizes if size > 1)
    count = min(folds, scored)
    return count if count >= 2 else 0
