"""Exports of tables work, and files name no path."""

import zipfile

import pytest
from exportable import patients, table_classifier

import oddkout as oko


@pytest.mark.parametrize("columns", [["time", "dose, mg"], ["ward", "drug"]])
def test_tables_of_numbers_or_text_alone_are_exported(columns, tmp_path):
    frame = patients(100)[columns]
    result = oko.export(table_classifier(frame), tmp_path / "model.onnx", examples=frame)
    assert result.real == 100
    assert result.difference < 1e-5


def test_files_name_no_place_on_the_machine_that_made_them(folder, files):
    with zipfile.ZipFile(files[1].path) as archive:
        parts = [archive.read(name) for name in archive.namelist()]
    for text in (b"site-packages", b"src/oddkout", b'.py"', str(folder).encode()):
        assert not any(text in part for part in [*parts, files[0].path.read_bytes()])
