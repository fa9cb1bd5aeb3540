"""Methods: what an update sees, and its loss, against PyTorch and closed forms."""

import pytest
import torch
import torch.nn.functional as F
from scipy.stats import chisquare

from oddkout import focal_loss, set_loss
from oddkout.fitting.methods import METHODS, Objective

LABELS = torch.tensor([0] * 50 + [1] * 20 + [2] * 6 + [3] * 4)


def objective(name, **changes):
    return Objective(METHODS[name], LABELS, **{"classes": 4, "examples": 12, "seed": 0} | changes)


def test_the_paper_and_its_controls_are_all_there():
    paper = {"vanilla", "vanilla+ls", "weighted", "focal", "bb", "bb+ls", "bb+ts", "oko"}
    assert paper | {"oko-soft", "pair", "bb+noise", "bb+ts-fit"} == METHODS.keys()


@pytest.mark.parametrize("name", METHODS)
def test_batches_are_a_function_of_seed_and_update(name):
    first, again, other = objective(name), objective(name), objective(name, seed=1)
    for update in (5, 0, 70, 3, 40):  # of several blocks, in any order
        batch, sets = first.draw(update)
        batch_again, sets_again = again.draw(update)
        assert torch.equal(batch, batch_again)
        assert (sets is None) == (sets_again is None)
        assert sets is None or torch.equal(sets, sets_again)
        assert not torch.equal(batch.sort().values, other.draw(update)[0].sort().values)
    assert not torch.equal(first.draw(0)[0], first.draw(1)[0])


@pytest.mark.parametrize("name", [name for name, how in METHODS.items() if how.loss != "sets"])
def test_the_number_of_sets_means_nothing_to_methods_without_any(name):
    for update in (0, 33):
        few, many = (objective(name, sets=sets).draw(update) for sets in (64, 256))
        assert torch.equal(few[0], many[0])
        assert few[1] is many[1] is None


@pytest.mark.parametrize("examples", [12, 80, 100, 7])
def test_shuffled_epochs_show_every_example_once(examples):
    drawn = objective("vanilla", examples=examples)
    seen = torch.cat([drawn.draw(update)[0] for update in range(80)])[: 80 * (80 * examples // 80)]
    epochs = seen[: len(seen) // 80 * 80].view(-1, 80).sort(dim=1).values
    assert (epochs == torch.arange(80)).all()
    assert not torch.equal(seen[:80], seen[80:160])


def test_balanced_batches_are_uniform_over_classes():
    drawn = objective("bb")
    batches = torch.cat([drawn.draw(update)[0] for update in range(500)])
    assert chisquare(LABELS[batches].bincount()).pvalue > 1e-3


@pytest.mark.parametrize("layout", ["pool", "paper"])
@pytest.mark.parametrize("name", ["oko", "oko-soft", "pair"])
def test_sets_point_into_a_batch_of_distinct_examples(name, layout):
    drawn = objective(name, layout=layout, sets=9)
    for update in range(20):
        batch, sets = drawn.draw(update)
        assert len(batch.unique()) == len(batch)
        assert sets.shape == (9, METHODS[name].k + 2)
        classes = LABELS[batch][sets]
        assert (classes[:, 0] == classes[:, 1]).all()
        assert (batch[sets][:, 0] != batch[sets][:, 1]).all()
        if layout == "pool":
            assert LABELS[batch].bincount().tolist() == [3, 3, 3, 3]
        else:
            assert len(batch) == len(sets.unique()), "each distinct member once"


def test_losses_are_those_of_the_method():
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(12, 4, generator=generator, dtype=torch.float64)
    second = torch.randn(12, 4, generator=generator, dtype=torch.float64)

    def loss(name, output=logits, update=3, head_weight=0.5):
        drawn = objective(name)
        batch, sets = drawn.draw(update)
        found = drawn.loss(output, LABELS[batch], sets, update=update, head_weight=head_weight)
        return found.item(), LABELS[batch], sets

    found, labels, _ = loss("vanilla")
    assert found == pytest.approx(F.cross_entropy(logits, labels).item())
    found, labels, _ = loss("bb+ls")
    assert found == pytest.approx(F.cross_entropy(logits, labels, label_smoothing=0.1).item())
    found, labels, _ = loss("focal")
    assert found == pytest.approx(focal_loss(logits, labels, gamma=2.0).item())
    found, labels, _ = loss("weighted")
    weight = 80 / (4 * LABELS.bincount()).double()
    expected = (weight[labels] * F.cross_entropy(logits, labels, reduction="none")).mean()
    assert found == pytest.approx(expected.item())
    found, labels, sets = loss("oko-soft")
    assert found == pytest.approx(set_loss(logits, labels, sets, targets="soft").item())
    found, labels, sets = loss("oko", (logits, second))
    odd = F.cross_entropy(second[sets].sum(dim=1), labels[sets[:, 2]])
    assert found == pytest.approx((set_loss(logits, labels, sets) + 0.5 * odd).item())

    found, labels, _ = loss("bb+noise", (logits, second))
    plain = F.cross_entropy(logits, labels).item()
    again, other = (loss("bb+noise", (logits, second), update=update) for update in (3, 4))
    assert found == again[0] != other[0]
    assert found - plain > 0.25, "the second head is asked for labels it cannot know"
    without, labels, _ = loss("bb+noise", (logits, second), head_weight=0.0)
    assert without == pytest.approx(plain)


def test_sets_need_pairs_and_other_methods_do_not():
    lonely = torch.tensor([0, 0, 0, 1])
    with pytest.raises(ValueError, match=r"classes \[1\] hold only 1"):
        Objective(METHODS["oko"], lonely, classes=2, examples=4)
    assert len(Objective(METHODS["bb"], lonely, classes=2, examples=4).draw(0)[0]) == 4
