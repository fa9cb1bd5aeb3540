"""Numbers that are too large to predict on are named, instead of blaming the training."""

import pytest

from oddkout.cli import main


@pytest.mark.parametrize("value", ["1e39", "-1e300"])
def test_predict_says_which_rows_are_too_large(model, tmp_path, capsys, value):
    (tmp_path / "new.csv").write_text(f"u,v,w\n0.1,0.2,p\n{value},0.2,q\n")
    for command in (["predict"], ["decide", "--risk", "0.3"]):
        assert main([command[0], str(model), str(tmp_path / "new.csv"), *command[1:]]) == 2
        said = capsys.readouterr().err
        assert "those at [1] (from 0) hold NaN, infinity or numbers beyond single" in said
        assert "learning rate" not in said
