"""``oddkout data``: the data sets it knows."""

import json

import typer

from oddkout.cli.progress import download_progress
from oddkout.cli.source import DataDirOption, JsonOption
from oddkout.data.catalogue import KNOWN, KnownData
from oddkout.data.fetch import fetch as fetch_known
from oddkout.data.known import find_known

app = typer.Typer(help="The data sets it knows: list, path, fetch.")


@app.command("list")
def list_known(data_dir: DataDirOption = None, is_json: JsonOption = False) -> None:
    """List the known data sets and where they are.

    Example: oddkout data list
    """
    rows = {name: _place(known, data_dir) for name, known in KNOWN.items()}
    if is_json:
        print(json.dumps(rows, indent=2))
        return
    for name, place in rows.items():
        print(f"{name:<15}{place or f'not here; run: oddkout data fetch {name}'}")


@app.command()
def path(name: str, data_dir: DataDirOption = None, is_json: JsonOption = False) -> None:
    """Print where a known data set is.

    Example: oddkout data path mnist
    """
    place = _place(_known(name), data_dir)
    if place is None:
        raise ValueError(f"{name} is not on this machine; run: oddkout data fetch {name}")
    print(json.dumps({"name": name, "path": place}) if is_json else place)


@app.command()
def fetch(name: str, data_dir: DataDirOption = None, is_json: JsonOption = False) -> None:
    """Download a known data set from its publisher, verify it, and move it into place.

    Example: oddkout data fetch mnist
    """
    with download_progress() as progress:
        place = str(fetch_known(_known(name), data_dir=data_dir, progress=progress))
    print(json.dumps({"name": name, "path": place}) if is_json else place)


def _known(name: str) -> KnownData:
    if name not in KNOWN:
        raise ValueError(f"known data sets are {', '.join(KNOWN)}, got {name!r}")
    return KNOWN[name]


def _place(known: KnownData, data_dir: DataDirOption) -> str | None:
    if known.name == "digits":
        return "comes with scikit-learn"
    place = find_known(known, data_dir)
    return None if place is None else str(place)
