"""Dates are days since 1970-01-01, however they are written."""

import datetime

import numpy as np
import pandas as pd
import pytest

from oddkout.data.dates import date_days, date_order
from oddkout.data.table import TableEncoder

DAYS = [datetime.date(2024, 1, 31), datetime.date(1969, 12, 30), datetime.date(2000, 2, 29)]


@pytest.mark.parametrize(
    ("form", "order"),
    [
        ("%Y-%m-%d", "year first"),
        ("%Y/%m/%d", "year first"),
        ("%Y-%m-%dT%H:%M:%S", "year first"),
        ("%Y-%m-%d %H:%M:%S.000Z", "year first"),
        ("%d.%m.%Y", "day first"),
        ("%d/%m/%Y %H:%M", "day first"),
        ("%m/%d/%Y", "month first"),
        ("%m-%d-%Y", "month first"),
    ],
)
def test_dates_are_found_in_text(form, order):
    column = pd.Series([day.strftime(form) for day in DAYS])
    assert date_order(column) == order
    expected = [(day - datetime.date(1970, 1, 1)).days for day in DAYS]
    assert date_days(column, order).tolist() == expected


def test_times_and_zones_count():
    days = date_days(pd.Series(["1970-01-01 6:00", "1970-01-02T01:00+01:00", None]), "year first")
    np.testing.assert_array_equal(days, [0.25, 1.0, np.nan])


def test_ambiguous_dates_are_american_with_slashes_and_european_with_dots():
    assert date_order(pd.Series(["01/02/2024", "03/04/2024"])) == "month first"
    assert date_order(pd.Series(["01.02.2024", "03.04.2024"])) == "day first"


@pytest.mark.parametrize("values", [["1.2.3", "4.5.6"], ["2024", "2023"], ["a-b", "c"]])
def test_other_text_holds_no_dates(values):
    assert date_order(pd.Series(values)) is None


def test_a_wrong_date_among_dates_is_named():
    column = pd.Series([f"{day:02}.02.2024" for day in range(20, 32)])
    message = r"'seen' holds dates \(day first\), but no dates in lines \[12, 13\]; correct"
    with pytest.raises(ValueError, match=message):
        TableEncoder(pd.DataFrame({"seen": column}))


def test_dates_of_the_test_part_are_read_as_those_of_the_training_part():
    encoder = TableEncoder(pd.DataFrame({"seen": [f"{day}.02.2024" for day in range(1, 29)]}))
    again = TableEncoder.from_dict(encoder.to_dict())
    later = pd.DataFrame({"seen": ["03.04.2024", None]})
    expected = (19_816 - (19_754 + 13.5)) / np.arange(28).std()  # 3 April and 1 February 2024
    for one in (encoder, again):
        np.testing.assert_allclose(one.encode(later)[:, 0], [expected, 0], atol=1e-6)
    stamps = pd.DataFrame({"seen": pd.to_datetime(["2024-04-03", None])})
    np.testing.assert_array_equal(again.encode(stamps), again.encode(later))
    with pytest.raises(ValueError, match=r"holds dates \(day first\), but no dates in lines \[2\]"):
        encoder.encode(pd.DataFrame({"seen": ["2024-04-03"]}))
