"""The report of a reproduction."""

import json

from made_up import TEN_SHOT, made_up

from oddkout.paper.evidence import Evidence
from oddkout.paper.figures import PAPER_FIGURES
from oddkout.paper.presets import PRESETS
from oddkout.paper.reproduction import reproduction_json, write_reproduction
from oddkout.paper.settings import Setting


def test_the_report_of_a_reproduction_is_complete(tmp_path):
    runs = [
        made_up(setting, name, seed=seed, predictions=name in ("oko", "bb"))
        for setting in (TEN_SHOT, Setting("mnist", "heavy-tailed", 10))
        for name in ("oko", "bb", "pair", "oko-soft")
        for seed in (40, 41)
    ]
    evidence = Evidence(runs, PRESETS["paper"])
    absent = write_reproduction(evidence, tmp_path)
    assert set(absent) == {"8"}  # CIFAR has no runs
    assert len(PAPER_FIGURES) == 15
    drawn = {file.stem for file in tmp_path.glob("figure-*.svg")}
    assert drawn == {f"figure-{figure.name}" for figure in PAPER_FIGURES if figure.name != "8"}
    page = (tmp_path / "results.html").read_text()
    assert page.count("<figure>") == 14
    assert "http://www.w3.org/2000/svg" in page
    assert "src=" not in page  # nothing is loaded from elsewhere
    assert (tmp_path / "results.tex").read_text().count(r"\begin{tabular}") >= 6
    assert json.loads((tmp_path / "results.json").read_text()) == reproduction_json(evidence)
