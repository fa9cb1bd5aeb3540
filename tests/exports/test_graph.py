"""Graphs are traced for any number of examples, from a copy of the network."""

import numpy as np
import pytest
import torch
from exportable import CLASSES
from torch import nn

import oddkout as oko
from oddkout.exports.graph import ProbabilityGraph, traced
from oddkout.fitting.classifier import Classifier
from oddkout.mixture import Mixture, View
from oddkout.prior import PriorLedger


def test_the_classifier_is_left_as_it_was(folder, tmp_path):
    classifier = Classifier.load(folder / "model")
    before = {name: value.clone() for name, value in classifier.model.state_dict().items()}
    classifier.model.train()
    oko.export(classifier, tmp_path / "model.pt2", format="torch")
    for name, value in classifier.model.state_dict().items():
        torch.testing.assert_close(value, before[name], rtol=0, atol=0)


class Counting(nn.Module):
    """A network that decides by the number of examples."""

    def __init__(self):
        super().__init__()
        self.out = nn.Linear(4, 3)

    def forward(self, x):
        return self.out(x.flatten(1)) * (2 if len(x) == 2 else 1)


def test_a_network_that_counts_its_examples_is_refused(tmp_path):
    classifier = Classifier(
        model=Counting().eval(),
        shape=(4,),
        classes=CLASSES,
        method="oko",
        mixture=Mixture(
            views=(
                View(
                    method="oko",
                    network="mine:Counting",
                    ledger=PriorLedger(
                        assumed=(1 / 3,) * 3, stated=(1 / 3,) * 3, train=(1 / 3,) * 3
                    ),
                ),
            )
        ),
    )
    with pytest.raises(
        ValueError, match=r"'mine:Counting' must be a graph for any number"
    ) as error:
        oko.export(classifier, tmp_path / "m.onnx")
    assert error.value.__cause__ is not None
    assert list(tmp_path.iterdir()) == []


def test_the_stack_of_a_table_can_be_traced_for_any_number_of_rows():
    generator = np.random.default_rng(0)
    x = generator.normal(size=(40, 3))
    classifier = oko.fit(
        (x, x[:, 0] > 0), method="tables", folds=2, recipe={"updates": 5}, test_size=0
    )
    graph = ProbabilityGraph(classifier)
    program = traced(graph, network=classifier.network)
    for rows in (1, 7):
        probs = program.module()(torch.tensor(x[:rows], dtype=torch.float32))
        expected = classifier.predict_proba(x[:rows])
        np.testing.assert_allclose(probs.detach(), expected, atol=1e-5)
