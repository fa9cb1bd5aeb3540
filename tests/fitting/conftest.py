"""Fixtures of the tests of training."""

import pytest
import torch

from oddkout import as_tensor, load_data, subset


@pytest.fixture(scope="module")
def digits():
    data = load_data("digits")
    few = subset(data.y_train, examples=200, distribution="heavy-tailed", seed=0)
    x, y = as_tensor(data.x_train)[few], torch.tensor(data.y_train[few])
    return x, y, as_tensor(data.x_test), torch.tensor(data.y_test)
