"""``oddkout report``: paths of the report, and folders without runs."""

import json

import pytest

from oddkout.cli import main


@pytest.mark.usefixtures("without_pictures")
def test_the_command_line_says_where_the_report_is(filled, tmp_path, capsys):
    store, _ = filled
    assert main(["report", str(store.folder), "--out", str(tmp_path / "new"), "--json"]) == 0
    paths = json.loads(capsys.readouterr().out)
    assert sorted(paths) == ["html", "json", "latex", "markdown"]
    assert all(str(tmp_path / "new") in path for path in paths.values())
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [
        "report.html", "tables.json", "tables.md", "tables.tex",
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["absent", "empty"])
def test_a_folder_without_runs_is_refused_in_one_line(tmp_path, capsys, kind):
    folder = tmp_path / "runs"
    if kind == "empty":
        folder.mkdir()
    assert main(["report", str(folder)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert str(folder) in error
