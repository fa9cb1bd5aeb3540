"""The digest of predictions: the same figures and claims as from the predictions themselves."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from made_up import TEN_SHOT, made_up

import oddkout as oko
from oddkout.paper.digest import ENTROPY_BINS, certainty, digest, entropies, reliability
from oddkout.paper.lines import merge_lines, read_lines
from oddkout.paper.settings import Setting

HEAVY = Setting("mnist", "heavy-tailed", 20)


def predicting_run(setting=TEN_SHOT, *, scale=3.0, shift=0.0, examples=4000, **changes):
    """A run whose labels follow its logits, which are then scaled and shifted."""
    source = torch.Generator().manual_seed(5)
    logits = 1.5 * torch.randn(examples, 10, generator=source)
    labels = logits.softmax(dim=1).multinomial(1, generator=source)[:, 0]
    logits = scale * logits + torch.as_tensor(shift)
    run = replace(
        made_up(setting, "oko"), logits=logits.numpy(), labels=labels.numpy(),
        train_counts=[10] * 10, **changes,
    )  # fmt: skip
    return replace(run, extras=digest(run))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run that went through a line, without its predictions; and the one with them."""
    whole = predicting_run()
    folder = tmp_path_factory.mktemp("lines")
    merge_lines(folder, [whole])
    [read] = read_lines(folder)
    assert read.logits is None
    return read, whole


def test_the_reliability_diagram_is_that_of_the_predictions(run):
    read, whole = run
    expected = oko.metrics.reliability_curve(logits=whole.logits, labels=whole.labels, bins=10)
    found = reliability(read)
    for name in ("low_edge", "high_edge", "count", "confidence", "accuracy", "null_low"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-6)
    assert found.error == pytest.approx(expected.error, rel=1e-6)


def test_entropies_are_those_of_the_predictions_to_half_a_bin(run):
    read, whole = run
    logits = whole.logits.astype(float)
    probs = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    entropy = -(probs * np.log(probs)).sum(axis=1)
    is_right = logits.argmax(axis=1) == whole.labels
    found, hits = entropies(read, classes=10)
    half_a_bin = np.log(10) / ENTROPY_BINS / 2
    for chosen in (True, False):
        gaps = np.sort(found[hits == chosen]) - np.sort(entropy[is_right == chosen])
        assert np.abs(gaps).max() <= half_a_bin + 1e-9
    limit = np.log(10) / 2
    expected = (entropy[is_right] < limit).mean(), (entropy[~is_right] > limit).mean()
    assert certainty(read) == pytest.approx(expected)


def test_a_temperature_fitted_to_the_other_half_undoes_a_scale(run):
    """Logits three times too large: T is 3, and the NLL is that of the unscaled logits."""
    read, whole = run
    log_probs = torch.from_numpy(whole.logits / 3).double().log_softmax(dim=1)
    ideal = -log_probs[torch.arange(4000), torch.from_numpy(whole.labels)].mean().item()
    raw = oko.evaluate(whole.logits, whole.labels, replicates=40)["nll"].value
    assert read.extras["temperature"]["nll"] == pytest.approx(ideal, abs=0.002)
    assert read.extras["temperature"]["nll"] > ideal, "the other half does not fit as well"
    assert raw > ideal + 0.5
    assert "adjusted" not in read.extras, "with equal classes it would change nothing"


def test_prior_adjustment_undoes_a_preference_for_frequent_classes():
    counts = [60, 60, 60, 5, 5, 5, 5, 5, 5, 5]
    run = predicting_run(HEAVY, scale=1.0, shift=np.log(counts))
    run = replace(run, train_counts=counts)
    found = digest(run)
    plain = predicting_run(scale=1.0)
    assert found["adjusted"]["nll"] == pytest.approx(plain.extras["temperature"]["nll"], abs=0.004)
    assert found["temperature"]["nll"] > found["adjusted"]["nll"] + 0.1
    assert found["adjusted"]["accuracy"] > found["temperature"]["accuracy"] + 0.05


def test_without_predictions_there_is_no_digest():
    bare = made_up(TEN_SHOT, "oko")
    assert digest(bare) == {}
    assert reliability(bare) is entropies(bare, classes=10) is certainty(bare) is None


def test_if_all_predictions_are_correct_there_is_no_share_of_wrong_ones():
    run = predicting_run(examples=50)
    run = replace(run, labels=run.logits.argmax(axis=1))
    assert certainty(replace(run, extras=digest(run))) is None


def test_a_line_with_its_digest_is_short(run, tmp_path):
    merge_lines(tmp_path, [run[1]])
    text = (tmp_path / "paper-mnist.jsonl").read_text()
    assert set(json.loads(text)["extras"]) == {"reliability", "entropy", "temperature"}
    assert len(text) < 2500
