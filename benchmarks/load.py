"""Much data at once: how long it takes, and how much memory.

python benchmarks/load.py               performs the steps that have no line yet
python benchmarks/load.py table-train   performs a step, and those that it needs
python benchmarks/load.py --markdown    prints the table from results/load.jsonl
python benchmarks/load.py --clean       removes the data

Data are made up in a folder (``--folder``), which needs 1 GB. Commands run with one thread a
process. Peak memory is the sum over a command and its processes, sampled ten times a second; pages
that they share count several times.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import lines
import numpy as np
import psutil

LINES = lines.FOLDER / "load.jsonl"
ROWS, IMAGES, CLASSES, CONTESTANTS, THREADS, PROCESSES = 1_000_000, 100_000, 1_000, 60, 16, 8
LIMIT_GIGABYTES = 8


def big_table(file):
    """A million rows of 42 numbers, 8 categories and a class."""
    rng = np.random.default_rng(0)
    with file.open("w") as out:
        names = [f"n{i}" for i in range(42)] + [f"c{i}" for i in range(8)]
        out.write(",".join([*names, "y"]) + "\n")
        for _ in range(20):
            x, c = rng.normal(size=(ROWS // 20, 42)), rng.integers(0, 6, size=(ROWS // 20, 8))
            score = x[:, 0] + x[:, 1] - x[:, 2] / 2 + (c[:, 0] == 2) + rng.normal(size=len(x))
            columns = [np.char.mod("%.3f", column) for column in x.T]
            columns += list(np.array(list("pqrstu"))[c].T)
            columns.append(np.array(["low", "mid", "high"])[np.digitize(score, [-1.5, 1.5])])
            out.write("\n".join(map(",".join, zip(*columns, strict=True))) + "\n")


def many_images(folder):
    """A hundred thousand grey images of 12 x 12 pixels in ten classes: stripes in noise."""
    from PIL import Image

    rng = np.random.default_rng(0)
    for number in range(IMAGES):
        kind = number % 10
        pixels = rng.integers(0, 120, size=(12, 12), dtype=np.uint8)
        pixels[kind] += 100
        place = folder / f"kind-{kind}"
        if number < 10:
            place.mkdir(parents=True)
        Image.fromarray(pixels).save(place / f"{number}.png")


def many_classes(file):
    """A table of a thousand classes with 20 rows each: points around 1,000 centres."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(CLASSES, 10)) * 3
    labels = np.arange(20 * CLASSES) % CLASSES
    x = centres[labels] + rng.normal(size=(len(labels), 10))
    with file.open("w") as out:
        out.write(",".join([*(f"n{i}" for i in range(10)), "y"]) + "\n")
        out.writelines(
            ",".join([*(f"{v:.3f}" for v in row), f"class-{y:04d}"]) + "\n"
            for row, y in zip(x, labels, strict=True)
        )


SOURCES = {"big.csv": big_table, "images": many_images, "classes.csv": many_classes}

QUICK = ["--learning-rates", "0.1", "--json"]
TABLE, NAMES = ["big.csv", "--target", "y"], ["classes.csv", "--target", "y"]
MLP = ["--method", "vanilla", "--updates", "500", *QUICK]

# Each step: what was loaded, the arguments of oddkout, the source it needs, the step it needs.
STEPS = {
    "table-doctor": (["doctor", *TABLE, "--json"], "big.csv", None),
    "table-compare": (
        ["compare", *TABLE, "--methods", "vanilla", "--updates", "500", "--seeds", "1", *QUICK,
         "--processes", "1", "--out", "table-runs"], "big.csv", None,
    ),
    "table-train": (["train", *TABLE, *MLP, "--out", "table-model"], "big.csv", None),
    "table-predict": (["predict", "table-model", "big.csv"], "big.csv", "table-train"),
    "images-doctor": (["doctor", "images", "--json"], "images", None),
    "images-train": (
        ["train", "images", "--method", "vanilla", "--updates", "60", *QUICK, "--folds", "2",
         "--out", "images-model"], "images", None,
    ),
    "images-predict": (["predict", "images-model", "images"], "images", "images-train"),
    "classes-doctor": (["doctor", *NAMES, "--json"], "classes.csv", None),
    "classes-compare": (
        ["compare", *NAMES, "--methods", "vanilla", "--updates", "500", "--seeds", "1", *QUICK,
         "--processes", "1", "--out", "classes-runs"], "classes.csv", None,
    ),
    "classes-train": (["train", *NAMES, *MLP, "--out", "classes-model"], "classes.csv", None),
    "classes-predict": (
        ["predict", "classes-model", "classes.csv"], "classes.csv", "classes-train"
    ),
    "contestants": (["CONTESTANTS"], None, None),
    "threads": (["THREADS"], "classes.csv", "classes-train"),
    "processes": (["PROCESSES"], "classes.csv", "classes-train"),
}  # fmt: skip


def contestants(folder):
    """A comparison of 60 contestants on the digits, and its report."""
    from sklearn.naive_bayes import GaussianNB

    import oddkout as oko
    from oddkout.report.write import write_report

    own = {f"bayes-{i:02d}": GaussianNB(var_smoothing=10 ** (-6 + i / 10)) for i in range(58)}
    out = folder / "contestants"
    comparison = oko.compare(
        "digits", methods=[], contestants=own, seeds=2, folds=2, learning_rates=[0.1], out=out
    )
    assert len(comparison.methods) == CONTESTANTS, comparison.failed
    files = write_report(out)
    return f"{CONTESTANTS} contestants, page of {files['html'].stat().st_size / 1e6:.1f} MB"


