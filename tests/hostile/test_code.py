"""No file names code to run: neither a run, nor a card, nor a checkpoint, nor an archive."""

import json
import pickle
import sys

import numpy as np
import pytest
from hostile.test_runs import rewritten

import oddkout as oko
from oddkout.cli import main
from oddkout.data.npz import read_arrays

PLANTED = "from pathlib import Path\nPath(__file__).with_suffix('.ran').touch()\n"
NETWORK = """
from torch import nn
def small(shape, classes):
    return nn.Linear(shape[0], classes)
"""


@pytest.fixture
def planted(runs, tmp_path, monkeypatch):
    """A comparison won by a run whose file names a network of a module that is there."""
    (tmp_path / "planted_code.py").write_text(PLANTED + NETWORK)
    monkeypatch.syspath_prepend(tmp_path)
    for path in runs.glob("*/run.json"):
        values = json.loads(path.read_text())
        values["config"]["model"] = "planted_code:small"
        if values["config"]["method"] == "oko":
            values["out_of_fold"]["nll"] = 1e-3
        path.write_text(json.dumps(values))
    rewritten(runs)
    yield runs
    sys.modules.pop("planted_code", None)


def test_a_run_cannot_name_code(planted, compared, tmp_path, capsys):
    table = compared.parent / "table.csv"
    options = ["train", str(table), "--method", "best", "--from", str(planted), "--target", "y"]
    out = ["--out", str(tmp_path / "model")]
    assert main([*options, *out]) == 2
    assert "name it again: --model planted_code:small" in capsys.readouterr().err
    assert main([*options, *out, "--model", "other:small"]) == 2
    assert "was compared with planted_code:small, got other:small" in capsys.readouterr().err
    assert not (tmp_path / "planted_code.ran").exists()
    assert main([*options, *out, "--model", "planted_code:small"]) == 0
    assert (tmp_path / "planted_code.ran").exists()


def test_built_in_networks_are_not_named_again(compared, tmp_path, capsys):
    options = ["train", str(compared.parent / "table.csv"), "--method", "best", "--target", "y"]
    options += ["--from", str(compared), "--out", str(tmp_path / "model"), "--model", "linear"]
    assert main(options) == 2
    assert "trains the winner as it was compared, got --model" in capsys.readouterr().err


def test_an_archive_cannot_hold_a_pickle(tmp_path):
    class Planted:
        def __reduce__(self):
            return (exec, (f"open({str(tmp_path / 'ran')!r}, 'w')",))

    np.savez(tmp_path / "planted.npz", x=np.array([Planted()], dtype=object), y=[0])
    with pytest.raises(ValueError, match=r"planted\.npz cannot be read as an \.npz archive"):
        read_arrays(tmp_path / "planted.npz")
    (tmp_path / "raw.npz").write_bytes(pickle.dumps(Planted()))
    with pytest.raises(ValueError, match=r"raw\.npz cannot be read as an \.npz archive"):
        oko.load_data(tmp_path / "raw.npz")
    assert not (tmp_path / "ran").exists()
