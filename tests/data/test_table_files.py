"""Tables as they come: every usual form of a file gives the same frame."""

import datetime
import os

import numpy as np
import openpyxl
import pandas as pd
import pytest

from oddkout import load_data
from oddkout.data.table_files import read_frame, read_table

NAMES = ["größe", "Gewicht, kg", "drug", "ward", "y"]
ROWS = [
    [170.5, 1234.5, "Aspirin; 100 mg", "Süd", "krank"],
    [161.25, 999.0, 'the "blue" one', "Nord", "gesund"],
    [180.0, 70.125, "none, really", "Süd", "krank"],
    [None, 1000.0, "line\nbreak", "Nord", "gesund"],
]
EXPECTED = pd.DataFrame(ROWS, columns=NAMES)


def text(separator=",", *, decimal=".", thousands=""):
    """The table as text; fields with special characters are quoted."""

    def field(value):
        if value is None:
            return ""
        if isinstance(value, float):
            value = f"{value:,}".replace(",", "T").replace(".", decimal).replace("T", thousands)
        special = {separator, '"', "\n"}
        return f'"{value.replace(chr(34), chr(34) * 2)}"' if special & set(value) else value

    return "".join(separator.join(map(field, row)) + "\n" for row in [NAMES, *ROWS])


@pytest.mark.parametrize("target", [None, "y"])
@pytest.mark.parametrize(
    ("content", "name"),
    [
        (text().encode(), "a.csv"),
        (text().encode("utf-8-sig"), "a.csv"),
        (text().encode("utf-16"), "a.csv"),
        (text().encode("cp1252"), "a.csv"),
        (text().replace("\n", "\r\n").replace("line\r\n", "line\n").encode(), "A.CSV"),
        (text("\t").encode(), "a.tsv"),
        (text("\t").encode("cp1252"), "a.csv"),
        (text("|").encode(), "a.csv"),
        (text(";").encode(), "a.csv"),
        (text(";", decimal=",").encode(), "a.csv"),
        (text(";", decimal=",", thousands=".").encode("cp1252"), "a.csv"),
        (text(",", decimal=",").encode(), "a.csv"),
        (text(",", thousands=",").encode(), "a.csv"),
        (text("\t", decimal=",").encode("utf-8-sig"), "a.tsv"),
        (text("\t", thousands=",").encode(), "a.tsv"),
    ],
)
def test_every_form_of_text_gives_the_same_table(tmp_path, content, name, target):
    (tmp_path / name).write_bytes(content)
    pd.testing.assert_frame_equal(
        read_frame(tmp_path / name, target), EXPECTED, check_dtype=False, check_exact=True
    )


def sheet(path, rows, *, more=()):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for title in more:
        book.create_sheet(title)
    book.save(path)
    return path


def test_a_sheet_gives_the_same_table(tmp_path):
    path = sheet(tmp_path / "a.xlsx", [NAMES, *ROWS, [None] * 5], more=["notes"])
    frame, notes = read_table(path, "y")
    pd.testing.assert_frame_equal(frame, EXPECTED, check_dtype=False, check_exact=True)
    assert notes == ("the workbook has 2 sheets; the first, 'Sheet', was read",)


def test_a_sheet_keeps_dates_truth_values_and_names_of_classes(tmp_path):
    rows = [[datetime.datetime(2024, 1, i + 1), i % 2 == 0, float(i % 2), "NA"] for i in range(8)]
    rows[3][0] = None
    frame = read_frame(sheet(tmp_path / "a.xlsx", [["seen", "ok", "y", "empty"], *rows]), "y")
    assert (frame["seen"].dtype.kind, frame["ok"].dtype.kind) == ("M", "b")
    assert frame["y"].tolist() == ["0", "1"] * 4
    assert frame["empty"].isna().all()


