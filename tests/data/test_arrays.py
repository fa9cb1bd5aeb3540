"""Labels as positions among class names, and examples as tensors."""

from tables import written

from oddkout import load_data


def test_integer_labels_are_sorted_as_numbers_and_text_is_kept_as_typed(tmp_path):
    rows = "\n".join(f"{i},{[2, 10, 1][i % 3]}" for i in range(12))
    assert load_data(written(tmp_path, f"x,y\n{rows}"), target="y").classes == ("1", "2", "10")
    rows = "\n".join(f"{i},{['02', '1'][i % 2]}" for i in range(12))
    assert load_data(written(tmp_path, f"x,y\n{rows}"), target="y").classes == ("02", "1")
