"""Clusters of classes."""

import numpy as np

from oddkout.decisions.clusters import clustered_classes, weighted_k_means


def test_classes_with_the_same_scores_share_a_cluster_and_others_do_not():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(40), 200)
    scores = rng.random(len(labels)) * np.where(labels % 2 == 0, 0.2, 1.0)
    found = clustered_classes(scores, labels, classes=40, alpha=0.1, seed=0)
    even, odd = set(found.cluster_of[::2]), set(found.cluster_of[1::2])
    assert not even & odd
    assert 0 not in even | odd
    assert 0.25 < found.is_used.mean() < 0.45, "40 / (75 + 40) of the examples"


def test_rare_classes_are_a_cluster_of_their_own():
    rng = np.random.default_rng(0)
    labels = np.concatenate([np.repeat(np.arange(20), 200), [20, 20, 21]])
    found = clustered_classes(rng.random(len(labels)), labels, classes=22, alpha=0.1, seed=0)
    assert (found.cluster_of[20:] == 0).all()


def test_few_examples_are_one_cluster():
    labels = np.arange(60) % 20
    found = clustered_classes(np.linspace(0, 1, 60), labels, classes=20, alpha=0.1, seed=0)
    assert (found.cluster_of == 0).all()


def test_weights_move_the_centres():
    points, rng = np.array([[0.0], [1.0], [3.0]]), np.random.default_rng(0)
    heavy = [
        weighted_k_means(points, weights=np.array([1.0, 1.0, 1e6]), clusters=2, rng=rng).tolist()
        for _ in range(5)
    ]
    assert all(found[0] == found[1] != found[2] for found in heavy)


def test_equal_points_need_one_cluster():
    found = weighted_k_means(
        np.ones((5, 2)), weights=np.ones(5), clusters=3, rng=np.random.default_rng(0)
    )
    assert set(found) == {0}
