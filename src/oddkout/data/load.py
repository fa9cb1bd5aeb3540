"""Any source of data as checked arrays with class names, split into training and test part."""

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from oddkout.checks import Number, at_least, few
from oddkout.data.arrays import Data, encoded_labels
from oddkout.data.catalogue import KNOWN
from oddkout.data.images import ImageFiles
from oddkout.data.known import load_known
from oddkout.data.sources import DataSource, SourcePart, is_frame, read_source
from oddkout.data.splits import last_split, split, subset
from oddkout.data.table import TableEncoder

# Classes of the training part: all of its examples, or a subset.
TrainingPart = Literal["all", "uniform", "heavy-tailed"]

# The data sets of the paper, which keeps the last fifth of their training data for validation.
_PAPER_DATA = frozenset(KNOWN) - {"digits"}


def load_data(
    source: DataSource,
    *,
    target: str | None = None,
    test: DataSource = None,
    test_size: Number = 0.2,
    image_size: int | None = None,
    categorical: Collection[str] = (),
    distribution: TrainingPart = "all",
    train_examples: int | None = None,
    data_dir: str | Path | None = None,
    seed: int = 0,
) -> Data:
    """Load a data set, split into training and test part.

    Args:
        source: A known name (``digits``, ``mnist``, ``fashion_mnist``, ``cifar10``, ``cifar100``);
            a path: ``.npz``, ``.csv``, ``.parquet``, or a folder of images per class; a pandas
            frame; or a pair (examples, labels) of arrays or of a frame and labels. Loaded data are
            returned as they are.
        target: For tables, the column that holds the class.
        test: A separate test part of the same kind.
        test_size: Without one, the share of every class that is kept for the test; 0 for none.
        image_size: For folders, height and width to scale every image to.
        categorical: For tables, columns of numbers to treat as categories.
        distribution: Which training examples to use: ``"all"``, or a subset with the given
            distribution of classes, see ``subset``. Subsets of the paper's data sets are drawn
            from the first four fifths, as in the paper.
        train_examples: Size of the subset.
        data_dir: Where to look for a known data set first.
        seed: Key of the split and of the subset.

    Example:
        >>> data = load_data("digits")
        >>> data.x_train.shape, len(data.classes)
        ((1347, 8, 8), 10)
    """
    data = load_everything(
        source,
        target=target,
        test=test,
        test_size=test_size,
        image_size=image_size,
        categorical=categorical,
        data_dir=data_dir,
        seed=seed,
    )
    return training_subset(
        data, source, distribution=distribution, examples=train_examples, seed=seed
    )


def training_subset(
    data: Data,
    source: DataSource,
    *,
    distribution: TrainingPart,
    examples: int | None,
    seed: int,
) -> Data:
    """The data with a subset of their training part.

    Args:
        data: The data.
        source: Where they came from.
        distribution: Which training examples to use, see ``load_data``.
        examples: Size of the subset.
        seed: Key of the subset.
    """
    if (distribution == "all") != (examples is None):
        raise ValueError(
            "train_examples is the size of a subset, so it goes together with distribution "
            f"'uniform' or 'heavy-tailed', got {distribution=} and train_examples={examples}"
        )
    if distribution == "all":
        return data
    candidates = np.arange(len(data.y_train))
    if isinstance(source, str) and source in _PAPER_DATA:
        candidates, _ = last_split(len(data.y_train))
    labels = data.y_train[candidates]
    chosen = candidates[subset(labels, examples=examples, distribution=distribution, seed=seed)]
    return replace(data, x_train=np.asarray(data.x_train[chosen]), y_train=data.y_train[chosen])


