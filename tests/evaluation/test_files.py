"""Files of predictions: CSV and npz give the same arguments of ``evaluate``."""

from dataclasses import replace

import numpy as np
import pytest

from oddkout.evaluation.files import LabelColumns, read_predictions

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


KEPT = "id,ward,predicted,cat,dog\n007,3,cat,0.75,0.25\n8,x,dog,0.125,0.875\n9,,cat,0.5,0.5\n"


def two_files(folder, labels="id,kind,owner\n9,dog,b\n8,dog,b\n007,cat,a\n10,cat,c\n"):
    (folder / "p.csv").write_text(KEPT)
    (folder / "labels.csv").write_text(labels)
    return folder / "p.csv", LabelColumns(
        target="kind", labels=folder / "labels.csv", id="id", group="owner"
    )


def test_labels_of_a_second_file_are_matched_by_identifier(tmp_path):
    path, columns = two_files(tmp_path)
    file = read_predictions(path, columns=columns)
    np.testing.assert_array_equal(file.given["probs"], PROBS)
    assert file.labels.tolist() == LABELS
    assert file.classes == NAMES, "columns before 'predicted' are no classes"
    assert file.groups == ["a", "b", "b"]
    assert file.notes == ("1 labels of labels.csv have no prediction and are left out",)


def test_a_kept_column_may_be_the_target_or_the_group(tmp_path):
    (tmp_path / "p.csv").write_text(KEPT.replace("id,ward", "kind,ward").replace("007", "cat"))
    text = (tmp_path / "p.csv").read_text().replace("\n8", "\ndog").replace("\n9", "\ndog")
    (tmp_path / "p.csv").write_text(text)
    columns = LabelColumns(target="kind", group="ward")
    file = read_predictions(tmp_path / "p.csv", columns=columns)
    assert (file.labels.tolist(), file.classes) == (LABELS, NAMES)
    assert file.groups == ["3", "x", None]


def test_a_label_column_may_follow_the_probabilities(tmp_path):
    lines = KEPT.splitlines()
    ends = ("truth", "cat", "dog", "dog")
    joined = [f"{line},{end}" for line, end in zip(lines, ends, strict=True)]
    (tmp_path / "p.csv").write_text("\n".join(joined))
    file = read_predictions(tmp_path / "p.csv", columns=LabelColumns(target="truth"))
    assert (file.labels.tolist(), file.classes) == (LABELS, NAMES)


def test_classes_with_numbers_for_names_are_never_positions(tmp_path):
    """Of the classes 1, 2 and 3, label 0 is an error: with positions, 1 would become 2."""
    (tmp_path / "p.csv").write_text("label,1,2,3\n0,1,0,0\n1,1,0,0\n")
    with pytest.raises(ValueError, match=r"names of classes or positions from 0, got '0'"):
        read_predictions(tmp_path / "p.csv")


def test_groups_of_an_archive_are_an_array(tmp_path):
    np.savez(tmp_path / "p.npz", probs=PROBS, labels=LABELS, patient=["a", "a", "b"])
    file = read_predictions(tmp_path / "p.npz", columns=LabelColumns(group="patient"))
    assert file.groups == ["a", "a", "b"]
    with pytest.raises(ValueError, match="there is no 'ward'; the arrays are"):
        read_predictions(tmp_path / "p.npz", columns=LabelColumns(group="ward"))
    with pytest.raises(ValueError, match=r"are for \.csv files, got p\.npz"):
        read_predictions(tmp_path / "p.npz", columns=LabelColumns(target="kind"))


@pytest.mark.parametrize(
    ("labels", "changes", "text"),
    [
        ("id,kind\n8,dog\n9,dog\n", {"group": None}, r"1 of 3 have no row .*: id \[007\]"),
        ("id,kind\n8,dog\n8,cat\n", {"group": None}, r"of labels\.csv, but \[8\] occur more"),
        ("id,kind\n8,\n9,dog\n007,cat\n", {"group": None}, r"'kind' is empty for examples \[1\]"),
        ("id,kind\n8,elk\n9,dog\n007,cat\n", {"group": None}, "got 'elk'; the classes are"),
        ("id,kinds\n8,dog\n", {"group": None}, "hold the column 'kind', .*did you mean 'kinds'"),
        ("id,kind,owners\n8,dog,a\n", {}, "hold the column 'owner', .*did you mean 'owners'"),
        ("id,kind\n8,dog\n", {"id": "idd"}, "no column 'idd'; did you mean 'id'"),
        ("id,kind\n8,dog\n", {"id": None}, "must be given together"),
    ],
)
def test_labels_that_do_not_match_are_refused_in_a_sentence(tmp_path, labels, changes, text):
    path, columns = two_files(tmp_path, labels)
    with pytest.raises(ValueError, match=text):
        read_predictions(path, columns=replace(columns, **changes))


def test_a_column_that_does_not_exist_gets_a_suggestion(tmp_path):
    (tmp_path / "p.csv").write_text("diagnosis,ward,predicted,cat,dog\ncat,1,cat,1,0\n")
    for columns, text in (
        (LabelColumns(target="diagnois"), "--target .* did you mean 'diagnosis'"),
        (LabelColumns(target="diagnosis", group="wart"), "--group .* did you mean 'ward'"),
    ):
        with pytest.raises(ValueError, match=text):
            read_predictions(tmp_path / "p.csv", columns=columns)
    (tmp_path / "p.csv").write_text("label,cat,cat\ncat,1,0\n")
    with pytest.raises(ValueError, match=r"every column once, got \[cat\] repeatedly"):
        read_predictions(tmp_path / "p.csv")
