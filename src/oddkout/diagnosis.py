"""What a data set can and cannot support, before anything is trained on it."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

import numpy as np

from oddkout.checks import few
from oddkout.data import Data, load_data
from oddkout.metrics.intervals import clopper_pearson

_BINS = 15  # of the calibration error
_CHUNK = 1024  # examples looked at together


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Something that is wrong with the data.

    Attributes:
        code: A name for programs, such as ``"duplicates-across"``.
        severity: ``"fatal"`` if training would be refused or mean nothing, else ``"warning"``.
        text: What was found and what to do, in one sentence.
    """

    code: str
    severity: Literal["fatal", "warning"]
    text: str


@dataclass(frozen=True, kw_only=True)
class Suggestion:
    """A setting that fits the data, with its reason."""

    setting: str
    value: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """What ``doctor`` saw; prints as text, and as plain values with ``to_dict``.

    Attributes:
        name: Name of the data set.
        train_examples: Number of training examples of each class.
        test_examples: Number of test examples of each class.
        imbalance: Largest class over smallest class, in training.
        repeats: How often each example of the rarest class is drawn in an epoch of as many sets
            (k = 1) as there are examples; cross-entropy sees every example once.
        null_ece: ECE (15 bins) that a perfectly calibrated model scores on average on as many test
            examples, if its confidences are spread evenly from 1 / classes to 1.
        accuracy_interval: 95 % interval (Clopper-Pearson) around a test accuracy of 90 %.
        findings: What is wrong.
        suggestions: Settings that fit.
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
        """Whether nothing was found that makes training meaningless."""
        return all(finding.severity != "fatal" for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values for JSON."""
        return asdict(self) | {"is_trainable": self.is_trainable}

    def __str__(self) -> str:
        return "\n".join(_lines(self))


def doctor(source: Data | str | Path, **reading: Any) -> Diagnosis:
    """Look a data set over.

    Args:
        source: Loaded data, or anything that ``load_data`` takes.
        **reading: Further arguments of ``load_data``.

    Example:
        >>> diagnosis = doctor("digits")
        >>> diagnosis.is_trainable, round(diagnosis.imbalance, 2)
        (True, 1.05)
    """
    data = source if isinstance(source, Data) else load_data(source, **reading)
    train, test = (np.bincount(y, minlength=len(data.classes)) for y in (data.y_train, data.y_test))
    present = train[train > 0]
    low, high = clopper_pearson(round(0.9 * len(data.y_test)), len(data.y_test))
    findings = [*_pairing(data, train), *_duplicates(data), *_values(data)]
    return Diagnosis(
        name=data.name,
        train_examples=dict(zip(data.classes, train.tolist(), strict=True)),
        test_examples=dict(zip(data.classes, test.tolist(), strict=True)),
        imbalance=float(present.max() / present.min()),
        # A set of 3 holds 3 / C members of any one class on average.
        repeats=float(train.sum() * 3 / len(present) / present.min()),
        null_ece=null_ece(len(data.y_test), classes=len(data.classes)),
        accuracy_interval=(float(low), float(high)),
        findings=tuple(findings),
        suggestions=tuple(_suggestions(present)),
        notes=data.notes,
    )


def null_ece(examples: int, *, classes: int, draws: int = 200) -> float:
    """ECE that a perfectly calibrated model scores on average, for want of more examples.

    Its confidences are taken to be spread evenly from 1 / classes to 1.

    Args:
        examples: Number of test examples.
        classes: Number of classes.
        draws: Number of test sets to average over.
    """
    rng = np.random.default_rng(0)
    scores = []
    for _ in range(draws if examples else 0):
        confidence = rng.uniform(1 / classes, 1, examples)
        gap = (rng.random(examples) < confidence) - confidence
        bins = np.ceil(confidence * _BINS).astype(int) - 1
        scores.append(np.abs(np.bincount(bins, gap, minlength=_BINS)).sum() / examples)
    return float(np.mean(scores)) if scores else float("nan")


def _pairing(data: Data, train: Any) -> Iterator[Finding]:
    """Classes that cannot form a pair, or cannot be tested."""
    if lonely := [data.classes[c] for c in np.flatnonzero(train == 1)]:
        yield Finding(
            code="singletons",
            severity="fatal",
            text=f"classes {few(lonely)} have one training example and cannot form a pair; drop "
            "them, give them more, or train with singletons='odd-only' or 'repeat'",
        )
    if absent := [data.classes[c] for c in np.flatnonzero(train == 0)]:
        yield Finding(
            code="absent-classes",
            severity="fatal",
            text=f"classes {few(absent)} have no training example; drop them or give them some",
        )


