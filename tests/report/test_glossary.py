"""The glossary has the words of the tables of methods and metrics."""

from dataclasses import replace

from synthetic import fill

from oddkout.fitting.methods import METHODS
from oddkout.metrics.catalogue import CATALOGUE
from oddkout.report.glossary import glossary


def test_every_method_and_measure_is_explained_in_the_words_of_its_own_table(tmp_path):
    _, comparison = fill(tmp_path, methods=["vanilla", "oko"], seeds=1, rates=(0.1,))
    own = replace(comparison.runs[0].config, method="mine", contestant="Mine(depth=3)")
    runs = [*comparison.runs, replace(comparison.runs[0], config=own)]
    (_, methods), (_, measures) = glossary(replace(comparison, runs=runs))
    meanings = dict(methods)
    assert meanings["vanilla"] == METHODS["vanilla"].summary
    assert meanings["oko"] == f"{METHODS['oko'].summary} {METHODS['oko'].source}."
    assert meanings["mine"] == "Your classifier, Mine(depth=3)."
    wanted = [*comparison.compared, *comparison.tried]
    assert [entry.meaning for entry in measures] == [CATALOGUE[name].meaning for name in wanted]
