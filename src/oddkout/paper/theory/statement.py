"""A statement of the theory, and the numbers that check it."""

from dataclasses import asdict, dataclass
from textwrap import wrap
from typing import Any, Literal

from oddkout.checks import Number

Relation = Literal["=", "<=", ">="]


@dataclass(frozen=True, kw_only=True)
class Check:
    """A computed number and the condition that it must satisfy.

    Attributes:
        quantity: Name of the number.
        value: The number.
        relation: ``"="``, ``"<="`` or ``">="``.
        expected: The right side of the relation.
        tolerance: Allowed deviation; 0 if the arithmetic is exact.
        reason: Source of the tolerance.

    Example:
        >>> pi = Check(quantity="pi", value=22 / 7, relation="=", expected=3.1416, tolerance=0.01,
        ...            reason="known to Archimedes")
        >>> pi.holds
        True
    """

    quantity: str
    value: Number
    relation: Relation
    expected: Number
    tolerance: Number = 0
    reason: str = "exact"

    @property
    def holds(self) -> bool:
        """Whether the relation holds within the tolerance; false for NaN."""
        excess = self.value - self.expected
        if self.relation == "=":
            return abs(excess) <= self.tolerance
        return excess <= self.tolerance if self.relation == "<=" else excess >= -self.tolerance


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A statement of the theory, and the computations that check it.

    Attributes:
        name: Its name in the paper; statements of this library begin with "Ours".
        statement: The statement in one sentence.
        computed: The computations, in words.
        checks: The computed numbers.
        remarks: Further findings, such as misprints or limits of the statement.
    """

    name: str
    statement: str
    computed: str
    checks: tuple[Check, ...]
    remarks: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether there are checks and all of them hold."""
        return bool(self.checks) and all(check.holds for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values for JSON."""
        checks = [asdict(check) | {"holds": check.holds} for check in self.checks]
        return asdict(self) | {"checks": checks, "holds": self.holds}

    def __str__(self) -> str:
        width = max(len(check.quantity) for check in self.checks)
        lines = [f"{self.name}: {'holds' if self.holds else 'DOES NOT HOLD'}"]
        lines += _paragraph(self.statement) + _paragraph(f"Computed: {self.computed}")
        for check in self.checks:
            mark = "ok  " if check.holds else "FAIL"
            against = f"{check.relation:>2} {_digits(check.expected):<9} +- {check.tolerance:<7.2g}"
            lines.append(
                f"  {mark} {check.quantity:<{width}}  {_digits(check.value):>9} {against} "
                f"{check.reason}"
            )
        for remark in self.remarks:
            lines += _paragraph(f"Note: {remark}")
        return "\n".join(lines)


def _digits(value: Number) -> str:
    """A number with six digits, or with two if it is tiny."""
    return f"{value:.1e}" if 0 < abs(value) < 1e-3 else f"{value:.6g}"


def _paragraph(text: str) -> list[str]:
    """Lines of a readable width, indented."""
    return wrap(text, 98, initial_indent="  ", subsequent_indent="  ")
