"""``oddkout data``: list the known data sets and their paths."""

import json

from oddkout.cli import main


def test_the_data_command_lists_and_finds(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("ODDKOUT_DATA", raising=False)
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: tmp_path / "cache")
    assert main(["data", "list"]) == 0
    assert "not here; run: oddkout data fetch mnist" in capsys.readouterr().out
    (tmp_path / "mnist.npz").touch()
    assert main(["data", "path", "mnist", "--data-dir", str(tmp_path)]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "mnist.npz")
    assert main(["data", "list", "--json", "--data-dir", str(tmp_path)]) == 0
    assert json.loads(capsys.readouterr().out)["mnist"].endswith("mnist.npz")
    assert main(["data", "path", "mnist"]) == 2
