"""``oddkout doctor``: text, JSON and the exit code."""

import json

import pytest
from planted import planted_csv

from oddkout.cli import main


def test_the_command_prints_text_or_json_and_its_exit_code_tells(tmp_path, capsys):
    planted = planted_csv(tmp_path / "planted.csv")
    assert main(["doctor", str(planted), "--target", "y"]) == 0
    text = capsys.readouterr().out
    assert "warning  classes [single] have a single training example" in text
    assert "--folds 5: to choose the learning rate and when to stop, and to calibrate" in text
    constant = tmp_path / "constant.csv"
    constant.write_text("a,y\n" + "1,p\n1,q\n" * 9)
    assert main(["doctor", str(constant), "--target", "y"]) == 1
    assert "fatal    columns [a] are constant" in capsys.readouterr().out
    clean = planted_csv(tmp_path / "clean.csv", is_planted=False)
    assert main(["doctor", str(clean), "--target", "y", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["is_trainable"] is True
    assert report["train_examples"] == {"common": 120, "rare": 16}


def test_without_a_test_part_no_null_level_is_claimed(tmp_path, capsys):
    table = planted_csv(tmp_path / "clean.csv", is_planted=False)
    options = ["doctor", str(table), "--target", "y", "--test-size", "0"]
    assert main(options) == 0
    text = capsys.readouterr().out
    assert "test part          none: the classifier will not be evaluated" in text
    assert "nan" not in text
    assert main([*options, "--json"]) == 0
    report = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert report["null_ece"] is None
