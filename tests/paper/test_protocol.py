"""The protocol: its hash is that of the page, and runs of other protocols are refused."""

import re

import pytest

from oddkout.paper import protocol
from oddkout.paper.protocol import PAGE, PROTOCOL, SECTION, checked_protocol, section_hash


def test_the_code_performs_the_protocol_that_is_written():
    assert section_hash(PAGE.read_text()) == PROTOCOL == checked_protocol()


def test_only_the_words_of_the_section_matter():
    page = PAGE.read_text()
    assert section_hash(page + "\n## Another section\n\nText.\n") == PROTOCOL
    words = page.partition(f"## {SECTION}\n")[2]
    assert section_hash(f"## {SECTION}\n" + re.sub(r"(?<=\w) (?=\w)", "\n", words)) == PROTOCOL
    assert section_hash(page.replace("from 0.1, 0.2, 0.4", "from 0.1, 0.2")) != PROTOCOL
    with pytest.raises(ValueError, match="must have a section"):
        section_hash("# Protocols\n")


def test_a_changed_page_is_refused(tmp_path, monkeypatch):
    changed = tmp_path / "protocol.md"
    changed.write_text(PAGE.read_text().replace("Seven, each a mean", "Eight, each a mean"))
    monkeypatch.setattr(protocol, "PAGE", changed)
    with pytest.raises(ValueError, match=rf"must hold the protocol .* \({PROTOCOL}\), got"):
        checked_protocol()
    monkeypatch.setattr(protocol, "PAGE", tmp_path / "absent.md")
    assert checked_protocol() == PROTOCOL, "an installed package has no pages"
