"""Cells that a spreadsheet must not run."""

import pytest

from oddkout.data.cells import plain_cell, safe_cell


@pytest.mark.parametrize("text", ["=cmd()", "+1+cmd()", "-a", "@sum(1)", "\t=1", "\r=1"])
def test_formulas_get_an_apostrophe(text):
    assert safe_cell(text) == f"'{text}"
    assert plain_cell(safe_cell(text)) == text


@pytest.mark.parametrize("value", ["ill", "", "a=b", "-3", "+4e5", -3, 2.5, None])
def test_other_cells_stay_as_they_are(value):
    assert safe_cell(value) == value


@pytest.mark.parametrize("text", ["'tis", "'", "''=1", "ill", "-3", ""])
def test_other_apostrophes_stay(text):
    assert plain_cell(text) == text
