"""The set-sum head and loss for JAX agree with those for PyTorch; skipped without JAX."""

import doctest

import numpy as np
import pytest
import torch

jax = pytest.importorskip("jax")
nnx = pytest.importorskip("flax.nnx")
jnp = jax.numpy

import oddkout as oko  # noqa: E402
from oddkout import flax as oko_flax  # noqa: E402


@pytest.fixture(autouse=True)
def _double_precision():
    with jax.enable_x64(True):
        yield


def pool(k=1, *, classes=4, examples=12, sets=50):
    """Logits, labels and sets of a pool."""
    labels = np.arange(examples) % classes
    logits = np.random.default_rng(0).normal(size=(examples, classes))
    generator = torch.Generator().manual_seed(0)
    drawn = oko_flax.draw_sets(oko.ClassIndex(labels), k=k, sets=sets, generator=generator)
    return logits, labels, drawn


def test_examples_in_the_documentation_hold():
    with jax.enable_x64(False):
        results = doctest.testmod(oko_flax)
    assert results.attempted > 5
    assert results.failed == 0


def test_sets_are_those_of_the_class_index():
    _, labels, sets = pool(k=2)
    generator = torch.Generator().manual_seed(0)
    expected = oko.ClassIndex(labels).draw_sets(k=2, sets=50, generator=generator)
    assert type(sets) is np.ndarray
    assert sets.dtype == np.int32
    np.testing.assert_array_equal(sets, expected.numpy())


@pytest.mark.parametrize("k", [0, 1, 3])
def test_sums_are_those_of_torch(k):
    logits, _, sets = pool(k)
    expected = oko.set_sum(torch.tensor(logits), torch.tensor(sets).long())
    found = jax.jit(oko_flax.set_sum)(logits, sets)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("k", [0, 1, 3])
@pytest.mark.parametrize("targets", ["hard", "soft"])
def test_losses_and_gradients_are_those_of_torch(k, targets):
    logits, labels, sets = pool(k)
    given = torch.tensor(logits, requires_grad=True)
    expected = oko.set_loss(given, torch.tensor(labels), torch.tensor(sets).long(), targets=targets)
    expected.backward()

    def loss(logits, sets):
        return oko_flax.set_loss(logits, labels, sets, targets=targets)

    value, gradient = jax.jit(jax.value_and_grad(loss))(logits, sets)
    assert float(value) == pytest.approx(expected.item(), rel=1e-12)
    np.testing.assert_allclose(gradient, given.grad, rtol=1e-9, atol=1e-15)
    assert float(loss(jnp.asarray(logits), sets)) == pytest.approx(float(value), rel=1e-12)


def test_both_heads_are_trained_as_in_torch():
    """The same weights in both: the same loss, and the same gradient of every weight."""
    features = np.random.default_rng(0).normal(size=(12, 4))
    labels = np.arange(12) % 3
    head = oko_flax.SetSumHead(4, 3, rngs=nnx.Rngs(0))
    sets = oko_flax.draw_sets(oko.ClassIndex(labels), k=1, sets=40)
    model = oko.with_odd_head(torch.nn.Linear(4, 3)).double().train()
    pairs = [(model.model, head.classifier), (model.odd_head, head.odd)]
    for ours, theirs in pairs:
        theirs.kernel = nnx.Param(jnp.asarray(ours.weight.detach().numpy().T))
        theirs.bias = nnx.Param(jnp.asarray(ours.bias.detach().numpy()))
    criterion = oko.OddKOutLoss(k=1, odd_weight=0.7)
    expected = criterion(
        model(torch.tensor(features)), torch.tensor(labels), sets=torch.tensor(sets).long()
    )
    expected.backward()

    @nnx.jit
    def step(head, features, sets, odd_weight):
        return nnx.value_and_grad(
            lambda head: head.loss(features, labels, sets, odd_weight=odd_weight)
        )(head)

    value, gradients = step(head, jnp.asarray(features), sets, 0.7)
    assert float(value) == pytest.approx(expected.item(), rel=1e-12)
    for (ours, _), theirs in zip(pairs, (gradients.classifier, gradients.odd), strict=True):
        np.testing.assert_allclose(theirs.kernel[...], ours.weight.grad.T, rtol=1e-9, atol=1e-15)
        np.testing.assert_allclose(theirs.bias[...], ours.bias.grad, rtol=1e-9, atol=1e-15)
    logits = head(jnp.asarray(features))
    np.testing.assert_allclose(logits, model.eval()(torch.tensor(features)).detach(), rtol=1e-12)


def test_new_sets_compile_nothing_anew():
    traces = []

    @jax.jit
    def loss(logits, labels, sets):
        traces.append(sets.shape)
        return oko_flax.set_loss(logits, labels, sets)

    logits, labels, _ = pool()
    index = oko.ClassIndex(labels)
    values = {
        float(loss(logits, labels, oko_flax.draw_sets(index, k=1, sets=20))) for _ in range(5)
    }
    assert len(values) == 5
    assert len(traces) == 1


def test_half_precision_is_summed_in_float32():
    logits = jnp.array([[256.0], [1.0], [1.0]], dtype=jnp.bfloat16)
    total = oko_flax.set_sum(logits, np.array([[0, 1, 2]]))
    assert total.dtype == jnp.float32
    assert float(total[0, 0]) == 258.0, "in bfloat16 it is 256"


@pytest.mark.parametrize("position", [3, -1])
def test_a_position_outside_of_the_pool_makes_its_sum_nan(position):
    sets = np.array([[0, 1, 2], [0, 1, position]])
    total = jax.jit(oko_flax.set_sum)(jnp.ones((3, 2)), sets)
    assert total[0].tolist() == [3.0, 3.0]
    assert np.isnan(total[1]).all()


def test_pairs_have_no_odd_class_to_name():
    logits, labels, sets = pool(k=0)
    with pytest.raises(ValueError, match="need an odd class to predict, got sets of 2 members"):
        oko_flax.set_loss(jnp.asarray(logits), labels, sets, targets="odd")
    head = oko_flax.SetSumHead(4, 4, rngs=nnx.Rngs(0))
    assert jnp.isfinite(head.loss(jnp.asarray(logits), labels, sets))


def test_a_small_network_learns_digits():
    data = oko.load_data("digits")
    x, labels = data.x_train.reshape(len(data.x_train), -1) / 255, data.y_train
    head = oko_flax.SetSumHead(64, 10, rngs=nnx.Rngs(0))
    index, generator = oko.ClassIndex(labels), torch.Generator().manual_seed(0)

    @nnx.jit
    def step(head, x, labels, sets):
        gradients = nnx.grad(lambda head: head.loss(x, labels, sets, odd_weight=0.1))(head)
        state = jax.tree.map(lambda w, g: w - 0.5 * g, nnx.state(head, nnx.Param), gradients)
        nnx.update(head, state)

    for _ in range(80):
        pool = index.draw_balanced(per_class=3, generator=generator).numpy()
        sets = oko_flax.draw_sets(oko.ClassIndex(labels[pool]), k=1, sets=64, generator=generator)
        step(head, jnp.asarray(x[pool]), labels[pool], sets)
    test = jnp.asarray(data.x_test.reshape(len(data.x_test), -1) / 255)
    assert (np.asarray(head(test)).argmax(axis=1) == data.y_test).mean() > 0.85
