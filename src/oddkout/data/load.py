"""Load any source of data: checked arrays with class names, split into training and test."""

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from oddkout.checks import Number, at_least, few
from oddkout.data.arrays import Data, encoded_labels
from oddkout.data.catalogue import KNOWN
from oddkout.data.categories import RARE_BELOW
from oddkout.data.groups import (
    group_codes,
    grouped_split,
    refuse_useless_groups,
    with_group_column,
    with_groups,
)
from oddkout.data.images import ImageFiles
from oddkout.data.known import load_known
from oddkout.data.lookalikes import category_pairs, class_sentences
from oddkout.data.sources import DataSource, SourcePart, is_frame, read_source
from oddkout.data.splits import last_split, split, subset
from oddkout.data.table import TableEncoder

# Training examples to use: all, or a subset with this class distribution.
TrainingPart = Literal["all", "uniform", "heavy-tailed", "exponential"]

# The data sets of the paper, where the last fifth of the training data is for validation.
_PAPER_DATA = frozenset(KNOWN) - {"digits"}


def load_data(
    source: DataSource,
    *,
    target: str | None = None,
    test: DataSource = None,
    test_size: Number = 0.2,
    image_size: int | None = None,
    categorical: Collection[str] = (),
    text: Collection[str] = (),
    numeric: Collection[str] = (),
    rare_below: int = RARE_BELOW,
    group: str | None = None,
    groups: Any = None,
    distribution: TrainingPart = "all",
    train_examples: int | None = None,
    data_dir: str | Path | None = None,
    seed: int = 0,
) -> Data:
    """Load a data set, split into training and test part.

    Args:
        source: A known name (``digits``, ``mnist``, ``fashion_mnist``, ``cifar10``, ``cifar100``);
            a path: a table (``.csv``, ``.tsv``, ``.xlsx``, ``.parquet``), ``.npz``, or a folder
            with one subfolder of images per class; a pandas frame; or a pair (examples, labels),
            where examples are an array, a sparse matrix or a frame. ``Data`` are returned
            unchanged, apart from ``distribution``.
        target: For tables, the column that holds the class.
        test: A separate test part of the same kind.
        test_size: Share of each class for the test part, without a separate one; 0 for none.
        image_size: For folders, height and width to scale each image to.
        categorical: For tables, columns to treat as categories.
        text: For tables, columns to treat as text, whose words are hashed.
        numeric: For tables, columns to treat as numbers although they look like identifiers.
        rare_below: For tables, least number of training rows of a category; rarer ones are merged.
        group: For tables, the column that holds the group of each row, such as the patient. It is
            no feature. Splits and folds keep groups together.
        groups: The same for arrays and pairs: the group of each example.
        distribution: Training examples to use: ``"all"``, or a subset with this class distribution,
            see ``subset``. For the data sets of the paper, subsets are drawn from the first four
            fifths, as in the paper.
        train_examples: Size of the subset.
        data_dir: Folder to search for a known data set first.
        seed: Seed of the split and of the subset.

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
        text=text,
        numeric=numeric,
        rare_below=rare_below,
        group=group,
        groups=groups,
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
    """The data with a subset of the training part.

    Args:
        source: The source of the data: those of the paper have their own rule, see ``load_data``.
        distribution: Training examples to use, see ``load_data``.
        examples: Size of the subset.
        seed: Seed of the subset.
    """
    if (distribution == "all") != (examples is None):
        raise ValueError(
            "train_examples is the size of a subset and needs distribution 'uniform', "
            "'heavy-tailed' or 'exponential', and vice versa, got "
            f"{distribution=} and train_examples={examples}"
        )
    if distribution == "all":
        return data
    candidates = np.arange(len(data.y_train))
    if isinstance(source, str) and source in _PAPER_DATA:
        candidates, _ = last_split(len(data.y_train))
    labels = data.y_train[candidates]
    chosen = candidates[subset(labels, examples=examples, distribution=distribution, seed=seed)]
    return replace(
        data,
        x_train=np.asarray(data.x_train[chosen]),
        y_train=data.y_train[chosen],
        train_groups=None if data.train_groups is None else data.train_groups[chosen],
        raw_train=None if data.raw_train is None else data.raw_train.iloc[chosen],
    )


def load_everything(
    source: DataSource,
    *,
    target: str | None = None,
    test: DataSource = None,
    test_size: Number = 0.2,
    image_size: int | None = None,
    categorical: Collection[str] = (),
    text: Collection[str] = (),
    numeric: Collection[str] = (),
    rare_below: int = RARE_BELOW,
    group: str | None = None,
    groups: Any = None,
    data_dir: str | Path | None = None,
    seed: int = 0,
) -> Data:
    """Load a data set with all training examples; the arguments are those of ``load_data``."""
    at_least("seed", seed, 0)
    if isinstance(source, Data):
        given = {"target": target, "test": test, "image_size": image_size, "group": group,
                 "groups": groups}  # fmt: skip
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
    held = part.test if test is None else read_source(test, target, image_size, is_test=True)
    if group is not None:
        part = with_group_column(part, group, target=target, is_test=False)
        if held is not None:
            held = with_group_column(held, group, target=target, is_test=True)
    if groups is not None:
        part = with_groups(part, groups)
    y, classes = _encoded(part)
    codes = None if part.groups is None else group_codes(part)
    notes = (*part.notes, *class_sentences(classes, counts=np.bincount(y, minlength=len(classes))))
    x, test_rows, train_groups, test_groups = part.x, None, codes, None
    if held is not None:
        _refuse_other_shape(part, held)
        x_test, (y_test, _) = held.x, _encoded(held, classes)
        test_groups = None if held.groups is None else group_codes(held)
    elif test_size == 0:
        x_test, y_test = x.iloc[:0] if is_frame(x) else x[:0], y[:0]
    else:
        first, second, split_notes = _split(y, classes, test_size, seed, groups=codes)
        notes += split_notes
        if codes is not None:
            train_groups, test_groups = codes[first], codes[second]
        x, x_test, y, y_test = _chosen(x, first), _chosen(x, second), y[first], y[second]
        test_rows = second
    encoder = raw_train = raw_test = None
    if is_frame(x):
        raw_train, raw_test = x, x_test
        encoder = TableEncoder(
            x, categorical=categorical, text=text, numeric=numeric, rare_below=rare_below
        )
        notes += _table_notes(encoder, x, x_test)
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
        train_groups=train_groups,
        test_groups=test_groups,
        test_rows=test_rows,
        raw_train=raw_train,
        raw_test=raw_test,
    )


def _encoded(part: SourcePart, classes: tuple[str, ...] | None = None) -> tuple[Any, Any]:
    """Labels as positions among the classes, and the classes.

    Args:
        classes: For a test part, the classes of the training part.
    """
    if part.classes is None or classes not in (None, part.classes):
        return encoded_labels(part.labels, classes, name=part.called)
    return part.labels.astype(np.int64), part.classes


def _table_notes(encoder: TableEncoder, frame: Any, test_frame: Any) -> tuple[str, ...]:
    """Notes on the columns of a table, one sentence each; they are saved, so they quote no cell."""
    notes = tuple(encoder.left_out.values())
    if similar := category_pairs(frame[list(encoder.categorical)]):
        notes += (
            f"columns {few(list(similar))} hold categories that look alike, such as two spellings "
            "of one; oddkout doctor shows them",
        )
    if encoder.missing:
        cells = sum(encoder.missing.values())
        notes += (f"{cells} missing cells were imputed, in columns {few(list(encoder.missing))}",)
    if extra := [name for name in test_frame.columns if name not in frame.columns]:
        notes += (
            f"columns {few(extra)} of the test part are ignored: training has no such column",
        )
    return notes


def _refuse_other_shape(train: SourcePart, test: SourcePart) -> None:
    """Raise unless both parts are tables, or examples of the same shape."""
    if is_frame(train.x) != is_frame(test.x):
        raise ValueError(
            f"training and test part must be of the same kind, got {train.called} and "
            f"{test.called}; pass two tables, or two sets of arrays or images"
        )
    shapes = [part.x.shape[1:] for part in (train, test) if isinstance(part.x, np.ndarray)]
    if len(shapes) == 2 and shapes[0] != shapes[1]:
        raise ValueError(
            f"test examples must have the shape of training examples, {shapes[0]}, got {shapes[1]}"
        )


def _chosen(x: Any, index: Any) -> Any:
    """The examples at these positions, without decoding image files."""
    if is_frame(x):
        return x.iloc[index]
    return x.subset(index) if isinstance(x, ImageFiles) else x[index]


def _split(
    y: Any, classes: tuple[str, ...], test_size: Number, seed: int, *, groups: Any = None
) -> tuple[Any, Any, tuple[str, ...]]:
    """A stratified split, with a note on classes that have one example only."""
    if not 0 < test_size < 1:
        raise ValueError(f"test_size must be a share from 0 to below 1, got {test_size}")
    if groups is not None:
        refuse_useless_groups(groups, y)
        first, second = grouped_split(y, groups, test_size, seed)
        count = len(np.unique(groups))
        return first, second, (f"{count} groups: splits and folds keep each of them together",)
    first, second = split(y, fraction=test_size, seed=seed)
    if len(second) == 0:
        raise ValueError(
            f"the test part needs a class with at least 2 examples, but none of the classes "
            f"{few(classes)} has 2; add examples, pass a separate test part, or set test_size to 0"
        )
    single = [classes[c] for c in np.flatnonzero(np.bincount(y, minlength=len(classes)) == 1)]
    notes = (
        f"classes {few(single)} have one example, which is used for training, not for testing",
    )
    return first, second, notes if single else ()
