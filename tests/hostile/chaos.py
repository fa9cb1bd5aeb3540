"""Disturb commands at random times and finish them: the result must be that of a quiet run.

    PYTHONPATH=src:tests python -m hostile.chaos --seed 1 --minutes 60

Each trial takes a command (``compare``, ``train`` with members of a table and of images,
``reproduce``) and a fault: kills, full disks, several writers, jumping clocks, lost workers, lost
nodes of a Ray cluster, or cut ranks of distributed training. The command is then run to its end. It
checks that

* tables and weights are identical to those of an undisturbed run, and every run is there once,
* no process of a killed command lives 10 s later,
* no temporary file is left that is older than an hour, once the command has run again,
* what the user reads says what happened.

Every trial appends a line to ``results/chaos.jsonl``; the exit code is 1 if one failed.
``--markdown`` shows the sums.
"""

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from itertools import product
from pathlib import Path

from hostile import cut_ranks, faults, lost_nodes
from hostile.originals import table
from hostile.outcomes import age, differences, left_over, old, outcome, run_names
from hostile.started import Command, import_everything

FAULTS = {
    "kills": faults.kills,
    "full disk": faults.full_disk,
    "writers": faults.writers,
    "clock jumps": faults.clock_jumps,
    "lost workers": faults.lost_workers,
    "lost nodes": lost_nodes.lost_nodes,
    "cut ranks": cut_ranks.cut_ranks,
}

# Commands that a fault suits, if not all. Two trainings may not share a folder: the second would
# replace the first.
SUITED = {
    "writers": ("compare", "reproduce"),
    "lost workers": ("compare",),
    "lost nodes": ("compare",),
    "cut ranks": ("ranks",),
}


def commands(data):
    """The commands by name, without ``--out``."""
    quick = ["--folds", "2", "--learning-rates", "0.1"]
    uneven = ["--distribution", "heavy-tailed", "--train-examples", "61", "--model", "mlp"]
    return {
        "compare": ["compare", str(data), "--target", "y", *quick, "--methods", "vanilla,oko",
                    "--seeds", "2", "--updates", "300"],
        "train": ["train", str(data), "--target", "y", *quick, "--method", "oko", "--updates",
                  "1500"],
        "train images": ["train", "digits", *quick, *uneven, "--updates", "900"],
        "ranks": ["train", "digits", *quick, *uneven, "--updates", "900"],
        "reproduce": ["reproduce", "--preset", "smoke", "--datasets", "mnist", "--distributions",
                      "uniform", "--sizes", "5", "--methods", "vanilla,oko", "--seeds", "1",
                      "--updates", "20", "--processes", "2"],
    }  # fmt: skip


def finish(arguments, out, **options):
    """Run a command to its end; old temporary files must be gone afterwards."""
    left = left_over(out)
    age(left)
    code, _, error = Command([*arguments, "--out", str(out)], **options).ended()
    problems = [] if code == 0 else [f"exit {code}: {error[-300:]}"]
    return problems + ([f"old temporary files: {old(left)[:3]}"] if old(left) else [])


def performed(trial, fault, **options):
    """Disturb a command, finish it, and return a line of what came of it."""
    try:
        FAULTS[fault](trial)
    except TimeoutError as error:
        trial.problems.append(str(error))
    problems = trial.problems + finish(trial.arguments, trial.out, **options)
    problems += differences(trial.quiet, outcome(trial.out))
    return dict(trial.counts) | {"runs": len(run_names(trial.quiet)), "problems": problems}