def test_what_was_guessed_is_noted(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(text(";", decimal=",").encode("cp1252"))
    assert read_table(path)[1] == (
        "the table is not written in UTF-8 and was read as cp1252",
        "numbers were read with decimal commas: 1.234,5 is 1234.5",
    )
    path.write_text(text(), encoding="utf-8")
    assert read_table(path)[1] == ()


def test_in_a_file_of_decimal_commas_a_point_marks_thousands(tmp_path):
    """Pandas alone would read 1.250 as one and a quarter, next to 980."""
    path = tmp_path / "a.csv"
    path.write_text(
        "price;size;day;ok;y\n1.250;1,5;01.02.2024;True;a\n980;2,5;03.02.2024;False;b\n"
    )
    frame = read_frame(path)
    assert frame["price"].tolist() == [1250, 980]
    assert frame["day"].tolist() == ["01.02.2024", "03.02.2024"]
    assert frame["ok"].tolist() == [True, False]


def test_the_target_decides_between_separators_that_both_fit(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("height, cm;weight, kg\n1,5;2,5\n1,6;2,7\n")
    assert list(read_frame(path, "weight, kg").columns) == ["height, cm", "weight, kg"]


def test_a_separator_at_the_end_of_each_row_shifts_nothing(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2,\n3,4,\n")
    assert read_frame(path).to_dict("list") == {"a": [1, 3], "b": [2, 4]}


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.xlsx", "a.parquet"])
def test_two_columns_of_one_name_are_refused(tmp_path, name):
    """A second target column would become a feature, under a name that pandas makes up."""
    path = tmp_path / name
    if name == "a.xlsx":
        sheet(path, [["u", "y", "y"], [1, "a", "a"]])
    elif name == "a.parquet":
        import pyarrow as pa
        from pyarrow import parquet

        table = pa.Table.from_arrays([pa.array([1]), pa.array(["a"]), pa.array(["a"])], list("uyy"))
        parquet.write_table(table, path)
    else:
        path.write_text("u,y,y\n1,a,a\n".replace(",", "\t" if name == "a.tsv" else ","))
    with pytest.raises(ValueError, match=r"must name every column once, but \[y\] occur more than"):
        load_data(path, target="y")
    frame = pd.DataFrame([[1, "a", "a"]], columns=list("uyy"))
    with pytest.raises(ValueError, match=r"must name every column once, but \[y\] occur more than"):
        load_data(frame, target="y")


def test_lists_in_cells_are_refused_by_name(tmp_path):
    frame = pd.DataFrame({"u": range(12), "tags": [["a"]] * 12, "y": list("ab") * 6})
    frame.to_parquet(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"columns \[tags\] hold lists or records; spread them"):
        load_data(tmp_path / "a.parquet", target="y")
    with pytest.raises(ValueError, match="'tags' must hold numbers, text, dates or truth values"):
        load_data(frame, target="y")


def test_only_regular_files_are_read(tmp_path):
    os.mkfifo(tmp_path / "a.csv")
    with pytest.raises(ValueError, match="must be a regular file, but it is a pipe"):
        read_frame(tmp_path / "a.csv")


def test_integers_of_400_digits_and_fields_of_200_000_characters_are_no_bugs(tmp_path):
    path = tmp_path / "a.csv"
    rows = [f"{'1' * 400 if i == 5 else i},{'x' * 200_000 if i == 7 else 'x'},{'ab'[i % 2]}"
            for i in range(12)]  # fmt: skip
    path.write_text("\n".join(["u,v,y", *rows]))
    with pytest.raises(
        ValueError, match=r"column 'u' must be finite, but is infinite in lines \[7"
    ):
        load_data(path, target="y", test_size=0)


def test_a_million_rows_of_the_same_form_are_not_held_twice_to_find_it(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"a;y\n" + b"1;b\n" * 400_000 + "2;ü\n".encode("cp1252"))
    frame = read_frame(path)
    assert frame["y"].iloc[-1] == "ü", "the only letter that is not ASCII is beyond every sample"
    assert np.bincount(frame["a"]).tolist() == [0, 400_000, 1]
