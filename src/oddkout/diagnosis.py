"""``oko.doctor``: check a data set before training."""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from hashlib import blake2b
from typing import Any, Literal

import numpy as np

from oddkout.checks import few
from oddkout.data import Data, load_data
from oddkout.data.sources import DataSource
from oddkout.fitting.folds import FOLDS, suitable_folds
from oddkout.fitting.methods import METHODS
from oddkout.fitting.preparation import non_finite_rows
from oddkout.fitting.recipe import Recipe, suited_to
from oddkout.fitting.requirements import class_notes, fold_count, refuse_few_classes
from oddkout.metrics.intervals import clopper_pearson

_BINS = 15  # bins of the calibration error
_CHUNK = 1024  # number of examples read at a time


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A problem of the data.

    Attributes:
        code: Identifier for programs, such as ``"duplicates-across"``.
        severity: ``"fatal"`` if training would fail or be meaningless, else ``"warning"``.
        text: What is wrong and what to do, in one sentence.
    """

    code: str
    severity: Literal["fatal", "warning"]
    text: str


@dataclass(frozen=True, kw_only=True)
class Suggestion:
    """The default of an option of ``oddkout train`` for these data, with its reason."""

    setting: str
    value: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """The result of ``doctor``; prints as text.

    Attributes:
        name: Name of the data set.
        train_examples: Number of training examples of each class.
        test_examples: Number of test examples of each class.
        imbalance: Size of the largest training class over that of the smallest.
        repeats: How often each example of the rarest class is drawn in an epoch of as many sets
            (k = 1) as there are examples. Cross-entropy draws each example once.
        null_ece: Mean ECE (15 bins) of a perfectly calibrated model on this number of test
            examples, if its confidences are spread evenly from 1 / classes to 1; NaN without a test
            part.
        accuracy_interval: 95 % interval (Clopper-Pearson) around a test accuracy of 90 %.
        findings: The problems of the data.
        suggestions: Default settings for these data.
        notes: How the data were read.
    """

    name: str
    train_examples: dict[str, int]
    test_examples: dict[str, int]
    imbalance: float
    repeats: float
    null_ece: float
    accuracy_interval: tuple[float, float]
    findings: tuple[Finding, ...]
    suggestions: tuple[Suggestion, ...]
    notes: tuple[str, ...]

    @property
    def is_trainable(self) -> bool:
        """Whether there is no fatal finding."""
        return all(finding.severity != "fatal" for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values for JSON."""
        null_ece = None if math.isnan(self.null_ece) else self.null_ece
        return asdict(self) | {"is_trainable": self.is_trainable, "null_ece": null_ece}

    def __str__(self) -> str:
        return "\n".join(_lines(self))


def doctor(source: DataSource, **reading: Any) -> Diagnosis:
    """Check a data set before training.

    Findings and suggestions use the same rules as training.

    Args:
        source: Anything that ``load_data`` takes.
        **reading: Further arguments of ``load_data``.

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
    findings = [*_classes(sizes), *_duplicates(data), *_values(data)]
    return Diagnosis(
        name=data.name,
        train_examples=sizes,
        test_examples=dict(zip(data.classes, test.tolist(), strict=True)),
        imbalance=float(present.max() / present.min()),
        # A set of 3 holds on average 3 / C members of each of C classes.
        repeats=float(train.sum() * 3 / len(present) / present.min()),
        null_ece=null_ece(len(data.y_test), classes=len(data.classes)),
        accuracy_interval=(float(low), float(high)),
        findings=tuple(findings),
        suggestions=tuple(_suggestions(train.tolist())),
        notes=data.notes,
    )


def null_ece(examples: int, *, classes: int, draws: int = 200) -> float:
    """Mean ECE of a perfectly calibrated model, which is above 0 because examples are few.

    Assumes confidences that are spread evenly from 1 / classes to 1.

    Args:
        examples: Number of test examples.
        classes: Number of classes.
        draws: Number of simulated test sets.
    """
    rng = np.random.default_rng(0)
    scores = []
    for _ in range(draws if examples else 0):
        confidence = rng.uniform(1 / classes, 1, examples)
        gap = (rng.random(examples) < confidence) - confidence
        bins = np.ceil(confidence * _BINS).astype(int) - 1
        scores.append(np.abs(np.bincount(bins, gap, minlength=_BINS)).sum() / examples)
    return float(np.mean(scores)) if scores else float("nan")


def _classes(sizes: dict[str, int]) -> Iterator[Finding]:
    """Too few or too small classes, by the rules of training."""
    try:
        refuse_few_classes([name for name, size in sizes.items() if size], METHODS["oko"])
    except ValueError as error:
        yield Finding(code="few-classes", severity="fatal", text=str(error))
    for code, text in class_notes(sizes, folds=FOLDS).items():
        yield Finding(code=code, severity="warning", text=text)


def _duplicates(data: Data) -> Iterator[Finding]:
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


def _values(data: Data) -> Iterator[Finding]:
    """Values that are not finite, and constant columns."""
    for part, x in (("training", data.x_train), ("test", data.x_test)):
        broken = [start + row for start, chunk in _chunks(x) for row in non_finite_rows(chunk)]
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


def _digests(x: Any) -> list[bytes]:
    """A hash of each example."""
    return [
        blake2b(np.ascontiguousarray(row).tobytes(), digest_size=16).digest()
        for _, chunk in _chunks(x)
        for row in chunk
    ]


def _chunks(x: Any) -> Iterator[tuple[int, Any]]:
    """Examples in chunks, so that image files are never all in memory."""
    for start in range(0, len(x), _CHUNK):
        yield start, np.asarray(x[start : start + _CHUNK])


def _lines(diagnosis: Diagnosis) -> Iterator[str]:
    """The lines of the printed text."""
    counts = diagnosis.train_examples
    train, test = sum(counts.values()), sum(diagnosis.test_examples.values())
    yield f"{diagnosis.name}: {train:,} training and {test:,} test examples, {len(counts)} classes"
    yield ""
    width = max(map(len, [*counts, "class"]))
    yield f"  {'class':<{width}}  {'train':>7}  {'test':>7}"
    by_size = sorted(counts, key=lambda name: -counts[name])
    hidden = by_size[6:-6] if len(by_size) > 13 else []
    for name in by_size:
        if name not in hidden:
            yield f"  {name:<{width}}  {counts[name]:>7,}  {diagnosis.test_examples[name]:>7,}"
        elif name == hidden[0]:
            yield f"  ... {len(hidden)} more"
    yield ""
    low, high = diagnosis.accuracy_interval
    yield f"imbalance          {diagnosis.imbalance:.1f} : 1, largest class to smallest"
    yield (
        f"repetition         each example of the rarest class is drawn {diagnosis.repeats:.1f} "
        "times an epoch (k = 1)"
    )
    if test:
        yield (
            f"null level         a perfectly calibrated model scores ECE {diagnosis.null_ece:.3f} "
            f"on {test:,} examples"
        )
        yield f"accuracy interval  90 % measured here means {low:.1%} to {high:.1%}"
    else:
        yield "test part          none: the classifier will not be evaluated"
    yield ""
    for note in diagnosis.notes:
        yield f"note     {note}"
    for finding in diagnosis.findings:
        yield f"{finding.severity:<8} {finding.text}"
    if not diagnosis.findings:
        yield "no problems found"
    yield ""
    yield "defaults of oddkout train and compare for these data:"
    for suggestion in diagnosis.suggestions:
        yield f"--{suggestion.setting} {suggestion.value}: {suggestion.reason}"
