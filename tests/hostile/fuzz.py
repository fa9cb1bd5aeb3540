"""Damage every kind of file, again and again, and read it: nothing but our errors may come.

    PYTHONPATH=src:tests python -m hostile.fuzz --seed 1 --minutes 15

goes through all targets in rounds until its time is up or ``--total`` inputs are read. After every
round it writes a line for each target to ``results/fuzz.jsonl``: inputs, refusals, other
exceptions, the slowest input and the memory. It fails if there was any other exception, an input
that took over 10 s, or too much memory. A failing input is kept in ``--keep``. Small files are
written all the time: ``TMPDIR=/dev/shm`` is several times as fast as a disk.
"""

import argparse
import contextlib
import io
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

LIMIT_SECONDS = 10
LIMIT_GIGABYTES = 0.05  # that a file may claim while it is fuzzed
LIMIT_GROWTH = 1_000  # megabytes that memory may grow by while one target is fuzzed


class TooSlowError(BaseException):
    """An input takes too long."""


class Tally:
    """What happened to the inputs of one target."""

    def __init__(self):
        self.inputs = self.refused = 0
        self.errors, self.slowest, self.growth = Counter(), 0.0, 0.0

    @property
    def is_clean(self):
        """Whether there were none but our errors, in time and memory."""
        return not self.errors and self.slowest < LIMIT_SECONDS and self.growth < LIMIT_GROWTH


def fuzz(name, target, *, seed, first, inputs, tally, keep=None):
    """Read damaged files of one target; input number n is the same for the same seed."""
    before = _megabytes()
    for number in range(first, first + inputs):
        choice = random.Random(f"{seed} {name} {number}")
        content = target.mutate(target.original, choice)
        target.path.write_bytes(content)
        error = read(target, tally)
        if error:
            tally.errors[error] += 1
            if keep is not None:
                (keep / f"{name}-{seed}-{number}".replace(" ", "_")).write_bytes(content)
    target.path.write_bytes(target.original)
    tally.growth = max(tally.growth, _megabytes() - before)


def read(target, tally):
    """Read a file; the name of the exception if it is not one of ours, else None."""
    tally.inputs += 1
    start = time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, LIMIT_SECONDS)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            target.read(target.path)
    except (ValueError, OSError) as error:
        tally.refused += 1
        return None if _is_ours(error) else f"leaked {_short(error)}"
    except TooSlowError:
        return f"over {LIMIT_SECONDS} s"
    except Exception as error:
        return _short(error)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        tally.slowest = max(tally.slowest, time.monotonic() - start)
    return None


def _is_ours(error):
    """Whether an error was raised by our code, with words; not by a library below it."""
    place = error.__traceback__
    while place.tb_next is not None:
        place = place.tb_next
    return f"{os.sep}oddkout{os.sep}" in place.tb_frame.f_code.co_filename and bool(str(error))


def _short(error):
    """Type and first line of an error."""
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:200]


def watch_time():
    """Raise ``TooSlowError`` when the timer runs out."""

    def stop(*_):
        raise TooSlowError

    signal.signal(signal.SIGALRM, stop)


def _megabytes():
    """The most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def planted_ran(folder):
    """Whether anything that was planted has run: both the pickle and the module leave a file."""
    return (folder / "planted.ran").exists()


def markdown(file):
    """All lines of a file as a table, one row per seed."""
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    rows = ["| seed | targets | inputs | refused | other exceptions | slowest | memory | planted |",
            "| --- | --- | --- | --- | --- | --- | --- | --- |"]  # fmt: skip
    keys = {(line["seed"], line.get("note", "")) for line in lines}
    for seed, note in sorted(keys):
        own = [line for line in lines if (line["seed"], line.get("note", "")) == (seed, note)]
        total = {key: sum(line[key] for line in own) for key in ("inputs", "refused")}
        errors = sum(sum(line["errors"].values()) for line in own)
        ran = "ran" if any(line["planted_ran"] for line in own) else "never ran"
        rows.append(
            f"| {seed}{note and f', {note}'} | {len({line['target'] for line in own})} | "
            f"{total['inputs']:,} | {total['refused']:,} | {errors} | "
            f"{max(line['slowest_s'] for line in own):.2f} s | "
            f"+{max(line['growth_mb'] for line in own)} MB | {ran} |"
        )
    return "\n".join(rows)


def lines_of(tallies, head):
    """One line of JSON for each target."""
    lines = []
    for one, tally in tallies.items():
        line = {"target": one, **head, "inputs": tally.inputs, "refused": tally.refused}
        line |= {"errors": dict(tally.errors), "slowest_s": round(tally.slowest, 3)}
        lines.append(json.dumps(line | {"growth_mb": round(tally.growth)}) + "\n")
    return "".join(lines)


def main():
    """Fuzz all targets, and write what came of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=15.0)
    parser.add_argument("--total", type=int, help="stop after this number of inputs")
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--note", default="", help="a word on why, for the lines")
    parser.add_argument("--inputs", type=int, default=200, help="inputs of a target in a round")
    parser.add_argument("--out", type=Path, default=Path("results/fuzz.jsonl"))
    parser.add_argument("--keep", type=Path, default=Path("fuzz-failures"))
    parser.add_argument("--only", default="", help="targets, separated by semicolons")
    parser.add_argument("--markdown", action="store_true", help="show what --out holds")
    options = parser.parse_args()
    if options.markdown:
        print(markdown(options.out))
        return 0

    from hostile.targets import targets

    out, keep = options.out.absolute(), options.keep.absolute()
    keep.mkdir(exist_ok=True)
    os.environ["ODDKOUT_MAX_MEMORY"] = str(LIMIT_GIGABYTES)
    watch_time()
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        folder = Path(name)
        (folder / "planted.py").write_text("open('planted.ran', 'w')\ndef run(*_): pass\n")
        sys.path.insert(0, name)
        made = targets(folder)
        chosen = options.only.split(";") if options.only else list(made)
        tallies = {one: Tally() for one in chosen}
        head = {"seed": options.seed} | ({"note": options.note} if options.note else {})
        earlier = out.read_text() if out.exists() else ""
        end, first, total = time.monotonic() + 60 * options.minutes, options.first, 0
        while time.monotonic() < end and total < (options.total or sys.maxsize):
            for one in chosen:
                fuzz(one, made[one], seed=options.seed, first=first, inputs=options.inputs,
                     tally=tallies[one], keep=keep)  # fmt: skip
            first += options.inputs
            total = sum(tally.inputs for tally in tallies.values())
            has_run = planted_ran(folder)
            out.write_text(earlier + lines_of(tallies, head | {"planted_ran": has_run}))
    clean = all(tally.is_clean for tally in tallies.values()) and not has_run
    print(f"{total:,} inputs, {len(tallies)} targets")
    for one, tally in tallies.items():
        if not tally.is_clean:
            print(one, dict(tally.errors), f"{tally.slowest:.1f} s, {tally.growth:.0f} MB")
    with contextlib.suppress(OSError):
        keep.rmdir()
    return 0 if clean else 1


if __name__ == "__main__":
    sys.exit(main())