def _duplicates(data: Data) -> Iterator[Finding]:
    """Examples that occur more than once, within and across the two parts."""
    train, test = _digests(data.x_train), _digests(data.x_test)
    for part, digests in (("train", train), ("test", test)):
        if repeated := len(digests) - len(set(digests)):
            yield Finding(
                code=f"duplicates-{part}",
                severity="warning",
                text=f"{repeated} of {len(digests)} {part} examples repeat another one exactly; "
                "drop them, they count twice",
            )
    seen = set(train)
    if leaked := sum(digest in seen for digest in test):
        yield Finding(
            code="duplicates-across",
            severity="fatal" if leaked > len(test) / 2 else "warning",
            text=f"{leaked} of {len(test)} test examples are in the training part too; drop them "
            "there, or the test flatters",
        )
    labels: dict[bytes, set[int]] = {}
    for digest, label in zip(train + test, [*data.y_train, *data.y_test], strict=True):
        labels.setdefault(digest, set()).add(int(label))
    if conflicts := [named for named in labels.values() if len(named) > 1]:
        example = [data.classes[c] for c in sorted(conflicts[0])]
        yield Finding(
            code="conflicting-labels",
            severity="warning",
            text=f"{len(conflicts)} examples occur with different labels, such as {few(example)}; "
            "at least one label of each is wrong",
        )


def _values(data: Data) -> Iterator[Finding]:
    """Values that are not finite, and columns that never change."""
    broken = [
        start + int(row)
        for start, chunk in _chunks(data.x_train)
        for row in np.flatnonzero(~np.isfinite(chunk.reshape(len(chunk), -1)).all(axis=1))
    ]
    if broken:
        yield Finding(
            code="non-finite",
            severity="fatal",
            text=f"{len(broken)} training examples hold NaN or infinity, at {few(broken)}; impute "
            "or drop them",
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
            text=f"columns {few(constant)} hold one value only and tell nothing; drop them",
        )


def _suggestions(train: Any) -> Iterator[Suggestion]:
    """k, the pool and the number of folds that fit the numbers of examples."""
    classes, rarest = len(train), int(train.min())
    yield Suggestion(
        setting="k",
        value=1,
        reason="odd classes matter, their number hardly does, and the odd-class head is made for 1",
    )
    pool = min(classes, 20)
    yield Suggestion(
        setting="classes_per_batch",
        value=pool,
        reason="all of them"
        if pool == classes
        else "a pool of 20 classes holds sets of every kind",
    )
    per_class = int(np.clip(round(60 / pool), 2, 6))
    yield Suggestion(
        setting="examples_per_class",
        value=per_class,
        reason=f"about 60 examples an update; the rarest class has {rarest}"
        + (", which gives all it has" if rarest < per_class else ""),
    )
    folds = min(5, rarest)
    if folds > 1:
        yield Suggestion(
            setting="folds",
            value=folds,
            reason="so that each fold holds an example of the rarest class"
            if folds < 5
            else "every class has at least one example in each fold",
        )


def _digests(x: Any) -> list[bytes]:
    """A fingerprint of every example."""
    return [
        blake2b(np.ascontiguousarray(row).tobytes(), digest_size=16).digest()
        for _, chunk in _chunks(x)
        for row in chunk
    ]


def _chunks(x: Any) -> Iterator[tuple[int, Any]]:
    """Examples a chunk at a time, so that images that are still files are never all in memory."""
    for start in range(0, len(x), _CHUNK):
        yield start, np.asarray(x[start : start + _CHUNK])


def _lines(diagnosis: Diagnosis) -> Iterator[str]:
    """The text for people."""
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
    yield (
        f"null level         a perfectly calibrated model scores ECE {diagnosis.null_ece:.3f} on "
        f"{test:,} examples"
    )
    yield f"accuracy interval  90 % measured here means {low:.1%} to {high:.1%}"
    yield ""
    for note in diagnosis.notes:
        yield f"note     {note}"
    for finding in diagnosis.findings:
        yield f"{finding.severity:<8} {finding.text}"
    if not diagnosis.findings:
        yield "nothing wrong was found"
    yield ""
    for suggestion in diagnosis.suggestions:
        yield f"suggested {suggestion.setting} = {suggestion.value}: {suggestion.reason}"
