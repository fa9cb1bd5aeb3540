"""Confident mistakes: the right ones, as pictures or as rows that name no one."""

import base64
import io
from dataclasses import replace

import numpy as np
import pandas as pd
from PIL import Image
from synthetic import CLASSES, SETTING, synthetic_run

import oddkout as oko
from oddkout.data import Data
from oddkout.report.mistakes import confident_mistakes

LABELS = np.arange(80) % 4


def data_of(x, *, encoder=None):
    return Data(
        name="made up", x_train=x, y_train=LABELS, x_test=x, y_test=LABELS, classes=CLASSES,
        encoder=encoder,
    )  # fmt: skip


def test_the_most_confident_mistakes_come_first():
    run = synthetic_run(SETTING, skill=0.5)
    images = np.zeros((80, 4, 4), dtype=np.uint8)
    images[:, 0, 0] = 3 * np.arange(80)  # the brightness names the example
    images[:, 3, 3] = 255
    found = confident_mistakes(run, data_of(images))
    probs = np.exp(run.calibrated_logits.astype(float))
    probs /= probs.sum(axis=1, keepdims=True)
    wrong = [i for i in range(80) if probs[i].argmax() != LABELS[i]]
    expected = sorted(wrong, key=lambda i: -probs[i].max())[:12]
    assert len(found) == 12
    for mistake, example in zip(found, expected, strict=True):
        assert mistake.true == CLASSES[LABELS[example]]
        assert mistake.predicted == CLASSES[probs[example].argmax()]
        assert abs(mistake.confidence - probs[example].max()) < 1e-6
        assert abs(mistake.probability - probs[example, LABELS[example]]) < 1e-6
        png = base64.b64decode(mistake.picture.removeprefix("data:image/png;base64,"))
        assert np.asarray(Image.open(io.BytesIO(png)))[0, 0] == 3 * example


def test_colours_floats_and_large_pictures_are_shown_too():
    run = synthetic_run(SETTING, skill=0.5)
    rng = np.random.default_rng(0)
    for images, mode, size in (
        (rng.integers(0, 255, (80, 8, 6, 3)).astype(np.uint8), "RGB", (6, 8)),
        (rng.normal(size=(80, 5, 5)), "L", (5, 5)),
        (rng.random(size=(80, 2, 5, 5)), "L", (5, 5)),
        (np.zeros((80, 200, 100)), "L", (48, 96)),
    ):
        [mistake, *_] = confident_mistakes(run, data_of(images))
        png = base64.b64decode(mistake.picture.partition(",")[2])
        picture = Image.open(io.BytesIO(png))
        assert (picture.mode, picture.size) == (mode, size)


def test_rows_show_the_columns_in_which_classes_differ():
    run = synthetic_run(SETTING, skill=0.5)
    rng = np.random.default_rng(0)
    table = pd.DataFrame({f"noise {i}": rng.normal(size=80) for i in range(9)})
    table = table.assign(signal=LABELS + rng.normal(0, 0.1, 80), patient_id=np.arange(80))
    loaded = oko.load_data((table, LABELS), test_size=0.0, numeric=["patient_id"])
    data = replace(loaded, x_test=loaded.x_train, y_test=LABELS, classes=CLASSES)
    [first, *_] = confident_mistakes(run, data)
    assert len(first.cells) == 8
    assert next(iter(first.cells)) == "signal"
    assert "patient_id" not in first.cells
    [plain, *_] = confident_mistakes(run, data_of(table.to_numpy()))
    assert next(iter(plain.cells)) == "feature 10"


def test_other_data_or_no_mistakes_show_nothing():
    run = synthetic_run(SETTING, skill=0.5)
    images = np.zeros((80, 4, 4), dtype=np.uint8)
    assert confident_mistakes(run, replace(data_of(images), y_test=LABELS[::-1].copy())) == []
    perfect = replace(run, calibrated_logits=9 * np.eye(4, dtype=np.float32)[LABELS])
    assert confident_mistakes(perfect, data_of(images)) == []
