"""What a command has made, whether that is what it should have made, and what it left behind."""

import json
import os
import time
from pathlib import Path

HOUR = 3600
_TIMELESS = ("seconds", "versions", "verdict")  # what may differ: the verdict speaks of time
_WEIGHTS = ("model.safetensors", "held-out.safetensors")
_RECORDS = ("comparison.json", "tables.json", "card.json")


def outcome(out):
    """What a command has made, without times: its runs, tables and weights."""
    made = {}
    for path in sorted(Path(out).rglob("*")):
        if any(part.startswith(".") for part in path.relative_to(out).parts):
            continue
        if path.name == "run.json":
            made[path.parent.name] = _timeless(json.loads(path.read_text()))
        elif path.name in _RECORDS:
            text = path.read_text().replace(str(Path(out)), "OUT")
            made[path.name] = _timeless(json.loads(text))
        elif path.name in _WEIGHTS:
            made[path.name] = path.read_bytes().hex()
    return made


def _timeless(values):
    if isinstance(values, dict):
        return {key: _timeless(value) for key, value in values.items() if key not in _TIMELESS}
    return [_timeless(value) for value in values] if isinstance(values, list) else values


def run_names(made):
    """The names of the runs among what a command has made."""
    return {name for name in made if name not in (*_RECORDS, *_WEIGHTS)}


def differences(quiet, disturbed):
    """What is lost, doubled or wrong, in words."""
    lost, more = sorted(quiet.keys() - disturbed.keys()), sorted(disturbed.keys() - quiet.keys())
    wrong = [name for name in quiet.keys() & disturbed.keys() if quiet[name] != disturbed[name]]
    found = {"lost": lost, "more": more, "wrong": sorted(wrong)}
    return [f"{what}: {', '.join(names[:5])}" for what, names in found.items() if names]


def left_over(out):
    """Temporary files and folders, in a folder and in that of its checkpoints."""
    folders = [Path(out), Path(out).with_name(f"{Path(out).name}.checkpoints")]
    return [path for folder in folders for path in folder.rglob("*") if ".tmp" in path.name]


def age(paths):
    """Make files two hours old."""
    for path in paths:
        os.utime(path, (time.time() - 2 * HOUR,) * 2)


def old(paths):
    """The names of those that are still there and older than an hour."""
    return [p.name for p in paths if p.exists() and time.time() - p.stat().st_mtime > HOUR]
