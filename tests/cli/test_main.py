"""``main``: exit codes, and one line on stderr for bad input."""

import subprocess
import sys

import pytest

from oddkout.cli import main


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["doctor", "nothing.csv"], "oddkout: there is no file nothing.csv and no data set"),
        (["doctor"], "oddkout: Missing argument"),
        (["doctor", "digits", "--test-size", "many"], "oddkout: Invalid value"),
        (["doctor", "digits", "--nothing"], "oddkout: No such option"),
        (["data", "path", "imagenet"], "known data sets are digits, mnist"),
        (["data", "fetch", "digits"], "digits comes with scikit-learn"),
        (["nothing"], "oddkout: No such command"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, text, capsys):
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert text in error
    assert error.count("\n") == 1


def test_a_missing_extra_is_named(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    assert main(["doctor", "digits"]) == 2
    assert (
        "this command needs sklearn.datasets; run: pip install 'oddkout[all]'"
        in capsys.readouterr().err
    )


def test_an_interrupted_command_says_so(monkeypatch, capsys):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("oddkout.cli.doctor.examine", interrupt)
    assert main(["doctor", "digits"]) == 130
    assert capsys.readouterr().err == "oddkout: interrupted\n"


def test_the_program_runs_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "oddkout", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("oddkout ")
