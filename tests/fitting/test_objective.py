"""Draws and losses of an update equal those of the public samplers and losses."""

import pytest
import torch
import torch.nn.functional as F
from scipy.stats import chisquare

from oddkout import (
    ClassBalancedBatchSampler,
    OddKOutBatchSampler,
    OddKOutLoss,
    PairedBatchSampler,
    class_frequencies,
    class_weights,
    effective_number_weights,
    focal_loss,
    logit_adjusted_cross_entropy,
    weighted_cross_entropy,
)
from oddkout.fitting.budget import Budget
from oddkout.fitting.methods import METHODS
from oddkout.fitting.objective import Objective
from oddkout.pairs import natural_sets

LABELS = torch.tensor([0] * 50 + [1] * 20 + [2] * 6 + [3] * 4)
SET_METHODS = [name for name, method in METHODS.items() if method.loss == "sets"]
POOL_METHODS = [name for name in SET_METHODS if METHODS[name].batches == "pool"]


def objective(name, *, seed=0, **changes):
    budget = Budget(**{"updates": 1, "examples": 12, "sets": 24} | changes)
    return Objective(METHODS[name], LABELS, classes=4, budget=budget, seed=seed)


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


@pytest.mark.parametrize("name", [name for name in METHODS if name not in SET_METHODS])
def test_the_number_of_sets_means_nothing_to_methods_without_sets(name):
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


@pytest.mark.parametrize("layout", ["pool", "paper"])
@pytest.mark.parametrize("name", POOL_METHODS)
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


def public_loss(name, output, labels, sets, *, weight):
    """The loss of a method, from the public losses."""
    method = METHODS[name]
    if method.loss == "sets":
        prior = None
        if method.balance.kind == "adjust":
            prior = PairedBatchSampler(LABELS, pairs=6, batches=1).prior
        criterion = OddKOutLoss(k=method.k, targets=method.targets, odd_weight=weight, prior=prior)
        return criterion(output, labels, sets=sets)
    logits = output[0] if isinstance(output, tuple) else output
    if method.balance.kind == "adjust":
        return logit_adjusted_cross_entropy(
            logits, labels, prior=class_frequencies(LABELS), smoothing=method.smoothing
        )
    if method.loss == "focal":
        return focal_loss(logits, labels, gamma=2.0)
    if method.balance.beta is not None:
        weights = effective_number_weights(LABELS, classes=4, beta=method.balance.beta)
        return weighted_cross_entropy(logits, labels, weight=weights)
    if method.balance.kind == "reweight":
        return weighted_cross_entropy(logits, labels, weight=class_weights(LABELS, classes=4))
    return F.cross_entropy(logits, labels, label_smoothing=float(method.smoothing))


# The loss of ldam+drw depends on the stage; see test_stages.py.
@pytest.mark.parametrize("name", [name for name in METHODS if name != "ldam+drw"])
def test_loss_and_gradient_are_those_of_the_public_losses(name):
    generator = torch.Generator().manual_seed(0)
    drawn = objective(name)
    for update in (0, 3, 40):
        batch, sets = drawn.draw(update)
        labels = LABELS[batch]
        logits = torch.randn(
            len(batch), 4, generator=generator, dtype=torch.float64, requires_grad=True
        )
        odd = torch.randn_like(logits, requires_grad=True)
        output = (logits, odd) if METHODS[name].head == "odd" else logits
        trained = drawn.loss(output, labels, sets, update=update, head_weight=0.5)
        public = public_loss(name, output, labels, sets, weight=0.5)
        torch.testing.assert_close(trained, public, rtol=1e-12, atol=0)
        heads = output if isinstance(output, tuple) else (output,)
        for ours, theirs in zip(
            torch.autograd.grad(trained, heads), torch.autograd.grad(public, heads), strict=True
        ):
            torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-15)


def test_the_noise_head_is_asked_for_labels_it_cannot_know():
    drawn, generator = objective("bb+noise"), torch.Generator().manual_seed(0)
    logits, second = (torch.randn(12, 4, generator=generator) for _ in range(2))
    labels = LABELS[drawn.draw(3)[0]]

    def loss(update, weight):
        return drawn.loss((logits, second), labels, None, update=update, head_weight=weight).item()

    plain = F.cross_entropy(logits, labels).item()
    assert loss(3, 0.0) == pytest.approx(plain)
    assert loss(3, 0.5) == loss(3, 0.5) != loss(4, 0.5)
    assert loss(3, 0.5) - plain > 0.25


def counts_of(batches):
    """How often each example is drawn."""
    return torch.cat(list(batches)).bincount(minlength=len(LABELS))


@pytest.mark.parametrize("name", ["bb", "oko", "pair"])
def test_examples_are_drawn_as_often_as_by_the_public_samplers(name):
    """Chi-square tests of both frequencies against those of the definition."""
    updates = 2000
    drawn = objective(name)
    ours = counts_of(drawn.draw(update)[0] for update in range(updates))
    if name == "bb":
        sampler = ClassBalancedBatchSampler(LABELS, batch_size=12, batches=updates, seed=7)
    else:
        sampler = ClassBalancedBatchSampler(LABELS, examples_per_class=3, batches=updates, seed=7)
    theirs = counts_of(torch.tensor(batch) for batch in sampler)
    expected = (3 * updates / LABELS.bincount().double())[LABELS]
    for counts in (ours, theirs):
        assert counts.sum() == 12 * updates
        # Draws without replacement scatter less than chi-square's: the test is on the safe side.
        assert chisquare(counts, expected).pvalue > 1e-3