def _model(folder):
    import pandas as pd

    import oddkout as oko

    frame = pd.read_csv(folder / "classes.csv").drop(columns="y").head(2000)
    return oko.Classifier.load(folder / "classes-model"), frame


def threads(folder):
    """One classifier, asked by 16 threads at once: all get the answer of a single one."""
    classifier, frame = _model(folder)
    alone = classifier.predict_proba(frame)
    with ThreadPoolExecutor(THREADS) as pool:
        together = list(pool.map(lambda _: classifier.predict_proba(frame), range(3 * THREADS)))
    assert all(np.array_equal(alone, probs) for probs in together)
    return f"{len(together)} answers of {THREADS} threads equal that of one, {alone.shape}"


def processes(folder):
    """Eight processes read one saved classifier and predict: all say the same."""
    command = [sys.executable, "-m", "oddkout", "predict", "classes-model", "classes.csv"]
    running = [
        subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE) for _ in range(PROCESSES)
    ]
    with ThreadPoolExecutor(PROCESSES) as pool:
        texts = list(pool.map(lambda process: process.communicate()[0], running))
    assert all(process.returncode == 0 for process in running)
    assert len(set(texts)) == 1
    return f"{PROCESSES} processes wrote the same {len(texts[0]) / 1e6:.0f} MB"


OWN = {"CONTESTANTS": contestants, "THREADS": threads, "PROCESSES": processes}


def measured(step, folder):
    """Perform a step in a process of its own, and return its line."""
    arguments, _, _ = STEPS[step]
    own = arguments[0] in OWN
    command = [__file__, "--inside", arguments[0]] if own else ["-m", "oddkout", *arguments]
    before, began = os.times(), time.monotonic()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as error:
        process = psutil.Popen(
            [sys.executable, *command], cwd=folder, stdout=out, stderr=error,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        peak = 0
        while process.poll() is None:
            peak = max(peak, _memory(process))
            time.sleep(0.1)
        seconds, after = time.monotonic() - began, os.times()
        sizes = out.tell(), error.tell()
        out.seek(0), error.seek(0)
        said = out.read(300) if own else f"{sizes[0]:,} bytes"
        last = error.read().strip().splitlines()[-1][:300] if process.returncode else ""
    cpu = after.children_user + after.children_system - before.children_user
    return {
        "step": step,
        "command": " ".join(arguments),
        "seconds": round(seconds, 1),
        "cpu_seconds": round(cpu - before.children_system, 1),
        "peak_gb": round(peak / 1e9, 2),
        "exit": process.returncode,
        "said": said.strip(),
    } | ({"error": last} if last else {})


def _memory(process):
    """Memory of a process and its children, in bytes."""
    total = 0
    try:
        for one in (process, *process.children(recursive=True)):
            total += one.memory_info().rss
    except psutil.Error:
        pass
    return total


def perform(step, folder):
    """Perform a step, with the data and the steps that it needs."""
    _, source, needed = STEPS[step]
    if source and not (folder / source).exists():
        shutil.rmtree(folder / "made", ignore_errors=True)
        (folder / "made").mkdir()
        SOURCES[source](folder / "made" / source)
        (folder / "made" / source).rename(folder / source)  # complete or absent
    if needed and not (folder / STEPS[needed][0][-1] / "card.json").exists():
        perform(needed, folder)
    line = measured(step, folder)
    lines.append(LINES, line)
    print(json.dumps(line), flush=True)


def markdown():
    """The last line of each step, as a table."""
    last = {line["step"]: line for line in lines.read(LINES)}
    rows = ["| step | command | seconds | CPU seconds | peak memory |",
            "| --- | --- | ---: | ---: | ---: |"]  # fmt: skip
    for step in STEPS:
        if step in last and last[step]["exit"] == 0:
            line = last[step]
            shown = line["said"] if line["command"] in OWN else f"`{line['command']}`"
            rows.append(
                f"| {step} | {shown} | {line['seconds']:,.0f} | {line['cpu_seconds']:,.0f} | "
                f"{line['peak_gb']:.2f} GB |"
            )
    return "\n".join(rows)


def main():
    """Perform steps."""
    parser = argparse.ArgumentParser()
    parser.add_argument("steps", nargs="*", choices=[*STEPS, []])
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "oddkout-load")
    parser.add_argument("--inside", choices=OWN, help=argparse.SUPPRESS)
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--clean", action="store_true")
    options = parser.parse_args()
    if options.markdown:
        print(markdown())
    elif options.inside:
        print(OWN[options.inside](Path.cwd()))
    elif options.clean:
        shutil.rmtree(options.folder, ignore_errors=True)
    else:
        options.folder.mkdir(exist_ok=True)
        done = {line["step"] for line in lines.read(LINES) if line["exit"] == 0}
        for step in options.steps or [step for step in STEPS if step not in done]:
            perform(step, options.folder)


if __name__ == "__main__":
    main()
