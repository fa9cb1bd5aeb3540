"""Download known data sets; no other module uses the network."""

import http.client
import tarfile
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from hashlib import md5
from pathlib import Path

from oddkout.data.catalogue import KnownData
from oddkout.data.known import data_folders
from oddkout.reading import first_line

DownloadProgress = Callable[[str, int, int], None]

_CHUNK = 1 << 18

# Limits of one file, which no known data set comes near; and seconds to wait for the next bytes.
_MOST_BYTES = 1 << 30
_MOST_SECONDS = 3600
_TIMEOUT = 60


def fetch(
    known: KnownData, *, data_dir: Path | None = None, progress: DownloadProgress | None = None
) -> Path:
    """Download, verify and unpack a known data set; return the folder of its files.

    Complete files are not downloaded again, partial downloads are resumed. A file gets its name
    only when it is complete and its checksum is correct.

    Args:
        known: The data set.
        data_dir: Folder to download to; the user's cache folder if not given.
        progress: Called with file name, bytes so far and total bytes (0 if unknown).
    """
    if not known.downloads:
        raise ValueError(f"{known.name} comes with scikit-learn; there is nothing to fetch")
    root = data_folders()[-1] if data_dir is None else data_dir
    folder = root / known.folder
    archives = [address for address in known.downloads if address.endswith(".tar.gz")]
    into = root if archives else folder
    for address, checksum in known.downloads.items():
        file = into / address.rsplit("/", 1)[1]
        if not (file.is_file() and _md5(file) == checksum):
            download(address, file, checksum=checksum, progress=progress)
        if address in archives:
            _unpack(file, folder, {**known.train, **known.test})
    return folder


def download(
    address: str, file: Path, *, checksum: str, progress: DownloadProgress | None = None
) -> None:
    """Download one file, resuming an interrupted download.

    Args:
        address: URL of the file.
        file: Path to write to, once the file is complete and its MD5 is correct.
        checksum: MD5 of the file.
        progress: Called with file name, bytes so far and total bytes (0 if unknown).
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(f"{file.name}.part")
    start = partial.stat().st_size if partial.exists() else 0
    if not address.startswith(("https://", "http://")):
        raise ValueError(f"a download must begin with https:// or http://, got {address}")
    request = urllib.request.Request(address, headers={"User-Agent": "oddkout"})  # noqa: S310
    if start:
        request.add_header("Range", f"bytes={start}-")
    began = time.monotonic()
    try:
        # The scheme is checked above, and redirections to files are refused by urllib.
        with urllib.request.urlopen(request, timeout=_TIMEOUT) as answer:  # noqa: S310
            is_resumed = answer.status == 206
            done = start if is_resumed else 0
            length = int(answer.headers.get("Content-Length") or 0)
            total = done + length if length else 0
            _refuse_endless(address, total, 0.0)
            with partial.open("ab" if is_resumed else "wb") as sink:
                # read1: returns with what has come, so that a slow server does not hide the time.
                while chunk := answer.read1(_CHUNK):
                    sink.write(chunk)
                    done += len(chunk)
                    _refuse_endless(address, done, time.monotonic() - began)
                    if progress is not None:
                        progress(file.name, done, total)
    except urllib.error.HTTPError as error:
        if error.code != 416:  # 416: the partial file is already complete, or too long
            raise OSError(
                f"{address} answered {error.code} {error.reason}; try later, or put the file into "
                f"{file.parent} by hand"
            ) from None
        done = total = start
    except _EndlessError as error:
        partial.unlink(missing_ok=True)
        raise OSError(str(error)) from None
    # OSError includes URLError; ValueError is for a length that is no number.
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or first_line(error)
        raise OSError(f"{address} cannot be fetched ({reason}); try again later") from None
    if total and done < total:
        raise OSError(
            f"{address} was cut off after {done:,} of {total:,} bytes; run the same command again "
            "to resume"
        )
    if (actual := _md5(partial)) != checksum:
        partial.unlink()
        raise ValueError(
            f"{address} gave a file whose MD5 is {actual}, not {checksum}; it was deleted, try "
            "again or get the file elsewhere"
        )
    partial.replace(file)


class _EndlessError(Exception):
    """An answer is longer or takes longer than any known data set."""


def _refuse_endless(address: str, done: int, seconds: float) -> None:
    """Raise if an answer is too long or takes too long."""
    if done > _MOST_BYTES or seconds > _MOST_SECONDS:
        raise _EndlessError(
            f"{address} must give at most {_MOST_BYTES:,} bytes within {_MOST_SECONDS:,} s, got "
            f"{done:,} bytes in {seconds:.0f} s; it was stopped: get the file elsewhere"
        )


def _unpack(archive: Path, folder: Path, files: Mapping[str, str]) -> None:
    """Unpack an archive to a temporary folder and move its files to ``folder`` if complete."""
    if all((folder / file).is_file() for file in files):
        return
    with tempfile.TemporaryDirectory(dir=archive.parent) as temporary:
        try:
            with tarfile.open(archive) as tar:
                tar.extractall(temporary, filter="data")
        except (tarfile.TarError, EOFError, OSError) as error:
            raise ValueError(f"{archive} cannot be unpacked safely ({error}); delete it") from None
        unpacked = Path(temporary) / folder.name
        if absent := [file for file in files if not (unpacked / file).is_file()]:
            raise ValueError(f"{archive} must hold {folder.name}/{absent[0]}, but does not")
        folder.mkdir(exist_ok=True)
        for file in unpacked.iterdir():
            file.replace(folder / file.name)


def _md5(file: Path) -> str:
    digest = md5(usedforsecurity=False)
    with file.open("rb") as source:
        while chunk := source.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
