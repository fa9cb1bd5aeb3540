"""``oko.doctor``: check a data set before training."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from oddkout.checks import few
from oddkout.data import Data, load_data
from oddkout.data.catalogue import KNOWN
from oddkout.data.lookalikes import category_pairs, class_sentences
from oddkout.data.shift import class_shift
from oddkout.data.sources import DataSource, is_frame, read_source
from oddkout.data.table_files import is_table
from oddkout.diagnosis.copies import chunks, copies, near_copies
from oddkout.diagnosis.grouping import GroupCheck, checked_groups, group_candidates
from oddkout.diagnosis.null_level import null_ece
from oddkout.diagnosis.result import Diagnosis, Finding, Suggestion
from oddkout.fitting.folds import FOLDS, suitable_folds
from oddkout.fitting.methods import METHODS
from oddkout.fitting.preparation import non_finite_rows
from oddkout.fitting.recipe import Recipe, suited_to
from oddkout.fitting.requirements import class_notes, fold_count, refuse_few_classes
from oddkout.metrics.intervals import clopper_pearson


def doctor(source: DataSource, **reading: Any) -> Diagnosis:
    """Check a data set before training.

    Findings and suggestions use the same rules as training. In a table, columns whose values repeat
    are examined: a small forest is fitted with random splits and with splits by the column. If its
    accuracy falls significantly, rows with the same value belong together.

    Args:
        source: Anything that ``load_data`` takes.
        **reading: Further arguments of ``load_data``. With ``group``, only that column is examined.

    Example:
        >>> diagnosis = doctor("digits")
        >>> diagnosis.is_trainable, round(diagnosis.imbalance, 2)
        (True, 1.05)
    """
    data = load_data(source, **reading)
    train, test = (np.bincount(y, minlength=len(data.classes)) for y in (data.y_train, data.y_test))
    present = train[train > 0]
    low, high = clopper_pearson(round(0.9 * len(data.y_test)), len(data.y_test))
    sizes = dict(zip(data.classes, train.tolist(), strict=True))
    frame, labels = _raw_table(source, reading)
    groups = tuple(_groups(frame, labels, data, reading))
    findings = [
        *_classes(sizes),
        *_lookalikes(frame, data, train + test),
        *_leaks(groups, reading.get("group")),
        *copies(data),
        *near_copies(data),
        *_shift(data),
        *_values(data),
    ]
    said = {finding.text for finding in findings}
    return Diagnosis(
        name=data.name,
        train_examples=sizes,
        test_examples=dict(zip(data.classes, test.tolist(), strict=True)),
        imbalance=float(present.max() / present.min()),
        # A set of 3 holds on average 3 / C members of each of C classes.
        repeats=float(train.sum() * 3 / len(present) / present.min()),
        null_ece=null_ece(len(data.y_test), classes=len(data.classes)),
        accuracy_interval=(float(low), float(high)),
        groups=groups,
        findings=tuple(findings),
        suggestions=tuple(_suggestions(train.tolist())),
        notes=tuple(note for note in data.notes if note not in said),
    )


def doubts(source: DataSource, data: Data, *, has_prior: bool, **reading: Any) -> list[str]:
    """What makes a comparison on these data doubtful, one sentence each.

    Rows that belong together but are split, and a test part with other class frequencies.

    Args:
        source: Anything that ``load_data`` takes.
        data: The same, loaded.
        has_prior: Whether class frequencies were requested: then test examples are weighted.
        **reading: Further arguments of ``load_data``.
    """
    shift = None if has_prior else class_shift(data)
    found = [] if shift is None else [shift.text]
    if data.train_groups is None:
        checks = _groups(*_raw_table(source, reading), data, reading)
        found += [check.sentence for check in checks if check.is_leaking]
    return found


def _raw_table(source: DataSource, reading: Mapping[str, Any]) -> tuple[Any, Any]:
    """Columns and labels of a table as they were read; None for other sources."""
    is_path = isinstance(source, str | Path) and str(source) not in KNOWN
    is_pair = isinstance(source, tuple | list) and len(source) == 2 and is_frame(source[0])
    if not (is_frame(source) or is_pair or (is_path and is_table(Path(source)))):
        return None, None
    part = read_source(source, reading.get("target"), None)
    return part.x, part.labels


def _groups(
    frame: Any, labels: Any, data: Data, reading: Mapping[str, Any]
) -> Iterator[GroupCheck]:
    """The check of the given group, or of all columns that may be one."""
    group = reading.get("group")
    if frame is None or reading.get("groups") is not None:
        return
    options = ("categorical", "text", "numeric", "rare_below")
    kinds = {name: reading[name] for name in options if reading.get(name) is not None}
    position = {name: place for place, name in enumerate(data.classes)}
    y = np.array([position[str(label)] for label in np.asarray(labels).tolist()], dtype=np.int64)
    yield from checked_groups(frame, y, [group] if group else group_candidates(frame), **kinds)


def _leaks(groups: tuple[GroupCheck, ...], group: str | None) -> Iterator[Finding]:
    """Columns by which a split should keep rows together, and does not yet."""
    for check in groups:
        if check.is_leaking and check.column != group:
            yield Finding(code="leaking-groups", severity="warning", text=check.sentence)


def _lookalikes(frame: Any, data: Data, counts: Any) -> Iterator[Finding]:
    """Classes and categories that look alike."""
    for text in class_sentences(data.classes, counts=counts):
        yield Finding(code="similar-classes", severity="warning", text=text)
    if frame is None or data.encoder is None:
        return
    for column, pairs in category_pairs(frame[list(data.encoder.categorical)]).items():
        shown = [f"{rare!r} and {frequent!r}" for rare, frequent in pairs]
        yield Finding(
            code="similar-categories",
            severity="warning",
            text=f"categories of column {column!r} look alike: {few(shown)}; correct the table if "
            "they are the same",
        )


def _shift(data: Data) -> Iterator[Finding]:
    """Other class frequencies in the test part."""
    if (shift := class_shift(data)) is not None:
        yield Finding(code="class-shift", severity="warning", text=shift.text)


def _classes(sizes: dict[str, int]) -> Iterator[Finding]:
    """Too few or too small classes, by the rules of training."""
    try:
        refuse_few_classes([name for name, size in sizes.items() if size], METHODS["oko"])
    except ValueError as error:
        yield Finding(code="few-classes", severity="fatal", text=str(error))
    for code, text in class_notes(sizes, folds=FOLDS).items():
        yield Finding(code=code, severity="warning", text=text)


def _values(data: Data) -> Iterator[Finding]:
    """Values that are not finite, and constant columns."""
    for part, x in (("training", data.x_train), ("test", data.x_test)):
        broken = [start + row for start, chunk in chunks(x) for row in non_finite_rows(chunk)]
        if broken:
            yield Finding(
                code="non-finite",
                severity="fatal",
                text=f"{len(broken)} {part} examples hold NaN or infinity, at {few(broken)}; "
                "impute or drop them",
            )
    if data.encoder is not None:
        columns, constant = data.encoder.columns, list(data.encoder.constant)
    elif isinstance(data.x_train, np.ndarray) and data.x_train.ndim == 2:
        columns = range(data.x_train.shape[1])
        constant = np.flatnonzero((data.x_train == data.x_train[:1]).all(axis=0)).tolist()
    else:
        return
    if constant:
        yield Finding(
            code="constant-columns",
            severity="fatal" if len(constant) == len(columns) else "warning",
            text=f"columns {few(constant)} are constant and carry no information; drop them",
        )


def _suggestions(sizes: list[int]) -> Iterator[Suggestion]:
    """The defaults of ``oddkout train`` for these class sizes."""
    recipe = Recipe(**suited_to(sizes))
    yield Suggestion(
        setting="updates",
        value=recipe.updates,
        reason=f"at most, of {recipe.examples} examples each; out-of-fold predictions choose when "
        "to stop",
    )
    folds = min(suitable_folds(sum(sizes)), fold_count(sizes, folds=FOLDS))
    yield Suggestion(
        setting="folds",
        value=folds,
        reason="to choose the learning rate and when to stop, and to calibrate"
        if folds > 1
        else "a tenth of the examples is held out to choose and to calibrate"
        if folds
        else "no class has 2 examples, so cross-validation is impossible",
    )
