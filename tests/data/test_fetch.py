"""Downloads against a local server: missing files, cut connections, resuming, checksums."""

import hashlib
import io
import re
import tarfile
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from oddkout.data.catalogue import KNOWN
from oddkout.data.fetch import download, fetch

CONTENT = bytes(range(256)) * 4000


class Server(ThreadingHTTPServer):
    """Serves ``files``; ``cut_at`` ends an answer early; ``asked`` are the ranges asked for."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.cut_at, self.asked, self.has_ranges = {"/file": CONTENT}, None, [], True

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    """Answers for the server."""

    def do_GET(self):
        content = self.server.files.get(self.path)
        asked = self.headers.get("Range")
        self.server.asked.append(asked)
        if content is None:
            self.send_error(404)
            return
        start = int(re.fullmatch(r"bytes=(\d+)-", asked)[1]) if asked else 0
        if asked and self.server.has_ranges:
            if start >= len(content):
                self.send_error(416)
                return
            self.send_response(206)
            content = content[start:]
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: self.server.cut_at])

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


MD5 = hashlib.md5(CONTENT).hexdigest()


def test_a_file_is_downloaded_with_progress(server, tmp_path):
    seen = []
    file = tmp_path / "deep" / "file"
    download(f"{server.address}/file", file, checksum=MD5, progress=lambda *step: seen.append(step))
    assert file.read_bytes() == CONTENT
    assert seen[-1] == ("file", len(CONTENT), len(CONTENT))
    assert [path.name for path in file.parent.iterdir()] == ["file"]


def test_a_missing_file_is_said_to_be_missing(server, tmp_path):
    with pytest.raises(OSError, match="answered 404 Not Found; try later, or put the file"):
        download(f"{server.address}/other", tmp_path / "file", checksum=MD5)
    assert not list(tmp_path.iterdir())


def test_a_server_that_is_not_there_is_said_to_be_out_of_reach(server, tmp_path):
    gone = server.address.replace("127.0.0.1", "127.0.0.2")
    with pytest.raises(OSError, match=r"cannot be fetched .*; try again later"):
        download(f"{gone}/file", tmp_path / "file", checksum=MD5)


@pytest.mark.parametrize("has_ranges", [True, False])
def test_a_cut_connection_is_resumed(server, tmp_path, has_ranges):
    server.cut_at, server.has_ranges = 300_000, has_ranges
    file = tmp_path / "file"
    with pytest.raises(OSError, match="cut off after 300,000 of 1,024,000 bytes; run the same"):
        download(f"{server.address}/file", file, checksum=MD5)
    assert not file.exists()
    server.cut_at = None
    download(f"{server.address}/file", file, checksum=MD5)
    assert file.read_bytes() == CONTENT
    assert server.asked == [None, "bytes=300000-"]


def test_a_part_that_is_the_whole_already_is_taken(server, tmp_path):
    (tmp_path / "file.part").write_bytes(CONTENT)
    download(f"{server.address}/file", tmp_path / "file", checksum=MD5)
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_a_wrong_checksum_leaves_nothing_behind(server, tmp_path):
    with pytest.raises(ValueError, match=f"whose MD5 is {MD5}, not 0123; it was deleted"):
        download(f"{server.address}/file", tmp_path / "file", checksum="0123")
    assert not list(tmp_path.iterdir())


def tar_of(members):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def cifar_from(server, archive):
    server.files["/cifar.tar.gz"] = archive
    checksum = hashlib.md5(archive).hexdigest()
    return replace(
        KNOWN["cifar100"],
        train={"train": ""},
        test={"test": ""},
        downloads={f"{server.address}/cifar.tar.gz": checksum},
    )


def test_an_archive_is_unpacked_into_torchvisions_folder_once(server, tmp_path):
    files = {"cifar-100-python/train": b"abc", "cifar-100-python/test": b"de"}
    known = cifar_from(server, tar_of(files))
    for _ in range(2):
        folder = fetch(known, data_dir=tmp_path)
        assert folder == tmp_path / "cifar-100-python"
        assert (folder / "train").read_bytes() == b"abc"
    assert len(server.asked) == 1, "what is there is not downloaded again"


def test_an_archive_that_writes_elsewhere_is_refused(server, tmp_path):
    known = cifar_from(server, tar_of({"../outside": b"x", "cifar-100-python/train": b"abc"}))
    with pytest.raises(ValueError, match="cannot be unpacked safely"):
        fetch(known, data_dir=tmp_path / "data")
    assert not (tmp_path / "outside").exists()


def test_an_archive_without_the_files_is_refused(server, tmp_path):
    known = cifar_from(server, tar_of({"cifar-100-python/train": b"abc"}))
    with pytest.raises(ValueError, match="must hold cifar-100-python/test, but does not"):
        fetch(known, data_dir=tmp_path)


def test_single_files_go_into_torchvisions_folder(server, tmp_path):
    known = replace(KNOWN["mnist"], downloads={f"{server.address}/file": MD5})
    assert (fetch(known, data_dir=tmp_path) / "file").read_bytes() == CONTENT


def test_digits_need_no_fetching():
    with pytest.raises(ValueError, match="digits comes with scikit-learn"):
        fetch(KNOWN["digits"])
