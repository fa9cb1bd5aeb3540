"""Names that look alike, such as ``f`` and ``F``, or ``spesis`` and ``sepsis``."""

import unicodedata
from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

# Above, only the most frequent names are compared.
_MOST_NAMES = 300
_SHORTEST_WORD = 5
_RARER = 5  # how many times rarer a name must be to be taken for a misspelling


def lookalikes(counts: Mapping[str, int]) -> list[tuple[str, str]]:
    """Pairs of names that probably mean the same, the rarer one first.

    Names that differ only in case, blanks or Unicode form; and names of which one word differs in
    one letter (another, an additional or two swapped ones, but not the first), if one is at least
    five times rarer.

    Args:
        counts: Number of rows of each name.

    Example:
        >>> lookalikes({"sepsis": 240, "spesis": 1, "healthy": 90, "Healthy ": 2, "type 2": 9})
        [('Healthy ', 'healthy'), ('spesis', 'sepsis')]
    """
    common = sorted(counts, key=lambda name: (-counts[name], name))[:_MOST_NAMES]
    variants: dict[str, list[str]] = {}
    for name in common:
        variants.setdefault(_normal(name), []).append(name)
    pairs = [(other, first) for first, *others in variants.values() for other in others]
    totals = {form: sum(counts[name] for name in names) for form, names in variants.items()}
    for frequent, rare in combinations(variants, 2):
        if totals[frequent] < totals[rare]:
            frequent, rare = rare, frequent
        if totals[frequent] >= _RARER * totals[rare] and _is_misspelling(rare, frequent):
            pairs.append((variants[rare][0], variants[frequent][0]))
    return pairs


def class_sentences(names: Any, *, counts: Any) -> list[str]:
    """A sentence for each pair of classes that look alike.

    Args:
        names: Names of the classes.
        counts: Number of rows of each.
    """
    rows = dict(zip(map(str, names), map(int, counts), strict=True))
    return [
        f"classes {rare!r} ({_rows(rows[rare])}) and {frequent!r} ({_rows(rows[frequent])}) look "
        "alike; correct the labels if they are the same class"
        for rare, frequent in lookalikes(rows)
    ]


def category_pairs(frame: Any) -> dict[str, list[tuple[str, str]]]:
    """Pairs of categories that look alike, by column; only columns that have any.

    Args:
        frame: A pandas frame of the columns that hold categories.
    """
    found = {}
    for name in frame.columns:
        cells = frame[name].dropna()
        if not all(isinstance(cell, str) for cell in cells):
            continue
        values, counts = np.unique(np.array(cells, dtype=str), return_counts=True)
        if pairs := lookalikes(dict(zip(values.tolist(), counts.tolist(), strict=True))):
            found[name] = pairs
    return found


def _rows(count: int) -> str:
    return f"{count} row{'s' if count != 1 else ''}"


def _normal(name: str) -> str:
    """The name without differences that people do not see."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def _is_misspelling(one: str, other: str) -> bool:
    """Whether one word differs in one letter."""
    words = list(zip(one.split(), other.split(), strict=False))
    if len(one.split()) != len(other.split()):
        return False
    differing = [pair for pair in words if pair[0] != pair[1]]
    return len(differing) == 1 and _is_one_letter(*differing[0])


def _is_one_letter(one: str, other: str) -> bool:
    """Whether two long words differ in one letter, or in two that are swapped."""
    if min(len(one), len(other)) < _SHORTEST_WORD or one[0] != other[0]:
        return False
    while one and other and one[0] == other[0]:
        one, other = one[1:], other[1:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    is_swap = len(one) == len(other) == 2 and one == other[::-1]
    return (is_swap or max(len(one), len(other)) == 1) and (one + other).isalpha()
