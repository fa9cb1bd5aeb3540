"""JSON by its schema: what does not match is refused with its position."""

from typing import Any

import msgspec
import pytest

from oddkout.reading import FileError
from oddkout.records import MOST_DEPTH, read_record


class Setting(msgspec.Struct):
    """A schema."""

    seed: int
    rates: list[float] = []
    details: dict[str, Any] = {}


def read(tmp_path, text):
    path = tmp_path / "setting.json"
    path.write_text(text)
    return read_record(path, Setting, kind="a setting", repair="make it again")


def test_a_record_is_read(tmp_path):
    found = read(tmp_path, '{"seed": 3, "rates": [0.1, 1], "unknown": []}')
    assert (found.seed, found.rates, found.details) == (3, [0.1, 1.0], {})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "Expecting value"),
        ("[]", "Expected `object`, got `array`"),
        ("{}", "missing required field `seed`"),
        ('{"seed": 1.5}', "Expected `int`"),
        ('{"seed": true}', "Expected `int`, got `bool`"),
        ('{"seed": 1, "rates": [1, "x"]}', r"at `\$\.rates\[1\]`"),
        ('{"seed": 1, "rates": [NaN]}', "must be finite, got NaN"),
        ('{"seed": 1, "details": {"x": -Infinity}}', "must be finite, got -Infinity"),
        ('{"seed": 1, "rates": [1e999]}', "must be finite, got inf"),
        ('{"seed": 1' + "0" * 400 + "}", "fit into 64 bits"),
        ('{"seed": 1' + "0" * 5000 + "}", "digits"),
        ('{"seed": 1, "details": {"\\ud800": 1}}', "surrogates"),
        ('{"seed": 1, "details": {"x": %s}}' % ("[" * 40 + "]" * 40), f"at most {MOST_DEPTH} deep"),
        ('{"seed": 1, "details": {"x": ' + "[" * 100_000, "recursion"),
    ],
)
def test_what_does_not_match_is_refused_in_one_sentence(tmp_path, text, reason):
    with pytest.raises(FileError, match=f"setting.json cannot be read as a setting .*{reason}"):
        read(tmp_path, text)


def test_a_large_file_is_not_parsed(tmp_path, monkeypatch):
    monkeypatch.setattr("oddkout.records.MOST_BYTES", 100)
    with pytest.raises(FileError, match="must have at most 100 bytes, got 215"):
        read(tmp_path, '{"seed": 1, "": "' + "x" * 196 + '"}')
