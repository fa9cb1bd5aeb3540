"""A short fuzz of every reader with fixed seeds; ``make fuzz`` is the long one."""

import importlib
import shutil
import signal
import sys

from hostile import fuzz
from hostile.mutations import mutated_bytes
from hostile.targets import Target, targets

INPUTS = 25


def test_every_reader_refuses_or_reads(trained, compared, tmp_path, monkeypatch, subtests):
    folder = tmp_path
    for original in (trained.parent, compared.parent):
        shutil.copytree(original, folder, dirs_exist_ok=True)
    all_targets = targets(folder)
    assert len(all_targets) >= 20
    monkeypatch.chdir(folder)
    monkeypatch.setenv("ODDKOUT_MAX_MEMORY", str(fuzz.LIMIT_GIGABYTES))
    (folder / "planted.py").write_text("import pathlib\npathlib.Path('planted.ran').touch()\n")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "planted", raising=False)  # a helper of other tests
    before = signal.getsignal(signal.SIGALRM)
    fuzz.watch_time()
    try:
        for name, target in all_targets.items():
            tally = fuzz.Tally()
            fuzz.fuzz(name, target, seed=0, first=0, inputs=INPUTS, tally=tally)
            with subtests.test(name):
                assert tally.is_clean, dict(tally.errors)
                assert name == "cells" or _refuses(target, b"\xff\0garbage"), "it reads its file"
    finally:
        signal.signal(signal.SIGALRM, before)
    assert not fuzz.planted_ran(folder)
    importlib.import_module("planted")
    assert fuzz.planted_ran(folder), "it would have been noticed"
    monkeypatch.delitem(sys.modules, "planted")


def _refuses(target, content):
    target.path.write_bytes(content)
    try:
        target.read(target.path)
    except (ValueError, OSError):
        return True
    finally:
        target.path.write_bytes(target.original)
    return False


def test_the_fuzz_notices_other_exceptions_and_slow_readers(tmp_path, monkeypatch):
    monkeypatch.setattr(fuzz, "LIMIT_SECONDS", 0.05)
    before = signal.getsignal(signal.SIGALRM)
    fuzz.watch_time()

    def endless(path):
        while True:
            pass

    def wrong(path):
        raise KeyError(path.name)

    def leaking(path):
        raise ValueError("of another library")

    try:
        for read, said in (
            (endless, "over 0.05 s"),
            (wrong, "KeyError: 'file'"),
            (leaking, "leaked ValueError: of another library"),
        ):
            tally = fuzz.Tally()
            target = Target(tmp_path / "file", read, mutated_bytes, b"content")
            fuzz.fuzz("one", target, seed=0, first=0, inputs=2, tally=tally, keep=tmp_path)
            assert tally.errors == {said: 2}
            assert not tally.is_clean
    finally:
        signal.signal(signal.SIGALRM, before)
    assert len(list(tmp_path.glob("one-0-*"))) == 2
