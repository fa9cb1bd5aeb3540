"""All readers, each with an original to damage: a file, how it is mutated, and who reads it."""

import gzip
import io
import shutil
import socket
import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from formats import COLOUR, IMAGES, batch_bytes, idx_bytes
from hostile.mutations import mutated_bytes, mutated_json, mutated_text
from hostile.originals import compared_in, trained_in
from PIL import Image
from safetensors.torch import save_file

import oddkout as oko
from oddkout.cli.prior import prior_value
from oddkout.cli.terminal import printable
from oddkout.comparing.saved import load_comparison
from oddkout.comparing.store import RunStore
from oddkout.comparing.tables import comparison_text
from oddkout.comparing.winner import compared_winner
from oddkout.data import fetch
from oddkout.data.cells import safe_cell
from oddkout.data.cifar import read_cifar_batch
from oddkout.data.examples import read_columns
from oddkout.data.idx import read_idx
from oddkout.data.images import ImageFiles
from oddkout.data.npz import read_npz
from oddkout.data.table_files import read_table
from oddkout.decisions.cost_table import cost_table
from oddkout.evaluation.files import LabelColumns, read_predictions
from oddkout.fitting.checkpoint import load_checkpoint, save_checkpoint
from oddkout.fitting.weights import load_weights
from oddkout.models.foreign import ForeignModel, load_foreign, save_foreign
from oddkout.models.forest import Forest
from oddkout.paper.lines import read_lines

PICTURES = {"png": "L", "jpeg": "RGB", "gif": "L", "tiff": "RGB", "bmp": "L", "webp": "RGB"}
NEW = pd.DataFrame({"u": [0.1, None], "v": [1.0, 2.0], "w": ["p", "new"]})


@dataclass
class Target:
    """A file that is damaged, again and again.

    Attributes:
        path: The file.
        read: Called with it.
        mutate: Makes a damaged content.
        original: The content that is damaged.
    """

    path: Path
    read: object
    mutate: object = mutated_bytes
    original: bytes = b""

    def __post_init__(self):
        if self.original:
            self.path.write_bytes(self.original)
        self.original = self.path.read_bytes()


def saved(write, **options):
    """The bytes that a function writes to a stream."""
    out = io.BytesIO()
    write(out, **options)
    return out.getvalue()


def picture(kind, mode="L"):
    return saved(lambda out: Image.fromarray(IMAGES[0]).convert(mode).save(out, kind))


def read_image(path):
    return ImageFiles([path], size=(4, 4), is_grey=True)[0]


def used_model(path):
    """Load the classifier of a file, predict and decide with it."""
    classifier = oko.Classifier.load(path.parent)
    classifier.predict_proba(NEW)
    classifier.decide(NEW, risk=0.3)


def answered(path):
    """Download from a server that answers with the content of the file."""
    content = path.read_bytes()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_serve, args=(listener, content))
        thread.start()
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/file"
        try:
            fetch.download(address, path.with_suffix(".fetched"), checksum="0" * 32)
        finally:
            thread.join()


def _serve(listener, content):
    listener.settimeout(5)
    try:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65_536)
            connection.sendall(content)
    except OSError:
        pass


