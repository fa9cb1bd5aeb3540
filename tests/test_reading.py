"""The guard of all readers: regular files of limited size, and one kind of error."""

import os
import socket

import pytest

from oddkout.reading import FileError, first_line, memory_limit, reading, refuse_large


def test_only_regular_files_are_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "socket"))
    for name, what in [
        ("pipe", "it is a pipe"),
        ("zero", "it is a device"),
        ("socket", "it is a socket"),
        ("", "it is a folder"),
        ("loop", "cannot be opened"),
        ("x" * 300, "cannot be opened"),
        ("a\0b", "cannot be opened"),
    ]:
        with pytest.raises(FileError, match=what), reading(tmp_path / name, kind="a table"):
            pytest.fail("it was opened")
    listener.close()
    with (
        pytest.raises(FileNotFoundError, match="there is no file"),
        reading(tmp_path / "absent", kind="a table"),
    ):
        pytest.fail("it was opened")


def test_a_link_to_a_regular_file_is_followed(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to("file")
    with reading(tmp_path / "link", kind="a table"):
        assert (tmp_path / "link").read_text() == "x"


@pytest.mark.parametrize(
    "error",
    [EOFError(), MemoryError(), RecursionError("deep"), TypeError("no\nsecond line"), OSError(5)],
)
def test_whatever_goes_wrong_becomes_one_sentence_with_the_name(tmp_path, error):
    path = tmp_path / "file"
    path.touch()
    with (
        pytest.raises(FileError, match="file cannot be read as a table") as caught,
        reading(path, kind="a table", repair="make it again"),
    ):
        raise error
    assert str(caught.value).count("\n") == 0
    assert str(caught.value).endswith(f"({first_line(error)}); make it again")


def test_interrupts_and_own_errors_pass(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(KeyboardInterrupt), reading(tmp_path / "file", kind="a table"):
        raise KeyboardInterrupt
    with pytest.raises(FileError, match=r"^as it is$"), reading(tmp_path / "file", kind="a table"):
        raise FileError("as it is")


def test_the_limit_is_stated_and_can_be_raised(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"x" * 2000)
    monkeypatch.setenv("ODDKOUT_MAX_MEMORY", "1e-6")
    stated = r"at most 1e-06 GB of memory, got 0\.1 GB.*--max-memory"
    with pytest.raises(FileError, match=stated), reading(path, kind="a table"):
        pytest.fail("it was opened")
    monkeypatch.setenv("ODDKOUT_MAX_MEMORY", "8")
    refuse_large(path, 8_000_000_000)
    with pytest.raises(FileError, match=r"at most 8 GB.*--max-memory 8\.1"):
        refuse_large(path, 8_000_000_001)
    monkeypatch.setenv("ODDKOUT_MAX_MEMORY", "much")
    with pytest.raises(ValueError, match="must be a number of gigabytes above 0, got 'much'"):
        memory_limit()
