"""Fingerprints: data are identified by their content, not by their path."""

from dataclasses import replace

from grids import SMALL

from oddkout.comparing.fingerprint import fingerprint, identified


def test_data_are_known_by_their_content_not_by_their_path(tmp_path, monkeypatch):
    for folder in ("here", "there", "changed"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.csv").write_text("x,y\n1,2\n" if folder != "changed" else "x,y\n")
    monkeypatch.chdir(tmp_path / "here")
    absolute, relative, moved, changed = (
        identified(replace(SMALL, data=str(path)))
        for path in (
            tmp_path / "here" / "a.csv",
            "a.csv",
            tmp_path / "there" / "a.csv",
            tmp_path / "changed" / "a.csv",
        )
    )
    assert absolute.id == relative.id == moved.id != changed.id
    assert relative.data == str(tmp_path / "here" / "a.csv"), "workers stand elsewhere"
    with_test = identified(replace(SMALL, data="a.csv", test="../changed/a.csv"))
    swapped = identified(replace(SMALL, data="../changed/a.csv", test="a.csv"))
    assert len({with_test.id, swapped.id, relative.id}) == 3
    assert identified(SMALL) == SMALL, "digits are digits everywhere"


def test_a_fingerprint_of_a_folder_sees_names_and_contents(tmp_path):
    def folder(name, **files):
        for path, content in files.items():
            file = tmp_path / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
        return fingerprint(tmp_path / name)

    first = folder("first", a="1", b="2")
    assert folder("same", b="2", a="1") == first
    others = [
        folder("swapped", a="2", b="1"),
        folder("renamed", a="1", c="2"),
        folder("one", a="1"),
        folder("glued", a="1b2"),
        folder("nested", **{"a": "1", "d/b": "2"}),
    ]
    assert len({first, *others}) == 6
