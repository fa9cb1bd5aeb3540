"""Names from data cannot control the terminal; limits are options."""

import json

import numpy as np
import pytest

from oddkout.cli import main
from oddkout.cli.terminal import printable


def test_control_characters_are_written_out():
    assert printable("a\x1b[31m\x9b\x07\u202e\ud800\r") == ("a\\x1b[31m\\x9b\\x07\\u202e\\ud800\\r")
    assert printable("größer,\n\t二") == "größer,\n\t二"


def table(path, names, *, column="u"):
    rows = [f"{i % 7},{i},{names[i % 2]}" for i in range(40)]
    path.write_text("\n".join([f"{column},v,y", *rows]))
    return str(path)


def test_doctor_and_errors_print_no_escape_sequences(tmp_path, capsys):
    source = table(tmp_path / "a.csv", ["ill\x1b]0;owned\x07", "well"], column="u\x1b[2J")
    main(["doctor", source, "--target", "y"])
    main(["doctor", source, "--target", "\x1b[2J"])
    shown = capsys.readouterr()
    assert "ill\\x1b]0;owned\\x07" in shown.out
    assert "\x1b" not in shown.out + shown.err
    assert "\x07" not in shown.out + shown.err
    main(["doctor", source, "--target", "y", "--json"])
    assert "ill\x1b]0;owned\x07" in json.loads(capsys.readouterr().out)["train_examples"]


def test_the_memory_limit_is_an_option(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("ODDKOUT_MAX_MEMORY", "4")  # restored afterwards
    path = tmp_path / "a.npz"
    np.savez(path, x=np.random.default_rng(0).normal(size=(1000, 100)), y=np.arange(1000) % 2)
    assert main(["--max-memory", "0.0001", "doctor", str(path)]) == 2
    assert "a.npz must take at most 0.0001 GB of memory" in capsys.readouterr().err
    assert main(["--max-memory", "0.1", "doctor", str(path)]) == 0


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf"])
def test_a_limit_must_be_a_number(value, capsys, monkeypatch):
    monkeypatch.setenv("ODDKOUT_MAX_MEMORY", "4")
    assert main(["--max-memory", value, "methods"]) == 2
    assert "must be a number of gigabytes above 0" in capsys.readouterr().err
