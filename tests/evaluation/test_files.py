"""Files of predictions: CSV and npz give the same arguments of ``evaluate``."""

import numpy as np
import pytest

from oddkout.evaluation.files import read_predictions

NAMES = ["cat", "dog"]
PROBS = np.array([[0.75, 0.25], [0.125, 0.875], [0.5, 0.5]])
LABELS = [0, 1, 1]


def csv_file(path, labels, *, header="label,cat,dog"):
    rows = [f"{label},{a},{b}" for label, (a, b) in zip(labels, PROBS, strict=True)]
    path.write_text("\n".join([header, *rows]))
    return path


@pytest.mark.parametrize("labels", [LABELS, ["cat", "dog", "dog"]])
def test_labels_are_names_or_positions_in_either_format(tmp_path, labels):
    np.savez(tmp_path / "p.npz", probs=PROBS, labels=labels, classes=NAMES)
    for path in (csv_file(tmp_path / "p.csv", labels), tmp_path / "p.npz"):
        file = read_predictions(path)
        np.testing.assert_array_equal(file.given["probs"], PROBS)
        assert file.labels.tolist() == LABELS
        assert file.classes == NAMES


def test_columns_of_a_csv_file_may_be_logits(tmp_path):
    file = read_predictions(csv_file(tmp_path / "p.csv", LABELS), are_logits=True)
    assert list(file.given) == ["logits"]


def test_a_byte_order_mark_is_not_part_of_the_first_name(tmp_path):
    path = csv_file(tmp_path / "p.csv", LABELS)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert read_predictions(path).classes == NAMES


@pytest.mark.parametrize("kind", ["truncated", "one array", "text"])
def test_a_damaged_archive_is_refused_in_a_sentence(tmp_path, kind):
    path = tmp_path / "p.npz"
    np.savez(path, probs=PROBS, labels=LABELS)
    content = path.read_bytes()
    if kind == "truncated":
        path.write_bytes(content[: len(content) // 2])
    elif kind == "text":
        path.write_text("label,cat,dog")
    else:
        with path.open("wb") as stream:
            np.save(stream, PROBS)
    with pytest.raises(ValueError, match=r"p\.npz cannot be read as an \.npz archive"):
        read_predictions(path)
