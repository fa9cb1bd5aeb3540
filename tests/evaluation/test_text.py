"""What a terminal shows of classes: rare ones are not hidden behind a high accuracy."""

import numpy as np
import torch

import oddkout as oko
from oddkout.evaluation.text import MOST_ROWS, class_table, confusion_table, shown_classes


def rare_class():
    """1 : 100, and 3 of 10 rare examples are found: accuracy 0.993."""
    labels = [0] * 990 + [1] * 10
    probs = np.array([[0.9, 0.1]] * 997 + [[0.1, 0.9]] * 3)
    return oko.evaluate(probs=probs, labels=labels, classes=["well", "sepsis"], replicates=40)


def test_a_rare_class_is_shown_with_its_recall():
    text = str(rare_class())
    assert "\naccuracy                  0.9930" in text
    assert "\nbalanced accuracy         0.6500" in text
    assert "\nskill against guessing " in text
    lines = text.splitlines()
    [row] = [line for line in lines if line.startswith("sepsis") and "[" in line]
    assert row.split()[:2] == ["sepsis", "10"]
    assert "0.300 [0.067, 0.652]" in row  # Clopper-Pearson of 3 of 10
    start = lines.index("true class  well  sepsis")
    assert [line.split() for line in lines[start + 1 : start + 3]] == [
        ["well", "990", "0"],
        ["sepsis", "7", "3"],
    ]
    assert "guessing the class frequencies of the labels scores NLL 0.0560" in text


def test_of_many_classes_the_rarest_and_the_worst_are_shown():
    """Class c has 40 - c examples; class 3 is never recognised."""
    labels = np.repeat(np.arange(20), 40 - np.arange(20))
    predicted = np.where(labels == 3, 0, labels)
    report = oko.evaluate(probs=np.eye(20)[predicted], labels=labels, replicates=40)
    names = [result.name for result in shown_classes(report.classes)]
    assert len(names) == MOST_ROWS
    assert {"3", "14", "15", "16", "17", "18", "19"} <= set(names)
    table = class_table(report.classes)
    assert table[0] == "the rarest and the worst of 20 classes"
    assert len(table) == MOST_ROWS + 2
    assert confusion_table(report.confusion, ["x"] * 20) == []


def test_long_names_and_undefined_values_keep_the_columns():
    name = "a class with a name\nof two lines"
    probs = [[0.9, 0.1], [0.8, 0.2]]
    report = oko.evaluate(probs=probs, labels=[0, 0], classes=[name, "b"], replicates=40)
    table = class_table(report.classes)
    assert table[1].startswith("a class with ...")
    assert table[2].split() == ["b", "0", "-", "-", "-"]
    matrix = confusion_table(torch.tensor([[1234567, 0], [1, 2]]), ["a", "b"])
    assert len({len(line) for line in matrix[1:]}) == 1
    assert "1,234,567" in matrix[2]
