"""Disturb commands at random times and finish them: the result must be that of a quiet run.

    PYTHONPATH=src:tests python -m hostile.chaos --seed 1 --minutes 60

Each trial takes a command (``compare``, ``train`` with members, ``reproduce``) and a fault: kills
(SIGKILL of the driver, sometimes of a worker), full disks (a limit on the size of files, beyond
which every write fails), or two writers on one folder, one of which is killed. The command is then
run to its end. It checks that

* tables and weights are identical to those of an undisturbed run, and every run is there once,
* no process of a killed command lives 10 s later,
* no temporary file is left that is older than an hour, once the command has run again.

Every trial appends a line to ``results/chaos.jsonl``; the exit code is 1 if one failed.
"""

import argparse
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
from hostile.originals import table

GRACE_SECONDS = 10
HOUR = 3600
_TIMELESS = ("seconds", "versions")  # what may differ between identical runs

FAULTS = ("kills", "full disk", "two writers")


def commands(data):
    """The commands by name, without ``--out``."""
    quick = ["--target", "y", "--folds", "2", "--learning-rates", "0.1"]
    return {
        "compare": ["compare", str(data), *quick, "--methods", "vanilla,oko", "--seeds", "2",
                    "--updates", "300", "--processes", "2"],
        "train": ["train", str(data), *quick, "--method", "oko", "--updates", "1500"],
        "reproduce": ["reproduce", "--preset", "smoke", "--datasets", "mnist", "--distributions",
                      "uniform", "--sizes", "5", "--methods", "vanilla,oko", "--seeds", "1",
                      "--updates", "20", "--processes", "2"],
    }  # fmt: skip


def start(command, out, *, most_bytes=None):
    """Start a command; with a limit on the size of files, as on a full disk."""

    def limit():
        if most_bytes is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # so that writing raises
            resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))

    return subprocess.Popen(
        [sys.executable, "-m", "oddkout", *command, "--out", str(out)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limit,
    )


def kill(process, choice):
    """Kill a driver, or one of its workers; return the processes that outlive it too long."""
    if process.poll() is not None:
        return []
    family = psutil.Process(process.pid).children(recursive=True)
    if family and choice.random() < 0.2:  # the driver must notice and go on
        family[0].kill()
        return []
    process.kill()
    process.wait()
    alive = psutil.wait_procs(family, timeout=GRACE_SECONDS)[1]
    psutil.wait_procs(alive, timeout=10 * GRACE_SECONDS)  # before the next start disturbs them
    return alive


def outcome(out):
    """What a command has made: its runs without their times, and its weights."""
    made = {}
    for path in sorted(Path(out).rglob("*")):
        if path.name == "run.json" and not path.parent.name.startswith("."):
            values = json.loads(path.read_text())
            made[path.parent.name] = {k: v for k, v in values.items() if k not in _TIMELESS}
        elif path.name in ("model.safetensors", "held-out.safetensors"):
            made[path.name] = path.read_bytes().hex()
    return made


def differences(quiet, disturbed):
    """What is lost, doubled or wrong, in words."""
    lost, more = sorted(quiet.keys() - disturbed.keys()), sorted(disturbed.keys() - quiet.keys())
    wrong = [name for name in quiet.keys() & disturbed.keys() if quiet[name] != disturbed[name]]
    found = {"lost": lost, "more": more, "wrong": sorted(wrong)}
    return [f"{what}: {', '.join(names[:5])}" for what, names in found.items() if names]


def left_over(out):
    """Temporary files and folders that a killed command has left."""
    return [path for path in Path(out).rglob(".*") if ".tmp" in path.name]


def finish(command, out):
    """Run a command to its end; old temporary files must be gone afterwards."""
    for path in left_over(out):
        os.utime(path, (time.time() - 2 * HOUR,) * 2)
    process = start(command, out)
    error = process.communicate()[1]
    problems = [] if process.returncode == 0 else [f"exit {process.returncode}: {error[-300:]}"]
    old = [p.name for p in left_over(out) if p.exists() and time.time() - p.stat().st_mtime > HOUR]
    return problems + ([f"old temporary files: {old[:3]}"] if old else [])


def trial(command, fault, out, *, seconds, quiet, choice):
    """Disturb a command, finish it, and return a line of what came of it."""
    kills, orphans, problems = 0, 0, []
    for _ in range(choice.randint(1, 4) if fault == "kills" else 1):
        limit = choice.choice([0, 500, 3000, 20_000]) if fault == "full disk" else None
        processes = [start(command, out, most_bytes=limit)]
        if fault == "two writers":
            processes.append(start(command, out))
        if fault == "full disk":
            error = processes[0].communicate()[1]
            if processes[0].returncode == 0 and limit == 0:
                problems.append("a full disk went unnoticed")
            if "Traceback" in error:
                problems.append(f"traceback: {error.strip().splitlines()[-1][:200]}")
        else:
            time.sleep(choice.uniform(0, 1.1 * seconds))
            orphans += len(kill(processes[0], choice))
            kills += 1
        for process in processes[1:] if fault == "two writers" else []:
            process.communicate()
        for process in processes:
            if process.poll() is None:
                process.communicate()
            process.stderr.close()
    problems += finish(command, out)
    problems += differences(quiet, outcome(out))
    if orphans:
        problems.append(f"{orphans} processes lived {GRACE_SECONDS} s after a kill")
    return {"kills": kills, "orphans": orphans, "runs": len(quiet), "problems": problems}


def main():
    """Perform trials for as long as told."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=15.0)
    parser.add_argument("--commands", default="compare,train,reproduce")
    parser.add_argument("--faults", default=",".join(FAULTS))
    parser.add_argument("--out", type=Path, default=Path("results/chaos.jsonl"))
    options = parser.parse_args()
    end, choice, failed = time.monotonic() + 60 * options.minutes, random.Random(options.seed), 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        known = commands(table(folder / "table.csv"))
        quiet, seconds, number = {}, {}, 0
        while time.monotonic() < end:
            which = choice.choice(options.commands.split(","))
            # Two trainings may not share a folder: the second would replace the first.
            faults = [f for f in options.faults.split(",") if which != "train" or f != FAULTS[2]]
            if which not in quiet:
                began = time.monotonic()
                problems = finish(known[which], folder / f"{which}-quiet")
                assert problems == [], problems
                seconds[which] = time.monotonic() - began
                quiet[which] = outcome(folder / f"{which}-quiet")
            fault, out = choice.choice(faults), folder / f"trial-{number}"
            line = trial(
                known[which], fault, out, seconds=seconds[which], quiet=quiet[which], choice=choice
            )
            with options.out.open("a") as lines:
                head = {"command": which, "fault": fault, "seed": options.seed, "trial": number}
                lines.write(json.dumps(head | line) + "\n")
            failed += bool(line["problems"])
            print(which, fault, line, flush=True)
            shutil.rmtree(out, ignore_errors=True)
            number += 1
    print(f"{number} trials, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
