"""``oddkout doctor``: text, JSON and the exit code."""

import json

from planted import planted_csv

from oddkout.cli import main


def test_the_command_prints_text_or_json_and_its_exit_code_tells(tmp_path, capsys):
    planted = planted_csv(tmp_path / "planted.csv")
    assert main(["doctor", str(planted), "--target", "y"]) == 0
    text = capsys.readouterr().out
    assert "warning  classes [single] have a single training example" in text
    assert "--folds 5: to choose the learning rate and fit the temperature" in text
    constant = tmp_path / "constant.csv"
    constant.write_text("a,y\n" + "1,p\n1,q\n" * 9)
    assert main(["doctor", str(constant), "--target", "y"]) == 1
    assert "fatal    columns [a] hold one value only" in capsys.readouterr().out
    clean = planted_csv(tmp_path / "clean.csv", is_planted=False)
    assert main(["doctor", str(clean), "--target", "y", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["is_trainable"] is True
    assert report["train_examples"] == {"common": 120, "rare": 16}
