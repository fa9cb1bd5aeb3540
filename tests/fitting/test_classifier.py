"""Classifiers: probabilities, priors, and saving to disk."""

import contextlib
import json
import shutil
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from torch import nn

from oddkout import Classifier, fit, load_data

QUICK = {"learning_rates": [0.1], "folds": 2}


@pytest.fixture(scope="module")
def fitted():
    return fit("digits", recipe={"updates": 60}, **QUICK)


@pytest.fixture
def saved(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    return fitted, tmp_path / "model"


def test_a_classifier_comes_back_to_the_bit(saved):
    classifier, folder = saved
    again = Classifier.load(folder)
    x = load_data("digits").x_test
    np.testing.assert_array_equal(again.predict_proba(x), classifier.predict_proba(x))
    assert again.classes == classifier.classes
    assert again.details["test"]["metrics"]["accuracy"]["value"] > 0.8
    names = ["card.json", "held-out.safetensors", "model.safetensors"]
    assert sorted(path.name for path in folder.iterdir()) == names


def test_probabilities_are_those_that_were_evaluated(fitted):
    data = load_data("digits")
    probs = fitted.predict_proba(data.x_test)
    np.testing.assert_allclose(probs.sum(axis=1), 1)
    accuracy = (probs.argmax(axis=1) == data.y_test).mean()
    assert accuracy == pytest.approx(fitted.evaluation["accuracy"].value)
    nll = -np.log(probs[np.arange(len(probs)), data.y_test]).mean()
    assert nll == pytest.approx(fitted.evaluation["nll"].value)


def test_the_prior_is_corrected_by_bayes_rule(fitted):
    x = load_data("digits").x_test[:20]
    prior = np.array([0.55] + [0.05] * 9)
    plain = fitted.predict_proba(x)
    expected = plain * prior / 0.1
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(fitted.predict_proba(x, prior=prior.tolist()), expected, rtol=1e-5)
    assert fitted.prior == (0.1,) * 10, "a known benchmark set is judged for equal classes"


def damage(path, change):
    if change == "cut":
        path.write_bytes(path.read_bytes()[:-100])
    elif change == "gone":
        path.unlink()
    else:
        path.write_text(change)


@pytest.mark.parametrize(
    ("file", "change", "text"),
    [
        ("model.safetensors", "cut", "cannot be read as the weights that the card describes"),
        ("model.safetensors", "gone", r"there is no file .*model\.safetensors"),
        ("model.safetensors", "nothing", "must hold the .* bytes of weights"),
        ("card.json", "{}", "cannot be read as a card that this version knows"),
        ("card.json", "[1, 2", "cannot be read as a card that this version knows"),
        ("card.json", "gone", "there is no classifier in"),
    ],
)
def test_damaged_folders_are_refused(saved, file, change, text):
    _, folder = saved
    damage(folder / file, change)
    with pytest.raises((ValueError, FileNotFoundError), match=text):
        Classifier.load(folder)


def test_a_card_cannot_name_code(saved):
    _, folder = saved
    card = json.loads((folder / "card.json").read_text())
    card["views"][0]["network"] = "antigravity:fly"
    (folder / "card.json").write_text(json.dumps(card))
    with pytest.raises(
        ValueError, match=r"custom network, 'antigravity:fly'; call Classifier.load with model="
    ):
        Classifier.load(folder)


def test_a_network_of_ones_own_is_loaded_into_what_one_passes(tmp_path, monkeypatch):
    (tmp_path / "own_nets.py").write_text(
        "from torch import nn\n"
        "def small(classes):\n    return nn.Sequential(nn.Flatten(), nn.Linear(64, classes))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    classifier = fit("digits", recipe={"model": "own_nets:small", "updates": 5}, **QUICK)
    classifier.save(tmp_path / "model")
    again = Classifier.load(
        tmp_path / "model", model=lambda: nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
    )
    x = load_data("digits").x_test
    np.testing.assert_array_equal(again.predict_proba(x), classifier.predict_proba(x))


def test_examples_of_another_shape_are_refused(fitted):
    with pytest.raises(ValueError, match=r"trained on, \(1, 8, 8\), got \(1, 9, 9\)"):
        fitted.predict_proba(np.zeros((2, 9, 9), np.uint8))


def test_rows_with_other_columns_are_refused():
    x, y = np.random.default_rng(0).normal(size=(40, 4)), np.arange(40) % 2
    classifier = fit((x, y), recipe={"updates": 2}, **QUICK)
    with pytest.raises(ValueError, match=r"trained on, \(4,\), got \(7,\)"):
        classifier.predict_proba(np.zeros((2, 7)))
    with pytest.raises(ValueError, match="examples must be numbers, got object; pass the features"):
        classifier.predict_proba(pd.DataFrame(x).assign(kind="a"))


def test_a_classifier_of_tables_refuses_arrays():
    """An array with the same number of columns would enter the network unscaled."""
    x, y = 100 * np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    frame = pd.DataFrame(x, columns=["dose", "age"])
    classifier = fit((frame, y), recipe={"updates": 2}, **QUICK)
    with pytest.raises(ValueError, match=r"got ndarray; pass a frame with the columns \[dose, age"):
        classifier.predict_proba(x)
    encoded = classifier.encoded_logits(classifier.encoder.encode(frame))
    np.testing.assert_array_equal(encoded, classifier.predict_logits(frame))


def test_a_killed_save_can_be_repeated_and_never_mixes_two_classifiers(
    fitted, tmp_path, monkeypatch
):
    class Killed(BaseException):
        pass

    folder, original = tmp_path / "model", Path.replace

    def end(steps):
        """Save, and be killed after a number of steps."""
        left = [steps]

        def replaced(path, target):
            if not left[0]:
                raise Killed
            left[0] -= 1
            return original(path, target)

        with monkeypatch.context() as patch, contextlib.suppress(Killed):
            patch.setattr(Path, "replace", replaced)
            fitted.save(folder)

    for steps, is_new in product(range(4), (True, False)):
        shutil.rmtree(folder, ignore_errors=True)
        if not is_new:
            fitted.save(folder)
            (folder / "card.json").write_text((folder / "card.json").read_text() + " old")
        end(steps)
        if steps < 3:
            assert not (folder / "card.json").exists(), "no card without all the rest"
            with pytest.raises(OSError, match="card"):
                Classifier.load(folder)
        (folder / ".saving.tmp").mkdir(exist_ok=True)
        (folder / ".saving.tmp" / ".tmpSafetensors").touch()
        fitted.save(folder)
        assert Classifier.load(folder).classes == fitted.classes
        assert sorted(path.name for path in folder.iterdir()) == [
            "card.json", "held-out.safetensors", "model.safetensors",
        ]  # fmt: skip


def test_other_folders_are_not_overwritten(fitted, tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(ValueError, match="holds files that are not a classifier"):
        fitted.save(tmp_path)
    with pytest.raises(ValueError, match=r"saved in a folder, but .*thesis\.tex is a file"):
        fitted.save(tmp_path / "thesis.tex")