def harmless(path):
    """What commands print of names: no formula, no control character."""
    text = path.read_bytes().decode("latin-1")
    cell = safe_cell(text)
    try:
        float(text)
    except ValueError:
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert not any(
        (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 for c in printable(text)
    )


def targets(folder):
    """All targets, with their files in a folder; those of ``originals`` may be there already."""
    made = _tables(folder) | _images(folder) | _models(folder) | _comparisons(folder)
    made["cells"] = Target(folder / "cells", harmless, original=b"=cmd()\x1b[2J")
    made["prior"] = Target(
        folder / "prior", lambda path: prior_value(path.read_bytes().decode("latin-1")),
        mutated_text, b"0.2,0.8",
    )  # fmt: skip
    made["http"] = Target(
        folder / "http", answered,
        original=b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: y\r\n\r\nhello",
    )  # fmt: skip
    made["http chunks"] = Target(
        folder / "chunks", answered,
        original=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    )  # fmt: skip
    return made


def _tables(folder):
    csv = "u,v,y\n" + "\n".join(f"{i},{'pq'[i % 2]},{'ab'[i % 2]}" for i in range(12))
    frame = pd.DataFrame({"u": range(12), "v": ["p", "q"] * 6, "y": list("aabb") * 3})
    arrays = {"x": np.arange(24.0).reshape(12, 2), "y": np.arange(12) % 2}
    predictions = "id,ill,well,label\n" + "\n".join(
        f"{i},0.{i},0.{10 - i},ill" for i in range(1, 9)
    )
    scores = {"probs": np.full((6, 2), 0.5), "labels": np.arange(6) % 2}

    def load(path):
        return oko.load_data(path, target="y")

    files = {
        "csv": ("a.csv", load, mutated_text, csv.encode()),
        "tsv": ("a.tsv", load, mutated_text, csv.replace(",", "\t").encode()),
        "columns": ("b.csv", lambda path: read_columns(path, ["u"]), mutated_text, csv.encode()),
        "xlsx": ("a.xlsx", read_table, mutated_bytes, saved(frame.to_excel, index=False)),
        "parquet": ("a.parquet", load, mutated_bytes, saved(frame.to_parquet)),
        "npz": ("a.npz", read_npz, mutated_bytes, saved(lambda out: np.savez(out, **arrays))),
        "npz, packed": (
            "b.npz", load, mutated_bytes, saved(lambda out: np.savez_compressed(out, **arrays)),
        ),
        "predictions.csv": ("p.csv", read_predictions, mutated_text, predictions.encode()),
        "labels.csv": (
            "l.csv",
            lambda path: read_predictions(
                path, columns=LabelColumns(labels=path, id="id", target="label")
            ),
            mutated_text, predictions.encode(),
        ),
        "predictions.npz": (
            "p.npz", read_predictions, mutated_bytes, saved(lambda out: np.savez(out, **scores)),
        ),
        "costs": (
            "costs.csv", lambda path: cost_table(path, classes=["a", "b"]), mutated_text,
            b",a,b,refer\na,0,1,0.2\nb,9,0,0.2\n",
        ),
    }  # fmt: skip
    return {
        name: Target(folder / file, read, mutate, content)
        for name, (file, read, mutate, content) in files.items()
    }


def _images(folder):
    made = {
        kind: Target(folder / f"a.{kind}", read_image, original=picture(kind, mode))
        for kind, mode in PICTURES.items()
    }
    made["idx"] = Target(folder / "idx", read_idx, original=idx_bytes(IMAGES))
    made["idx.gz"] = Target(folder / "idx.gz", read_idx, original=gzip.compress(idx_bytes(IMAGES)))
    made["cifar"] = Target(
        folder / "batch", read_cifar_batch, original=batch_bytes(COLOUR[:2], [0, 1])
    )
    return made


def _models(folder):
    from sklearn.linear_model import LogisticRegression

    if not (folder / "model").exists():
        trained_in(folder)
    model = folder / "model"
    forest = Forest(2, features=3).fit(
        torch.rand(40, 3, generator=torch.Generator().manual_seed(0)), torch.arange(40) % 2, seed=0
    )
    save_file(forest.state_dict(), folder / "forest")
    network = torch.nn.Linear(3, 2)
    optimiser = torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9)
    network(torch.ones(1, 3)).sum().backward()
    optimiser.step()
    save_checkpoint(
        folder / "checkpoint", 5, [{"update": 5, "loss": 0.5}], network, optimiser, None,
        snapshots={5: network.state_dict()}, run="digest",
    )  # fmt: skip
    linear = LogisticRegression().fit(np.eye(4), [0, 1, 0, 1])
    save_foreign(ForeignModel(linear, classes=2), folder / "model.skops")
    return {
        "card": Target(model / "card.json", used_model, mutated_json),
        "weights": Target(model / "model.safetensors", used_model),
        "held-out": Target(model / "held-out.safetensors", used_model),
        "forest": Target(folder / "forest", lambda path: load_weights(path, Forest(2, features=3))),
        "checkpoint": Target(
            folder / "checkpoint",
            lambda path: load_checkpoint(path, network, optimiser, None, run="digest", updates=10),
        ),
        "skops": Target(folder / "model.skops", lambda path: load_foreign(path, classes=2)),
    }


def _comparisons(folder):
    runs = folder / "runs"
    if not runs.exists():
        compared_in(folder)
    comparison = load_comparison(runs)
    run = runs / comparison.by_method["oko"][0].config.id
    lines = folder / "lines"
    lines.mkdir()
    line = (run / "run.json").read_bytes().replace(b"\n", b"")

    # Each target damages a copy of its own.
    copies = {name: shutil.copytree(runs, folder / name) for name in ("c", "n", "w")}
    shutil.copy(folder / "table.csv", folder / "c")
    return {
        "run": Target(run / "run.json", lambda path: RunStore(runs).runs(), mutated_json),
        "run, shown": Target(
            copies["c"] / run.name / "run.json",
            lambda path: comparison_text(load_comparison(copies["c"])), mutated_json,
        ),
        "run, predictions": Target(
            copies["n"] / run.name / "predictions.npz",
            lambda path: load_comparison(copies["n"]),
        ),
        "comparison": Target(
            copies["w"] / "comparison.json",
            lambda path: compared_winner(copies["w"], source=folder / "table.csv"), mutated_json,
        ),
        "lines": Target(
            lines / "runs-other.jsonl", lambda path: read_lines(lines, kind="runs"),
            mutated_json, line,
        ),
    }  # fmt: skip
