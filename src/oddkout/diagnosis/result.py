"""The result of ``doctor``, and how it is printed."""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from oddkout.diagnosis.grouping import GroupCheck


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
        groups: How much the accuracy falls when rows are split by a column.
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
    groups: tuple[GroupCheck, ...]
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
    if diagnosis.groups:
        yield "accuracy of a forest if rows are split at random, and by a column:"
        for check in diagnosis.groups:
            yield f"  {check}"
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