def markdown(file):
    """All lines of a file as a table, one row per fault and command, and the notes on problems."""
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    rows = ["| fault | command | trials | disturbances | with a problem |",
            "| --- | --- | ---: | --- | ---: |"]  # fmt: skip
    renamed = {"two writers": "writers"}
    for fault, command in product(FAULTS, dict.fromkeys(line["command"] for line in lines)):
        own = [
            line for line in lines
            if (renamed.get(line["fault"], line["fault"]), line["command"]) == (fault, command)
            and (line["problems"] or _disturbances(line))  # else it ended before the fault
        ]  # fmt: skip
        if not own:
            continue
        sums = sum(map(_disturbances, own), Counter())
        told = ", ".join(f"{number} {name}" for name, number in sums.items())
        failed = sum(bool(line["problems"]) for line in own)
        rows.append(f"| {fault} | {command} | {len(own)} | {told} | {failed} |")
    notes = Counter(line["note"] for line in lines if "note" in line)
    told = [f"* {count} x {note}" for note, count in notes.items()]
    return "\n".join([*rows, "", f"{_disturbances_of_all(lines)} in total. Problems:", "", *told])


def _disturbances(line):
    return Counter({name: n for name, n in line.items() if name not in _HEAD and n})


def _disturbances_of_all(lines):
    sums = sum(map(_disturbances, lines), Counter())
    shown = ("kills", "full disks", "lost nodes", "cut ranks", "lost workers", "clock jumps")
    return ", ".join(f"{sums[name]} {name}" for name in shown)


def main():
    """Perform trials for as long as told."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=15.0)
    parser.add_argument("--trials", type=int, default=sys.maxsize)
    parser.add_argument("--commands", default="compare,train,train images,reproduce,ranks")
    parser.add_argument("--faults", default=",".join(FAULTS))
    parser.add_argument(
        "--forked", type=float, default=0.8, help="share of trials without the time of imports"
    )
    parser.add_argument("--out", type=Path, default=Path("results/chaos.jsonl"))
    parser.add_argument("--markdown", action="store_true", help="show what --out holds")
    options = parser.parse_args()
    if options.markdown:
        print(markdown(options.out))
        return 0
    chosen = [
        (which, fault)
        for fault in options.faults.split(",")
        for which in options.commands.split(",")
        if which in SUITED.get(fault, (which,)) and (which == "ranks") == (fault == "cut ranks")
    ]
    end, choice, failed = time.monotonic() + 60 * options.minutes, random.Random(options.seed), 0
    with tempfile.TemporaryDirectory(prefix="ok") as name:
        folder, number = Path(name), 0
        known = commands(table(folder / "table.csv"))
        forked = [w for w, fault in chosen if options.forked and fault in _FORKED]
        import_everything([known[which] for which in dict.fromkeys(forked)], folder)
        quiet = {}
        while time.monotonic() < end and number < options.trials:
            which, fault = choice.choice(chosen)
            is_forked = fault in _FORKED and choice.random() < options.forked
            launch = {"launcher": cut_ranks.LAUNCHER} if which == "ranks" else {}
            if (which, is_forked) not in quiet:
                began, out = time.monotonic(), folder / f"{which}-{is_forked}"
                problems = finish(known[which], out, is_forked=is_forked, **launch)
                assert problems == [], problems
                quiet[which, is_forked] = time.monotonic() - began, outcome(out)
                print(f"{which}: {quiet[which, is_forked][0]:.1f} s undisturbed", flush=True)
                assert outcome(out) == next(q for (w, _), (_, q) in quiet.items() if w == which)
            seconds, expected = quiet[which, is_forked]
            (folder / f"trial-{number}").mkdir()
            trial = faults.Trial(
                known[which], folder / f"trial-{number}" / "out", seconds, expected, choice,
                is_forked,
            )  # fmt: skip
            line = performed(trial, fault, is_forked=is_forked, **launch)
            with options.out.open("a") as lines:
                head = {"command": which, "fault": fault, "seed": options.seed, "trial": number}
                head["start"] = "forked" if is_forked else "started"
                lines.write(json.dumps(head | line) + "\n")
            failed += bool(line["problems"])
            print(which, fault, line, flush=True)
            shutil.rmtree(folder / f"trial-{number}", ignore_errors=True)
            number += 1
    print(f"{number} trials, {failed} failed")
    return 1 if failed else 0


_HEAD = (
    *("command", "fault", "seed", "trial", "start", "runs", "problems", "note"),
    "seconds to end",
)
_FORKED = ("kills", "full disk", "writers", "lost workers")

if __name__ == "__main__":
    sys.exit(main())
