"""No cell of a table that could name a person is in any file that a command writes."""

import io
import zipfile

import numpy as np
import pandas as pd
import pytest
from grids import here

import oddkout as oko
from oddkout.cli import main

SECRETS = {
    "text": "xqcomplained",  # in a note of one patient
    "repeated text": "xqroutine",  # in the same sentence of fifty patients
    "identifier": "XQMRN",  # a different one in each row
    "number": "88112233",  # of a column of identifiers, near-unique integers
    "rare category": "xqleprosy",  # in two rows
    "group": "XQPATIENT",
    "path": "/home/xqclinic",
    "folder": "xqfolder",  # where the table is
}
QUICK = ["--learning-rates", "0.1", "--folds", "2", "--updates", "20"]


def secret_table(path, *, rows=180):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, rows)
    notes = [f"patient {i} xqcomplained of {rng.normal():.3f} things" for i in range(rows)]
    frame = pd.DataFrame(
        {
            "note": notes,
            "template": ["xqroutine control of the patient, nothing else to be reported"] * rows,
            "mrn": [f"XQMRN-{i:06}" for i in range(rows)],
            "case_id": 88_112_233_000 + rng.permutation(rows) * 7919,
            "patient": [f"XQPATIENT{i // 3}" for i in range(rows)],
            "image": [f"/home/xqclinic/{i}.png" for i in range(rows)],
            "disease": rng.choice(["flu", "cold"], rows),
            "dose": (rng.normal(size=rows) + y).round(4),
            "y": np.array(["well", "ill"])[y],
        }
    )
    frame.loc[[0, 100], "disease"] = "xqleprosy"
    path.parent.mkdir(exist_ok=True)
    frame.to_csv(path, index=False)
    return path


def contents(file):
    """Bytes of a file; those of its members, too, if it is an archive, which may be compressed."""
    yield file.read_bytes()
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(io.BytesIO(file.read_bytes())) as archive:
            yield from (name.encode() for name in archive.namelist())
            yield from (archive.read(name) for name in archive.namelist())


def leaks(folder):
    """Kinds of secrets, with the files that hold them."""
    found = {}
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        for content in contents(file):
            for kind, secret in SECRETS.items():
                for encoding in ("utf-8", "utf-16-le", "utf-32-le"):  # NumPy stores text as UTF-32
                    if secret.encode(encoding) in content:
                        found.setdefault(kind, set()).add(file.name)
    return found


def test_a_secret_is_found_wherever_it_is(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", names=np.array(["XQMRN-1"]))
    (tmp_path / "b.json").write_text('{"note": "he xqcomplained"}')
    assert leaks(tmp_path) == {"identifier": {"a.npz"}, "text": {"b.json"}}
    assert len(leaks(secret_table(tmp_path / "data" / "t.csv").parent)) == len(SECRETS) - 1


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("extra", [[], ["--text", "note"]])
def test_models_and_exports_hold_none(tmp_path, capsys, extra):
    table = secret_table(tmp_path / "xqfolder" / "visits.csv")
    model = tmp_path / "out" / "model"
    options = [str(table), "--target", "y", "--group", "patient", *QUICK, *extra]
    assert main(["train", *options, "--out", str(model)]) == 0
    printed = capsys.readouterr().out
    assert "column 'mrn' is left out" in printed
    assert "column 'template' is left out, because it holds free text" in printed
    if not extra:  # text cannot be exported
        for name in ("model.onnx", "model.pt2"):
            kind = "onnx" if name.endswith("onnx") else "torch"
            path = tmp_path / "out" / name
            assert main(["export", str(model), "--out", str(path), "--format", kind]) == 0
    assert leaks(tmp_path / "out") == {}
    card = (model / "card.json").read_text()
    assert '"(rare)"' in card
    assert "visits" in card, "the name of the file, without folder and suffix, is in the card"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kinds", [{}, {"text": ["note"], "numeric": ["case_id"]}])
def test_comparisons_hold_none_but_the_path_of_the_data(tmp_path, kinds):
    """The report shows rows of the test part, even of columns that look like identifiers."""
    table = secret_table(tmp_path / "xqfolder" / "visits.csv")
    out = tmp_path / "runs"
    comparison = oko.compare(
        table, target="y", group="patient", methods=["vanilla"], seeds=1, learning_rates=[0.1],
        folds=2, recipe={"updates": 20}, executor=here, out=out, **kinds,
    )  # fmt: skip
    page = comparison.report(out)["html"].read_text()
    assert "The most confident mistakes of" in page
    assert set(leaks(out)) == {"folder"}, "compare needs the path to resume"
    plain = comparison.report(tmp_path / "plain", mistakes=False)["html"].read_text()
    assert "mistakes" not in plain.partition("</style>")[2]
    if kinds:  # the card of a model holds the mean of a column that a user calls numeric
        return
    best = ["train", str(table), "--method", "best", "--from", str(out), "--out"]
    assert main([*best, str(tmp_path / "best")]) == 0
    assert leaks(tmp_path / "best") == {}