def load_everything(
    source: DataSource,
    *,
    target: str | None = None,
    test: DataSource = None,
    test_size: Number = 0.2,
    image_size: int | None = None,
    categorical: Collection[str] = (),
    data_dir: str | Path | None = None,
    seed: int = 0,
) -> Data:
    """Load a data set with all training examples; the arguments are those of ``load_data``."""
    at_least("seed", seed, 0)
    if isinstance(source, Data):
        given = {"target": target, "test": test, "image_size": image_size}
        if refused := [name for name, value in given.items() if value is not None]:
            raise ValueError(
                f"loaded data are read and split already, got {few(refused)}; leave it out, or "
                "give the path"
            )
        return source
    if isinstance(source, str) and source in KNOWN:
        if test is not None:
            raise ValueError(
                f"{source} has its own test part, got test={str(test)!r}; leave it out"
            )
        known = load_known(KNOWN[source], None if data_dir is None else Path(data_dir))
        return replace(known, is_benchmark=True)
    part = read_source(source, target, image_size)
    y, classes = _encoded(part)
    notes: tuple[str, ...] = ()
    held = part.test if test is None else read_source(test, target, image_size, is_test=True)
    x = part.x
    if held is not None:
        _refuse_other_shape(part, held)
        x_test, (y_test, _) = held.x, _encoded(held, classes)
    elif test_size == 0:
        x_test, y_test = x.iloc[:0] if is_frame(x) else x[:0], y[:0]
    else:
        first, second, notes = _split(y, classes, test_size, seed)
        x, x_test, y, y_test = _chosen(x, first), _chosen(x, second), y[first], y[second]
    encoder = None
    if is_frame(x):
        encoder = TableEncoder(x, categorical=categorical)
        notes += _table_notes(encoder, x_test)
        x, x_test = encoder.encode(x), encoder.encode(x_test)
    return Data(
        name=part.name,
        x_train=x,
        y_train=y,
        x_test=x_test,
        y_test=y_test,
        classes=classes,
        notes=notes,
        encoder=encoder,
        is_encoded=encoder is not None or part.is_encoded,
    )


def _encoded(part: SourcePart, classes: tuple[str, ...] | None = None) -> tuple[Any, Any]:
    """Labels as positions among the classes, and the classes; those of the training part if given.

    Args:
        part: The part of a source.
        classes: Classes of the training part, for a test part.
    """
    if part.classes is None or classes not in (None, part.classes):
        return encoded_labels(part.labels, classes, name=part.called)
    return part.labels.astype(np.int64), part.classes


def _table_notes(encoder: TableEncoder, test_frame: Any) -> tuple[str, ...]:
    """What a user should know about the columns of a table."""
    notes: tuple[str, ...] = ()
    if encoder.missing:
        cells = sum(encoder.missing.values())
        notes += (f"{cells} missing cells were imputed, in columns {few(list(encoder.missing))}",)
    if extra := [name for name in test_frame.columns if name not in encoder.columns]:
        notes += (f"columns {few(extra)} of the test part are not in the training part: ignored",)
    return notes


def _refuse_other_shape(train: SourcePart, test: SourcePart) -> None:
    """Raise unless both parts are of the same kind, and arrays of the same shape."""
    if is_frame(train.x) != is_frame(test.x):
        raise ValueError(
            f"the test part must be of the kind of the training part, got {train.called} and "
            f"{test.called}"
        )
    shapes = [part.x.shape[1:] for part in (train, test) if isinstance(part.x, np.ndarray)]
    if len(shapes) == 2 and shapes[0] != shapes[1]:
        raise ValueError(
            f"test examples must have the shape of training ones, {shapes[0]}, got {shapes[1]}"
        )


def _chosen(x: Any, index: Any) -> Any:
    """Some of the examples, without decoding image files."""
    if is_frame(x):
        return x.iloc[index]
    return x.subset(index) if isinstance(x, ImageFiles) else x[index]


def _split(
    y: Any, classes: tuple[str, ...], test_size: Number, seed: int
) -> tuple[Any, Any, tuple[str, ...]]:
    """A stratified split, with a note on classes that cannot be in both parts."""
    if not 0 < test_size < 1:
        raise ValueError(f"test_size must be a share from 0 to below 1, got {test_size}")
    first, second = split(y, fraction=test_size, seed=seed)
    if len(second) == 0:
        raise ValueError(
            f"a part of the data is kept for the test, but none of the classes {few(classes)} has "
            "2 examples; give more examples, or a test file with --test"
        )
    lonely = [classes[c] for c in np.flatnonzero(np.bincount(y, minlength=len(classes)) == 1)]
    notes = (f"classes {few(lonely)} occur once: kept for training, so they cannot be tested",)
    return first, second, notes if lonely else ()
