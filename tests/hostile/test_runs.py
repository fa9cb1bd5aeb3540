"""Damaged runs and comparisons are refused in one sentence that names the file."""

import json
import os
import shutil

import numpy as np
import pytest
from hostile.test_card import changed

from oddkout.comparing.config import RunConfig
from oddkout.comparing.saved import load_comparison
from oddkout.comparing.tables import comparison_text
from oddkout.report.page import first_data

WRONG_RUNS = [
    ("format", 7),
    ("id", "../../etc"),
    ("config", []),
    ("config", {}),
    ("config.updates", "many"),
    ("config.updates", -3),
    ("config.updates", 1.5),
    ("config.learning_rate", float("nan")),
    ("config.learning_rate", 10**30),
    ("config.data", 3),
    ("config.data", None),
    ("config.seed", "x"),
    ("config.method", "no such method"),
    ("config.method", ["oko"]),
    ("config.population", [float("inf"), 1]),
    ("config.population", "nobody"),
    ("config.folds", -1),
    ("config.estimator", "os:system"),
    ("config.categorical", "u"),
    ("config.unknown", 1),
    ("config.encoding", "other"),
    ("reason", 5),
    ("classes", ["ill", 5]),
    ("classes", "ill"),
    ("train_counts", [1, "x"]),
    ("train_counts", [-1, 2]),
    ("prior", [float("nan"), 1.0]),
    ("temperature", float("inf")),
    ("temperature", "1"),
    ("strength", None),
    ("members", -1),
    ("weights", [1]),
    ("weights", {"oko": "x"}),
    ("out_of_fold", {"nll": "low"}),
    ("out_of_fold", {"nll": float("nan")}),
    ("out_of_fold", []),
    ("out_of_fold", {"accuracy": 1.0}),
    ("out_of_fold", {"nll": None}),
    ("as_trained", {}),
    ("as_trained", {"accuracy": 3}),
    ("as_trained.accuracy", {}),
    ("as_trained.accuracy.value", "high"),
    ("tempered", None),
    ("tempered.ece.null", {"mean": 1}),
    ("tempered.ece.null", 3),
    ("log", [3]),
    ("log", json.loads("[" * 60 + "]" * 60)),
    ("seconds", {"training": "x"}),
    ("seconds", {"cpu": None}),
    ("seconds", {"cpu": -1.0}),
    ("notes", [5]),
    ("versions", {"torch": 2}),
]

WRONG_COMPARISONS = [
    ("format", 1),
    ("contestants", []),
    ("contestants", {}),
    ("contestants.oko", None),
    ("contestants.oko.runs", "x"),
    ("contestants.oko.runs", []),
    ("contestants.oko.runs", ["../runs/x"]),
    ("contestants.oko.runs", ["/etc"]),
    ("contestants.oko.runs", ["0" * 20]),
    ("contestants.oko.tuning", [3]),
    ("contestants.oko.tuning", ["0" * 20]),
    ("choices", []),
    ("choices", None),
    ("choices.learning_rate", 3),
    ("choices.learning_rate.candidates", 5),
    ("choices.learning_rate.candidates", [{"a": []}]),
    ("warnings", 3),
    ("warnings", [5]),
]


def a_run(runs):
    """The folder of a compared run."""
    record = json.loads((runs / "comparison.json").read_text())
    return runs / record["contestants"]["oko"]["runs"][0]


def edit(path, place, value):
    values = json.loads(path.read_text())
    changed(values, place, value)
    path.write_text(json.dumps(values))


@pytest.mark.parametrize(("place", "value"), WRONG_RUNS, ids=lambda part: str(part)[:40])
def test_a_wrong_value_of_a_run_is_refused(runs, place, value):
    path = a_run(runs) / "run.json"
    edit(path, place, value)
    with pytest.raises(ValueError, match=r"run\.json"):
        load_comparison(runs)


@pytest.mark.parametrize(("place", "value"), WRONG_COMPARISONS, ids=lambda part: str(part)[:40])
def test_a_wrong_value_of_a_comparison_is_refused(runs, place, value):
    edit(runs / "comparison.json", place, value)
    with pytest.raises((ValueError, FileNotFoundError), match=r"comparison\.json|is not in"):
        load_comparison(runs)


