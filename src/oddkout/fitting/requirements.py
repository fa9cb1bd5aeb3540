"""What training requires of the numbers of examples; ``doctor`` reads the same rules."""

from collections.abc import Iterable, Sequence

from oddkout.checks import few
from oddkout.fitting.methods import Method


def refuse_few_classes(present: Sequence[object], method: Method) -> None:
    """Raise if a method needs more classes than the training part has.

    Args:
        present: Names of the classes that have training examples.
        method: The method.
    """
    needed = max(2, method.k + 1)
    if len(present) < needed:
        raise ValueError(
            f"{method.name} with k={method.k} needs at least {needed} classes, got "
            f"{len(present)} class(es), {few(present)}"
            + ("; lower k" if len(present) > 1 else ": there is nothing to tell apart")
        )


def class_notes(sizes: dict[str, int], *, folds: int) -> dict[str, str]:
    """What a user should know about classes that are too small, a sentence each by its code.

    Args:
        sizes: Number of training examples of every class.
        folds: Number of folds; 0 for none.
    """
    notes = {}
    if single := [name for name, size in sizes.items() if size == 1]:
        notes["single-examples"] = (
            f"classes {few(single)} have a single training example, which forms pairs with itself "
            "and is never scored out of fold; how such a class varies cannot be learned"
        )
    if absent := [name for name, size in sizes.items() if size == 0]:
        notes["absent-classes"] = (
            f"classes {few(absent)} have no training example and cannot be predicted; drop them or "
            "add examples"
        )
    if folds and fold_count(sizes.values(), folds=folds) == 0:
        notes["no-folds"] = "no class has 2 examples: there are no folds, the temperature stays 1"
    return notes


def fold_count(sizes: Iterable[int], *, folds: int) -> int:
    """Number of folds that the training part allows: no more than scored examples, 0 below 2.

    Args:
        sizes: Number of training examples of every class; a class of one is never scored.
        folds: Number of folds asked for.

    Example:
        >>> fold_count([1, 1, 3], folds=5), fold_count([1, 1], folds=5)
        (3, 0)
    """
    scored = sum(size for size in sizes if size > 1)
    count = min(folds, scored)
    return count if count >= 2 else 0
