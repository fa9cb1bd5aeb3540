"""Examples that occur twice, exactly or nearly."""

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

import numpy as np
from jaxtyping import Bool, Shaped
from numpy import ndarray

from oddkout.checks import few
from oddkout.data import Data
from oddkout.diagnosis.result import Finding

_CHUNK = 1024  # number of examples read at a time

_MOST_COLUMNS = 500  # above, columns are not left out one by one
_MOST_ROWS = 4_000  # above, distances are measured in a sample
_TINY = 0.01  # of the typical distance of two examples
_MANY_VALUES = 0.05  # probability that two rows agree in a column, below which it has many values
_CHANCE = 0.01  # expected number of pairs that agree by chance


def copies(data: Data) -> Iterator[Finding]:
    """Duplicate examples, within and across training and test part."""
    train, test = _digests(data.x_train), _digests(data.x_test)
    for part, digests in (("train", train), ("test", test)):
        if repeated := len(digests) - len(set(digests)):
            yield Finding(
                code=f"duplicates-{part}",
                severity="warning",
                text=f"{repeated} of {len(digests)} {part} examples are exact copies of others; "
                "drop them, because they count twice",
            )
    in_training = set(train)
    if leaked := sum(digest in in_training for digest in test):
        yield Finding(
            code="duplicates-across",
            severity="fatal" if leaked > len(test) / 2 else "warning",
            text=f"{leaked} of {len(test)} test examples are also in the training part; drop them "
            "there, or test results will be too good",
        )
    labels: dict[bytes, set[int]] = {}
    for digest, label in zip(train + test, [*data.y_train, *data.y_test], strict=True):
        labels.setdefault(digest, set()).add(int(label))
    if conflicts := [classes for classes in labels.values() if len(classes) > 1]:
        example = [data.classes[c] for c in sorted(conflicts[0])]
        yield Finding(
            code="conflicting-labels",
            severity="warning",
            text=f"{len(conflicts)} examples occur with different labels, such as {few(example)}; "
            "correct the labels",
        )


def _digests(x: Any) -> list[bytes]:
    """A hash of each example."""
    return [
        blake2b(np.ascontiguousarray(row).tobytes(), digest_size=16).digest()
        for _, chunk in chunks(x)
        for row in chunk
    ]


def chunks(x: Any) -> Iterator[tuple[int, Any]]:
    """Examples in chunks, so that image files are never all in memory."""
    for start in range(0, len(x), _CHUNK):
        yield start, np.asarray(x[start : start + _CHUNK])


def near_copies(data: Data) -> Iterator[Finding]:
    """Test examples that nearly equal a training example: in all columns but one, or in numbers.

    Only features are compared. Agreement that chance explains does not count: the columns with many
    values must be enough to tell rows apart.
    """
    train, test = data.x_train, data.x_test
    if not (isinstance(train, np.ndarray) and isinstance(test, np.ndarray) and len(test)):
        return
    if train.ndim != 2 or train.shape[1] < 3:
        return
    if not np.isfinite(train).all() or not np.isfinite(test).all():
        return
    codes = _column_codes(data)
    probabilities = np.array([_agreement(train_codes) for train_codes, _ in codes])
    if (probabilities < _MANY_VALUES).sum() < 3:
        return
    is_near = _almost_equal(codes, probabilities) | _tiny_distance(train, test)
    exact = set(_digests(train))
    is_near &= np.array([digest not in exact for digest in _digests(test)])
    if is_near.sum() >= max(2, 0.01 * len(test)):
        yield Finding(
            code="near-duplicates",
            severity="warning",
            text=f"{is_near.sum()} of {len(test)} test examples nearly equal a training example, "
            "such as a second record of the same case; drop them, or pass --group COLUMN with what "
            "such rows have in common",
        )


def _column_codes(data: Data) -> list[tuple[Shaped[ndarray, " train"], Shaped[ndarray, " test"]]]:
    """Cells of each column of the source as integers, in both parts."""
    both = np.concatenate([data.x_train, data.x_test])
    sources = range(both.shape[1]) if data.encoder is None else data.encoder.sources
    places: dict[Any, list[int]] = {}
    for place, source in enumerate(sources):
        places.setdefault(source, []).append(place)
    codes = [
        np.unique(both[:, columns], axis=0, return_inverse=True)[1].reshape(-1)
        for columns in places.values()
    ]
    return [(code[: len(data.x_train)], code[len(data.x_train) :]) for code in codes]


def _agreement(codes: Shaped[ndarray, " rows"]) -> float:
    """Probability that two rows agree in a column by chance."""
    shares = np.bincount(codes) / len(codes)
    return float((shares**2).sum())


def _almost_equal(codes: Any, probabilities: Any) -> Bool[ndarray, " test"]:
    """Which test rows equal a training row in all columns but one."""
    rng = np.random.default_rng(0)
    hashes = []  # a random number for each cell: sums over the columns of two rows agree if they do
    for train_codes, test_codes in codes:
        values = rng.integers(1 << 62, size=max(train_codes.max(), test_codes.max()) + 1)
        hashes.append((values[train_codes], values[test_codes]))
    train_total, test_total = (sum(part) for part in zip(*hashes, strict=True))
    is_near = np.zeros(len(codes[0][1]), dtype=bool)
    if len(codes) > _MOST_COLUMNS:
        return is_near
    pairs = len(codes[0][0]) * len(codes[0][1])
    counted = np.where(probabilities < _MANY_VALUES, probabilities, 1.0)
    for column, (train_hash, test_hash) in enumerate(hashes):
        if pairs * np.delete(counted, column).prod() < _CHANCE:
            is_near |= np.isin(test_total - test_hash, train_total - train_hash)
    return is_near


def _tiny_distance(
    train: Shaped[ndarray, "train features"], test: Shaped[ndarray, "test features"]
) -> Bool[ndarray, " test"]:
    """Which test rows lie next to a training row, compared with the typical distance."""
    from scipy.spatial.distance import cdist

    rng = np.random.default_rng(0)
    deviation = train.std(axis=0)
    columns = deviation > 0
    rows = rng.permutation(len(train))[:_MOST_ROWS]
    tested = rng.permutation(len(test))[:_MOST_ROWS]
    scaled_train = (train[rows][:, columns] / deviation[columns]).astype(np.float64)
    is_near = np.zeros(len(test), dtype=bool)
    for start in range(0, len(tested), _CHUNK):
        chosen = tested[start : start + _CHUNK]
        distances = cdist(test[chosen][:, columns] / deviation[columns], scaled_train)
        is_near[chosen] = distances.min(axis=1) < _TINY * np.median(distances)
    return is_near
