"""Train one model with cross-entropy and with odd-k-out on few, unevenly labelled digits.

The data are scikit-learn's embedded digits: 200 training examples, 90 % of which are meant for
three classes. Both methods make the same number of updates on as many examples each.
"""

import sys

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import oddkout as oko

UPDATES = 800


def train(x, y, criterion, batches, seed):
    """Fit the network to the given batches and return it without its odd-class head."""
    torch.manual_seed(seed)
    hidden = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU())
    model = nn.Sequential(nn.Flatten(), hidden, nn.Linear(128, 10))
    if isinstance(criterion, oko.OddKOutLoss):
        model = oko.with_odd_head(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, UPDATES)
    for batch in batches:
        optimizer.zero_grad()
        criterion(model(x[batch]), y[batch]).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return oko.without_odd_head(model).eval()


if __name__ == "__main__":
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    data = oko.load_data("digits")
    x_test, y_test = oko.as_tensor(data.x_test), torch.as_tensor(data.y_test)
    results = {"cross-entropy": [], "odd-k-out": []}
    for seed in range(seeds):
        few = oko.subset(data.y_train, examples=200, distribution="heavy-tailed", seed=seed)
        x, y = oko.as_tensor(data.x_train)[few], torch.as_tensor(data.y_train)[few]
        drawn = np.random.default_rng(seed).integers(len(y), size=(UPDATES, 30))
        pools = oko.ClassBalancedBatchSampler(y, examples_per_class=3, batches=UPDATES, seed=seed)
        ways = (F.cross_entropy, torch.tensor(drawn)), (oko.OddKOutLoss(k=1), pools)
        for found, (criterion, batches) in zip(results.values(), ways, strict=True):
            probs = train(x, y, criterion, batches, seed)(x_test).detach().softmax(dim=1)
            accuracy = oko.metrics.accuracy(probs, y_test).item()
            found.append((accuracy, oko.metrics.expected_calibration_error(probs, y_test).item()))
    print(f"{'method':<15}{'accuracy':>18}{'ECE':>18}   (mean and sd over {seeds} seeds)")
    for method, found in results.items():
        (accuracy, ece), spread = np.mean(found, 0), np.std(found, 0, ddof=int(seeds > 1))
        print(f"{method:<15}{accuracy:>10.1%} ± {spread[0]:>5.1%}{ece:>10.3f} ± {spread[1]:.3f}")
