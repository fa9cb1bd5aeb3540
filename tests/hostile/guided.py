"""Fuzz guided by coverage, with atheris: inputs that reach new code of ours are mutated further.

    pip install atheris
    PYTHONPATH=src:tests python -m hostile.guided --target csv --inputs 20000

It is for readers that are Python throughout; see ``GUIDED``. What counts as an error is what
``hostile.fuzz`` counts. A line per target is appended to ``results/fuzz.jsonl``, with the number of
inputs that found new code.
"""

import argparse
import contextlib
import json
import os
import random
import sys
import tempfile
from pathlib import Path

from hostile import fuzz

GUIDED = ("csv", "predictions.csv", "costs", "card", "run", "comparison")
_SEEDS = 50  # mutated originals to start from


def main():
    """Fuzz one target, and write what came of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--target", choices=GUIDED, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--inputs", type=int, default=20_000)
    parser.add_argument("--out", type=Path, default=Path("results/fuzz.jsonl"))
    parser.add_argument("--keep", type=Path, default=Path("fuzz-failures"))
    options = parser.parse_args()

    import atheris

    with atheris.instrument_imports(include=["oddkout"]):
        from hostile.targets import targets

    out, keep = options.out.absolute(), options.keep.absolute()
    os.environ["ODDKOUT_MAX_MEMORY"] = str(fuzz.LIMIT_GIGABYTES)
    folder = Path(tempfile.mkdtemp(prefix="ok"))
    (folder / "planted.py").write_text("open('planted.ran', 'w')\ndef run(*_): pass\n")
    sys.path.insert(0, str(folder))
    corpus = folder / "corpus"
    corpus.mkdir()
    target = targets(folder)[options.target]
    for number in range(_SEEDS):
        content = target.mutate(target.original, random.Random(f"{options.seed} {number}"))
        (corpus / str(number)).write_bytes(content)
    (corpus / "original").write_bytes(target.original)
    os.chdir(folder)
    tally = fuzz.Tally()

    def read(content):
        target.path.write_bytes(content)
        if error := fuzz.read(target, tally):
            tally.errors[error] += 1
            keep.mkdir(exist_ok=True)
            (keep / f"{options.target}-guided-{tally.inputs}").write_bytes(content)
        if tally.inputs == options.inputs:
            head = {"seed": options.seed, "note": "guided by coverage"}
            head |= {"new_code": len(list(corpus.iterdir())) - _SEEDS - 1}
            head |= {"planted_ran": fuzz.planted_ran(folder)}
            with out.open("a") as lines:
                lines.write(fuzz.lines_of({options.target: tally}, head))
            print(json.dumps(head), tally.inputs, tally.refused, dict(tally.errors), flush=True)
            os._exit(0 if tally.is_clean else 1)  # atheris would not return either

    # Our own timer watches the time of an input.
    limits = ["-timeout=0", "-rss_limit_mb=0", f"-seed={options.seed}"]
    limits += ["-max_len=20000", "-verbosity=0"]
    atheris.Setup([sys.argv[0], *limits, str(corpus)], read)
    fuzz.watch_time()
    with contextlib.suppress(KeyboardInterrupt):
        atheris.Fuzz()


if __name__ == "__main__":
    main()
