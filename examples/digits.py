"""Train one network with three losses on 200 digits, most of them of three classes.

All methods make the same number of updates with the same number of examples. The test classes are
equally frequent: label smoothing is adjusted for that, odd-k-out trains on balanced batches.
"""

import sys

import numpy as np
import torch
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
    x_test, scores = oko.as_tensor(data.x_test), {}
    for seed in range(seeds):
        few = oko.subset(data.y_train, examples=200, distribution="heavy-tailed", seed=seed)
        x, y = oko.as_tensor(data.x_train)[few], torch.as_tensor(data.y_train)[few]
        natural = torch.tensor(np.random.default_rng(seed).integers(len(y), size=(UPDATES, 30)))
        pools = oko.ClassBalancedBatchSampler(y, examples_per_class=3, batches=UPDATES, seed=seed)
        adjust = oko.calibrators.PriorCorrection([0.1] * 10, train_prior=oko.class_frequencies(y))
        for method, criterion, batches, correct in (
            ("cross-entropy", nn.CrossEntropyLoss(), natural, nn.Identity()),
            ("smoothed, adjusted", nn.CrossEntropyLoss(label_smoothing=0.1), natural, adjust),
            ("odd-k-out", oko.OddKOutLoss(k=1), pools, nn.Identity()),
        ):
            logits = correct(train(x, y, criterion, batches, seed)(x_test).detach())
            report = oko.evaluate(logits, data.y_test, replicates=40)
            values = [report[name].value for name in ("accuracy", "ece", "nll")]
            scores.setdefault(method, []).append(values)
    print(f"{'method':<20}{'accuracy':>8}{'ECE':>16}{'NLL':>16}   (mean ± sd of {seeds} seeds)")
    for method, values in scores.items():
        means, sd = np.mean(values, 0), np.std(values, 0, ddof=int(seeds > 1))
        cells = [f"{mean:>8.3f} ± {spread:.3f}" for mean, spread in zip(means, sd, strict=True)]
        print(f"{method:<20}{''.join(cells)}")
