"""Fingerprints of data: a hash of a file or a folder, independent of its path."""

from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

from oddkout.comparing.config import RunConfig
from oddkout.data import KNOWN
from oddkout.data.images import is_image_folder
from oddkout.data.table_files import is_table

_AT_A_TIME = 1 << 20


def identified(config: RunConfig) -> RunConfig:
    """The config with the fingerprint of its data, and with absolute paths."""
    if config.data in KNOWN:
        return config
    paths = [Path(path).absolute() for path in (config.data, config.test) if path is not None]
    return replace(
        config,
        data=str(paths[0]),
        test=None if config.test is None else str(paths[1]),
        fingerprint="-".join(map(fingerprint, paths)),
    )


def changed(config: RunConfig) -> str:
    """Why the data of a stored config are not to be read; empty if they are those of its run.

    The path comes from a file. So only known data sets and what has the form of data are opened: a
    table, an archive, or a folder with a folder of images for each class.
    """
    if config.data in KNOWN:
        return ""
    for path in (config.data, config.test):
        if path is not None and not _looks_like_data(Path(path)):
            return f"there are no data at {path}"
    if not config.fingerprint or identified(config).fingerprint != config.fingerprint:
        return f"{config.data} has changed since the runs were made"
    return ""


def _looks_like_data(path: Path) -> bool:
    """Whether a path is a table, an archive or a folder of images; only names are looked at."""
    if path.is_file():
        return is_table(path) or path.suffix == ".npz"
    return path.is_dir() and is_image_folder(path)


def fingerprint(path: Path) -> str:
    """Hash of the content of a file, or of the names and contents of the files in a folder."""
    digest = blake2b(digest_size=10)
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    for file in files:
        # The length separates names from contents, so that no two folders give the same bytes.
        name = file.relative_to(path).as_posix()
        digest.update(f"{name}\0{file.stat().st_size}\0".encode())
        with file.open("rb") as stream:
            while part := stream.read(_AT_A_TIME):
                digest.update(part)
    return digest.hexdigest()
