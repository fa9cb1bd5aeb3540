"""A hostile server: whatever it answers, the fetcher ends soon, in one sentence."""

import socket
import threading
import time
from contextlib import contextmanager

import pytest

from oddkout.data import fetch

OK = b"HTTP/1.1 200 OK\r\n"


@contextmanager
def server(*parts, pause=0.0, endless=b""):
    """Answers every request with these bytes; then with ``endless`` ones, over and over."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        try:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65_536)
                for part in parts:
                    connection.sendall(part)
                    time.sleep(pause)
                while endless:
                    connection.sendall(endless)
                    time.sleep(pause)
        except OSError:
            pass  # the client has gone

    thread = threading.Thread(target=serve)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/file"
    listener.close()
    thread.join(timeout=10)
    assert not thread.is_alive()


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\r\n",
        b"nonsense\r\n\r\n",
        b"HTTP/9.9 abc\r\n\r\n",
        b"HTTP/1.1 99999999999 x\r\n\r\n",
        b"HTTP/1.1 " + b"9" * 100_000 + b"\r\n\r\n",
        OK + b"X: " + b"y" * 100_000 + b"\r\n\r\n",
        OK + b"X: y\r\n" * 500 + b"\r\n",
        OK + b"Content-Length: many\r\n\r\nx",
        OK + b"Content-Length: -5\r\n\r\nx",
        OK + b"Content-Length: 99999999999999999999\r\n\r\nx",
        OK + b"Content-Length: 100\r\n\r\nx",
        OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nx\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\nffffffffffff\r\nx",
        OK + b"Transfer-Encoding: chunked\r\n\r\n-5\r\nx",
        OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhel",
        b"HTTP/1.1 301 Moved\r\nLocation: file:///etc/passwd\r\n\r\n",
        b"HTTP/1.1 301 Moved\r\nLocation: http://[::\r\n\r\n",
        b"HTTP/1.1 301 Moved\r\nLocation: gopher://x\r\n\r\n",
        b"HTTP/1.1 206 Partial\r\nContent-Length: 3\r\n\r\nabc",
    ],
    ids=lambda answer: repr(answer[:60]),
)
def test_broken_answers_are_refused_in_one_sentence(answer, tmp_path):
    with server(answer) as address, pytest.raises((OSError, ValueError), match=r"127\.0\.0\.1"):
        fetch.download(address, tmp_path / "file", checksum="0" * 32)
    assert not (tmp_path / "file").exists()


def test_an_endless_answer_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(fetch, "_MOST_BYTES", 5_000_000)
    head = OK + b"\r\n"
    stated = "must give at most 5,000,000 bytes"
    with server(head, endless=b"x" * 100_000) as address, pytest.raises(OSError, match=stated):
        fetch.download(address, tmp_path / "file", checksum="0" * 32)
    assert list(tmp_path.iterdir()) == [], "what came of it is removed"


def test_a_slow_answer_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(fetch, "_MOST_SECONDS", 0.3)
    drip = server(OK + b"\r\n", endless=b"x", pause=0.05)
    with drip as address, pytest.raises(OSError, match=r"within 0\.3 s"):
        fetch.download(address, tmp_path / "file", checksum="0" * 32)
