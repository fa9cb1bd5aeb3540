"""``oddkout data``: the known data sets."""

import json

import typer

from oddkout.cli.progress import download_progress
from oddkout.cli.source import DataDirOption, JsonOption
from oddkout.data.catalogue import KNOWN, KnownData
from oddkout.data.fetch import fetch as fetch_known
from oddkout.data.known import find_known

app = typer.Typer(help="Known data sets: list, path, fetch.")


@app.command("list")
def list_known(data_dir: DataDirOption = None, is_json: JsonOption = False) -> None:
    """List the known data sets and their paths.

    Example: oddkout data list
    """
    rows = {name: _location(known, data_dir) for name, known in KNOWN.items()}
    if is_json:
        print(json.dumps(rows, indent=2))
        return
    for name, location in rows.items():
        print(f"{name:<15}{location or f'not here; run: oddkout data fetch {name}'}")


@app.command()
def path(name: str, data_dir: DataDirOption = None, is_json: JsonOption = False) -> None:
    """Print the path of a known data set.

    Example: oddkout data path mnist
    """
    location = _location(_known(name), data_dir)
    if location is None:
        raise ValueError(f"{name} is not on this machine; run: oddkout data fetch {name}")
    print(json.dumps({"name": name, "path": location}) if is_json else location)


@app.command()
def fetch(name: str, data_dir: DataDirOption = None, is_json: JsonOption = False) -> None:
    """Download a known data set from its publisher and verify it.

    Example: oddkout data fetch mnist
    """
    with download_progress() as progress:
        location = str(fetch_known(_known(name), data_dir=data_dir, progress=progress))
    print(json.dumps({"name": name, "path": location}) if is_json else location)


def _known(name: str) -> KnownData:
    if name not in KNOWN:
        raise ValueError(f"known data sets are {', '.join(KNOWN)}, got {name!r}")
    return KNOWN[name]


def _location(known: KnownData, data_dir: DataDirOption) -> str | None:
    if known.name == "digits":
        return "comes with scikit-learn"
    path = find_known(known, data_dir)
    return None if path is None else str(path)
