"""The config of a run: its id, what it refuses, and what its number of examples asks for."""

import json
from dataclasses import asdict, fields, replace

import pytest
from grids import SMALL
from hypothesis import given
from hypothesis import strategies as st

from oddkout.comparing.config import RunConfig
from oddkout.comparing.fingerprint import fingerprint, identified
from oddkout.fitting.recipe import Recipe, suited_to
from oddkout.paper.settings import Setting


def test_an_id_is_the_same_whatever_the_order_of_fields_and_the_spelling_of_numbers():
    backwards = dict(reversed(asdict(SMALL).items()))
    assert RunConfig.from_dict(backwards).id == SMALL.id
    read_back = RunConfig.from_dict(json.loads(json.dumps(asdict(SMALL))))
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
    "distribution": "uniform",
    "train_examples": 100,
    "population": "train",
    "method": "bb",
    "k": 2,
    "head": False,
    "folds": 0,
    "seed": 1,
    "model": "cnn",
    "layout": "paper",
    "optimiser": "adamw",
    "averaging": 0.9,
    "flip": True,
    "crop": 0.5,
    "compiled": True,
    "mixed_precision": True,
    "clip_norm": None,
    "clip_value": 1.0,
}


def test_every_field_changes_the_id():
    ids = {SMALL.id}
    for part in fields(RunConfig):
        value = getattr(SMALL, part.name)
        changed = CHANGES[part.name] if part.name in CHANGES else value + 1
        ids.add(replace(SMALL, **{part.name: changed}).id)
    assert len(ids) == len(fields(RunConfig)) + 1


def test_unknown_keys_are_refused():
    with pytest.raises(ValueError, match=r"no \['colour'\]; it was written by another version"):
        RunConfig.from_dict(asdict(SMALL) | {"colour": "red"})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"folds": 1}, "folds, unless it is 0 for none, must be at least 2, got 1"),
        ({"updates": 0}, "updates must be at least 1, got 0"),
        ({"learning_rate": 0.0}, "learning_rate must be above 0, got 0.0"),
        ({"method": "okko"}, "method must be one of"),
        ({"method": "vanilla", "k": 1}, "vanilla draws no sets, got k=1"),
    ],
)
def test_what_cannot_be_run_is_refused_before_it_is_run(change, message):
    with pytest.raises(ValueError, match=message):
        replace(SMALL, **change)


def test_data_are_known_by_their_content_not_by_their_path(tmp_path, monkeypatch):
    for folder in ("here", "there", "changed"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.csv").write_text("x,y\n1,2\n" if folder != "changed" else "x,y\n")
    monkeypatch.chdir(tmp_path / "here")
    absolute, relative, moved, changed = (
        identified(replace(SMALL, data=str(path)))
        for path in (
            tmp_path / "here" / "a.csv",
            "a.csv",
            tmp_path / "there" / "a.csv",
            tmp_path / "changed" / "a.csv",
        )
    )
    assert absolute.id == relative.id == moved.id != changed.id
    assert relative.data == str(tmp_path / "here" / "a.csv"), "workers stand elsewhere"
    with_test = identified(replace(SMALL, data="a.csv", test="../changed/a.csv"))
    swapped = identified(replace(SMALL, data="../changed/a.csv", test="a.csv"))
    assert len({with_test.id, swapped.id, relative.id}) == 3
    assert identified(SMALL) == SMALL, "digits are digits everywhere"


def test_a_fingerprint_of_a_folder_sees_names_and_contents(tmp_path):
    def folder(name, **files):
        for path, content in files.items():
            file = tmp_path / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
        return fingerprint(tmp_path / name)

    first = folder("first", a="1", b="2")
    assert folder("same", b="2", a="1") == first
    others = [
        folder("swapped", a="2", b="1"),
        folder("renamed", a="1", c="2"),
        folder("one", a="1"),
        folder("glued", a="1b2"),
        folder("nested", **{"a": "1", "d/b": "2"}),
    ]
    assert len({first, *others}) == 6


# What the number of examples asks for


@given(st.lists(st.integers(1, 500), min_size=1, max_size=20))
def test_examples_count_by_the_variance_of_a_mean_over_balanced_classes(sizes):
    """So many balanced examples as would give the mean over classes of noise the same variance."""
    variance = sum(1 / size for size in sizes) / len(sizes) ** 2
    ratio = max(1, 1 / variance / len(sizes) / 10)
    found = suited_to([*sizes, 0])
    assert found["weight_decay"] == pytest.approx(2e-3 / ratio, rel=0.01)
    assert found["head_weight"] == pytest.approx(2 / ratio, rel=0.01)
    assert found["updates"] == pytest.approx(600 * min(ratio, 2), rel=0.01)
    assert suited_to(reversed(sizes)) == suited_to(sizes)


@pytest.mark.parametrize(
    "sizes", [[10] * 10, [2, 3], Setting("mnist", "heavy-tailed", 50).class_sizes]
)
def test_few_examples_of_a_class_are_what_the_defaults_are_for(sizes):
    assert Recipe(**suited_to(sizes)) == Recipe()
