"""What data are, wherever they lie: a hash of a file or a folder."""

from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

from oddkout.comparing.config import RunConfig
from oddkout.data import KNOWN

_AT_A_TIME = 1 << 20


def identified(config: RunConfig) -> RunConfig:
    """The config with the fingerprint of its data, and with paths that hold in any process.

    Args:
        config: The config, with paths as somebody typed them.
    """
    if config.data in KNOWN:
        return config
    paths = [Path(path).absolute() for path in (config.data, config.test) if path is not None]
    return replace(
        config,
        data=str(paths[0]),
        test=None if config.test is None else str(paths[1]),
        fingerprint="-".join(map(fingerprint, paths)),
    )


def fingerprint(path: Path) -> str:
    """A hash of what a file or a folder holds; the names of files count in a folder.

    Args:
        path: The file or the folder.
    """
    digest = blake2b(digest_size=10)
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    for file in files:
        # The length keeps names and contents apart, so that none can pass for another.
        name = file.relative_to(path).as_posix()
        digest.update(f"{name}\0{file.stat().st_size}\0".encode())
        with file.open("rb") as stream:
            while part := stream.read(_AT_A_TIME):
                digest.update(part)
    return digest.hexdigest()