def test_a_metric_without_a_value_is_shown_as_such(runs):
    edit(a_run(runs) / "run.json", "tempered.ece.value", None)
    assert "nan" in comparison_text(load_comparison(runs))


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "empty", "text", "half"])
def test_damaged_predictions_are_refused(runs, kind):
    path = a_run(runs) / "predictions.npz"
    content = path.read_bytes()
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    else:
        path.write_bytes({"empty": b"", "text": b"logits", "half": content[:200]}[kind])
    with pytest.raises(ValueError, match=r"predictions\.npz"):
        load_comparison(runs)


def test_predictions_must_be_of_their_run(runs):
    path = a_run(runs) / "predictions.npz"
    with np.load(path) as archive:
        arrays = dict(archive)
    for change in (
        {"logits": arrays["logits"][:-1]},
        {"logits": arrays["logits"][0]},
        {"logits": np.full_like(arrays["logits"], np.inf)},
        {"logits": arrays["logits"].astype(str)},
        {"labels": arrays["labels"] + 9},
        {"labels": arrays["labels"].astype(float)},
        {"calibrated_logits": arrays["calibrated_logits"][:, :1]},
        {"test_rows": arrays["test_rows"][:-1]},
        {"fold_logits": arrays["fold_logits"][:, 0]},
        {"fold_labels": arrays["fold_labels"][:-2]},
    ):
        np.savez(path, **arrays | change)
        with pytest.raises(ValueError, match=r"predictions\.npz"):
            load_comparison(runs)
    del arrays["labels"]
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match=r"predictions\.npz"):
        load_comparison(runs)


@pytest.mark.parametrize("name", ["run.json", "comparison.json"])
def test_pipes_and_devices_are_not_opened(runs, name):
    path = (runs if name == "comparison.json" else a_run(runs)) / name
    for target in ("pipe", "/dev/zero"):
        path.unlink()
        os.mkfifo(path) if target == "pipe" else path.symlink_to(target)
        with pytest.raises((ValueError, OSError), match=r"is not in|run\.json|comparison\.json"):
            load_comparison(runs)


def test_a_report_reads_no_data_that_the_runs_do_not_identify(runs, tmp_path, monkeypatch):
    """A folder like /usr is not hashed, and a table that is not the compared one is not shown."""
    secret = tmp_path / "secret.csv"
    secret.write_text("password,y\n1,a\n2,b\n")
    tree = tmp_path / "tree"
    for part in ("bin", "lib"):
        (tree / part).mkdir(parents=True)
        (tree / part / "file").write_text("x")
    hashed = []
    monkeypatch.setattr(
        "oddkout.comparing.fingerprint.fingerprint", lambda path: hashed.append(str(path)) or "1"
    )
    for data, fingerprint, said in (
        (str(tree), None, "there are no data at"),
        ("/dev/zero", None, "there are no data at"),
        (str(secret), None, "has changed since"),
        (str(secret), "", "has changed since"),
    ):
        copy = shutil.copytree(runs, tmp_path / "copy")
        rewritten(copy, data=data, fingerprint=fingerprint)
        assert said in first_data(load_comparison(copy, has_predictions=False))
        shutil.rmtree(copy)
    assert set(hashed) == {str(secret)}


def rewritten(folder, *, data=None, fingerprint=None):
    """Give all runs other data, if any, and the names that their configs have now."""
    names = {}
    for path in folder.glob("*/run.json"):
        values = json.loads(path.read_text())
        values["config"]["data"] = data or values["config"]["data"]
        if fingerprint is not None:
            values["config"]["fingerprint"] = fingerprint
        values["id"] = RunConfig.from_dict(values["config"]).id
        path.write_text(json.dumps(values))
        names[path.parent.name] = values["id"]
        path.parent.rename(folder / values["id"])
    text = (folder / "comparison.json").read_text()
    for old, new in names.items():
        text = text.replace(old, new)
    (folder / "comparison.json").write_text(text)
