"""The pictures of a comparison, as SVG for the page."""

import re

from synthetic import fill

import oddkout as oko


def test_a_dollar_in_a_class_name_is_no_mathematics(tmp_path):
    fill(tmp_path, methods=["oko"], classes=("$a$b$", "x_1", "$", "^{"), rates=(0.1,))
    text = oko.write_report(tmp_path)["html"].read_text()
    assert re.search(r"<text[^>]*>\$a\$b\$</text>", text)
