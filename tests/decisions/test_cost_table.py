"""Tables of costs: arrays, frames and files, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from oddkout.decisions.cost_table import cost_table

CLASSES = ("well", "ill")


def test_rows_of_a_file_or_frame_are_found_by_name(tmp_path):
    path = tmp_path / "costs.csv"
    path.write_text("true,ill,well,test again\nill,0,50,3\nwell,1,0,2\n")
    table = cost_table(path, classes=CLASSES)
    assert table.answers == ("ill", "well", "test again")
    np.testing.assert_array_equal(table.matrix, [[1, 0, 2], [0, 50, 3]])
    frame = pd.read_csv(path, index_col=0)
    again = cost_table(frame, classes=CLASSES)
    assert again.answers == table.answers
    np.testing.assert_array_equal(again.matrix, table.matrix)


def test_a_matrix_has_the_classes_and_perhaps_referral_as_answers():
    assert cost_table([[0, 1], [1, 0]], classes=CLASSES).answers == CLASSES
    assert cost_table([[0, 1, 2], [1, 0, 2]], classes=CLASSES).answers == (*CLASSES, "refer")
    with pytest.raises(ValueError, match=r"one more at most, for referring, got 4; name the ans"):
        cost_table(np.ones((2, 4)), classes=CLASSES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("t,well,ill\nwell,0,1\n", r"one row for each class of the model, but \[ill\] are missing"),
        ("t,well\nwell,0\nill,1\nodd,2\n", r"but \[odd\] are not classes; the classes are"),
        ("t,well,ill\nwell,0,\nill,1,0\n", "a cell of the row 'well' is missing; write 0"),
        ("t,well,ill\nwell,0,1\nill,1\n", "a cell of the row 'ill' is missing"),
        ("t,well,ill\nwell,0,1\nwell,1,0\n", "name every class once, got 'well' twice"),
        ("t,well,well\nwell,0,1\nill,1,0\n", "name every answer once"),
        ("t,well,ill\nwell,0,-1\nill,1,0\n", "costs must not be negative"),
        ("t,well,ill\nwell,0,much\nill,1,0\n", "costs must be a table of numbers"),
        ("", "must hold a header with the answers"),
    ],
)
def test_wrong_files_are_refused_in_one_sentence(tmp_path, text, message):
    (tmp_path / "costs.csv").write_text(text)
    with pytest.raises(ValueError, match=message) as error:
        cost_table(str(tmp_path / "costs.csv"), classes=CLASSES)
    assert "\n" not in str(error.value)


def test_a_missing_file_and_a_frame_with_repeated_rows_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        cost_table(tmp_path / "gone.csv", classes=CLASSES)
    with pytest.raises(ValueError, match="costs must name every class once"):
        cost_table(pd.DataFrame([[0, 1], [1, 0]], index=["ill", "ill"]), classes=CLASSES)
