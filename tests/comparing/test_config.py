"""The config of a run: its id, and values that it refuses."""

import json
from dataclasses import fields, replace

import pytest
from grids import SMALL

from oddkout.comparing.config import RunConfig


def test_an_id_is_the_same_whatever_the_order_of_fields_and_the_spelling_of_numbers():
    backwards = dict(reversed(SMALL.to_dict().items()))
    assert RunConfig.from_dict(backwards).id == SMALL.id
    read_back = RunConfig.from_dict(json.loads(json.dumps(SMALL.to_dict())))
    assert read_back == SMALL
    assert read_back.id == SMALL.id
    assert replace(SMALL, learning_rate=1).id == replace(SMALL, learning_rate=1.0).id


CHANGES = {
    "data": "mnist",
    "fingerprint": "f",
    "target": "t",
    "test": "u",
    "test_size": 0.3,
    "image_size": 8,
    "categorical": ("c",),
    "text": ("c",),
    "numeric": ("c",),
    "distribution": "uniform",
    "train_examples": 100,
    "population": "train",
    "method": "bb",
    "contestant": "Tree()",
    "is_raw": True,
    "group": "patient",
    "k": 2,
    "head": False,
    "folds": 0,
    "seed": 1,
    "model": "cnn",
    "layout": "paper",
    "optimiser": "adamw",
    "averaging": 0.9,
    "schedule": "cosine",
    "smoothing": 0.05,
    "gamma": 1.0,
    "members": "single",
    "calibrate": "none",
    "flip": True,
    "crop": 0.5,
    "compiled": True,
    "mixed_precision": True,
    "clip_norm": None,
    "clip_value": 1.0,
    "encoding": "normal",
}


def test_every_field_changes_the_id():
    ids = {SMALL.id}
    determining = [part for part in fields(RunConfig) if part.compare]
    for part in determining:
        value = getattr(SMALL, part.name)
        changed = CHANGES[part.name] if part.name in CHANGES else value + 1
        ids.add(replace(SMALL, **{part.name: changed}).id)
    assert len(ids) == len(determining) + 1


def test_a_users_classifier_and_its_time_limit_are_not_part_of_the_run():
    """Its description is; the object itself is never written."""
    config = replace(SMALL, method="mine", contestant="Tree(depth=3)", estimator=object())
    assert config == replace(config, estimator=None, time_limit=3)
    assert "estimator" not in config.to_dict()
    assert config.id != replace(config, contestant="Tree(depth=4)").id


def test_unknown_keys_are_refused():
    with pytest.raises(ValueError, match=r"unknown fields \['colour'\]; the run was written by"):
        RunConfig.from_dict(SMALL.to_dict() | {"colour": "red"})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"folds": -1}, "folds must be at least 0, got -1"),
        ({"updates": 0}, "updates must be at least 1, got 0"),
        ({"learning_rate": 0.0}, "learning_rate must be above 0, got 0.0"),
        ({"method": "okko"}, "method must be one of"),
        ({"method": "vanilla", "k": 1}, "vanilla draws no sets, got k=1"),
    ],
)
def test_what_cannot_be_run_is_refused_before_it_is_run(change, message):
    with pytest.raises(ValueError, match=message):
        replace(SMALL, **change)


# What the number of examples asks for