@pytest.mark.parametrize("layout", ["pool", "paper"])
@pytest.mark.parametrize("name", ["oko", "oko-soft"])
def test_sets_have_the_classes_that_the_public_sampler_and_loss_draw(name, layout):
    """Every ordered pair of classes (pair, odd) is equally likely."""
    drawn = objective(name, layout=layout, sets=8)
    pairs = []
    for update in range(600):
        batch, sets = drawn.draw(update)
        pairs.append(LABELS[batch][sets][:, [0, 2]])
    ours = torch.cat(pairs)
    sampler = OddKOutBatchSampler(LABELS, k=1, sets_per_batch=8, sets_per_epoch=4800, seed=7)
    theirs = torch.cat([LABELS[batch].view(-1, 3)[:, [0, 2]] for batch in sampler])
    for members in (ours, theirs):
        cells = (4 * members[:, 0] + members[:, 1]).bincount(minlength=16)
        assert cells[[0, 5, 10, 15]].sum() == 0, "the odd class is another one"
        off_diagonal = cells[cells > 0]
        assert len(off_diagonal) == 12
        assert chisquare(off_diagonal).pvalue > 1e-3


def test_natural_pairs_are_those_of_the_public_sampler_and_loss():
    """Frequencies of examples, and of the classes (pair, odd) of sets."""
    updates = 2000
    drawn = objective("oko+la", sets=4)
    sampler = PairedBatchSampler(LABELS, pairs=6, batches=updates, seed=7)
    expected = (12 * updates * sampler.prior / LABELS.bincount())[LABELS]
    ours = counts_of(drawn.draw(update)[0] for update in range(updates))
    theirs = counts_of(torch.tensor(batch) for batch in sampler)
    for counts in (ours, theirs):
        # The two examples of a pair are drawn together, so counts scatter up to twice as much.
        assert chisquare(counts / 2, expected / 2).pvalue > 1e-3

    def cells(batch, sets):
        members = LABELS[batch][sets]
        return 4 * members[:, 0] + members[:, 2]

    source = torch.Generator().manual_seed(0)
    own = torch.cat([cells(*drawn.draw(update)) for update in range(updates)])
    public = torch.cat(
        [
            cells(batch, natural_sets(LABELS[batch], k=1, sets=4, generator=source))
            for batch in map(torch.tensor, sampler)
        ]
    )
    frequencies = torch.stack([one.bincount(minlength=16) for one in (own, public)]).double()
    assert frequencies[:, [0, 5, 10, 15]].sum() == 0
    gaps = (frequencies[0] - frequencies[1]).abs() / (8 * frequencies.mean(dim=0)).sqrt().clamp(
        min=1
    )
    assert gaps.max() < 4, "sets of a batch share its classes, so frequencies scatter more"


@pytest.mark.parametrize("examples", [4, 7, 12])
@pytest.mark.parametrize("name", METHODS)
def test_every_method_forwards_exactly_as_many_examples(name, examples):
    drawn = objective(name, examples=examples)
    assert {len(drawn.draw(update)[0]) for update in range(40)} == {examples}


def test_a_class_of_one_example_forms_pairs_with_itself():
    lonely = torch.tensor([0, 0, 0, 1])
    budget = Budget(updates=1, examples=4, sets=50)
    batch, sets = Objective(METHODS["oko"], lonely, classes=2, budget=budget).draw(0)
    pairs = batch[sets][:, :2]
    is_lonely = lonely[pairs[:, 0]] == 1
    assert is_lonely.any()
    assert (pairs[is_lonely] == 3).all()
    assert (pairs[~is_lonely][:, 0] != pairs[~is_lonely][:, 1]).all()


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"updates": 0}, "updates must be at least 1, got 0"),
        ({"examples": 0}, "examples must be at least 1, got 0"),
        ({"sets": 0}, "sets must be at least 1, got 0"),
    ],
)
def test_impossible_budgets_are_refused(changes, text):
    with pytest.raises(ValueError, match=text):
        Budget(**{"updates": 1, "examples": 12, "sets": 24} | changes)


@pytest.mark.parametrize("layout", ["pool", "paper"])
@pytest.mark.parametrize("name", ["oko", "oko+la"])
def test_pairs_are_of_different_groups_where_a_class_has_several(name, layout):
    """Classes 0 and 1 have three groups each, class 2 only one."""
    labels = torch.tensor([0] * 9 + [1] * 9 + [2] * 4)
    groups = torch.tensor([0] * 7 + [1, 2] + [3, 3, 3, 4, 4, 4, 5, 5, 5] + [6] * 4)
    budget = Budget(updates=40, examples=8, sets=16, layout=layout)
    objective = Objective(METHODS[name], labels, classes=3, budget=budget, groups=groups)
    pairs = []
    for update in range(40):
        batch, sets = objective.draw(update)
        first, second, odd = batch[sets].T
        assert torch.equal(labels[first], labels[second])
        assert (labels[first] != labels[odd]).all()
        pairs.append(torch.stack([first, second], dim=1))
    first, second = torch.cat(pairs).T
    is_separable = labels[first] != 2
    assert is_separable.any()
    assert not is_separable.all()
    assert (groups[first] != groups[second])[is_separable].all()
