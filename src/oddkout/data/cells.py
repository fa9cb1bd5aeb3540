"""Cells of a CSV file that a spreadsheet program must not take for formulas."""

from typing import Any

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def safe_cell(value: Any) -> Any:
    """Return a value for a cell; text that a spreadsheet would run gets an apostrophe in front.

    Example:
        >>> safe_cell("=cmd()"), safe_cell("ill"), safe_cell(-3.5), safe_cell("-3.5")
        ("'=cmd()", 'ill', -3.5, '-3.5')
    """
    if not isinstance(value, str) or not value.startswith(_FORMULA):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value


def plain_cell(text: str) -> str:
    """The text that ``safe_cell`` was given.

    Example:
        >>> plain_cell("'=cmd()"), plain_cell("'tis"), plain_cell("ill")
        ('=cmd()', "'tis", 'ill')
    """
    return text[1:] if text.startswith("'") and safe_cell(text[1:]) == text else text
