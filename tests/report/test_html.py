"""The page as HTML: self-contained, and with every name as text."""

import re
from dataclasses import replace

import pytest
from synthetic import SETTING, fill

import oddkout as oko

HOSTILE = ("<script>alert(1)</script>", "a & b", "$5 and $10", "猫")


@pytest.fixture(scope="module")
def page(filled):
    return oko.write_report(filled[0].folder)["html"].read_text()


def test_every_reference_of_a_figure_is_to_an_id_of_its_own(page):
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    wanted = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', page)
    assert wanted
    assert {one or other for one, other in wanted} <= set(ids)


def test_nothing_on_the_page_comes_from_elsewhere(page):
    without_names = page.replace("http://www.w3.org/", "")
    assert "http" not in without_names.replace('http-equiv="Content', "")
    assert not re.search(r"<(iframe|object|embed|link(?! rel=\"icon\" href=\"data:,\"))", page)
    assert page.count("<img") == page.count('<img src="data:image/png;base64,')
    assert page.count("<script") == 1


def test_hostile_names_are_shown_as_text(tmp_path):
    setting = replace(
        SETTING,
        data="<b>no & such.npz",
        population="train",
        distribution="all",
        train_examples=None,
    )
    fill(tmp_path, methods=["vanilla", "oko"], setting=setting, classes=HOSTILE)
    text = oko.write_report(tmp_path)["html"].read_text()
    assert text.count("<script") == 1
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "<b>no" not in text
    assert "&lt;b&gt;no &amp; such.npz" in text
    assert "猫" in text
