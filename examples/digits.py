"""Train one model with cross-entropy and with odd-k-out on few, unevenly labelled digits.

The data are scikit-learn's embedded digits: 200 training examples, of which 90 % belong to three
classes. Both methods make the same number of updates on as many examples each.
"""

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

import oddkout as oko

UPDATES, SEEDS = 800, 5


def heavy_tailed(labels, examples, rng):
    """Indices of a subset: 90 % in three random classes, at least 5 examples in every class."""
    shares = np.full(10, 0.1 / 7)
    shares[rng.choice(10, 3, replace=False)] = 0.3
    counts = np.maximum(rng.multinomial(examples, shares), 5)
    return np.concatenate([np.flatnonzero(labels == c)[:n] for c, n in enumerate(counts)])


def train(x, y, criterion, batches, seed):
    """Fit the network to the given batches and return it without its odd-class head."""
    torch.manual_seed(seed)
    hidden = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU())
    model = nn.Sequential(hidden, nn.Linear(128, 10))
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


def main():
    """Print accuracy and calibration error of both methods, over seeds."""
    x, y = load_digits(return_X_y=True)
    results = {"cross-entropy": [], "odd-k-out": []}
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        x_train, x_test, y_train, y_test = train_test_split(
            torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y), random_state=seed
        )
        chosen = heavy_tailed(y_train.numpy(), 200, rng)
        x_train, y_train = x_train[chosen], y_train[chosen]
        uniform = torch.tensor(rng.integers(len(chosen), size=(UPDATES, 30)))
        pools = oko.ClassBalancedBatchSampler(
            y_train, examples_per_class=3, batches=UPDATES, seed=seed
        )
        for method, criterion, batches in (
            ("cross-entropy", F.cross_entropy, uniform),
            ("odd-k-out", oko.OddKOutLoss(k=1), pools),
        ):
            model = train(x_train, y_train, criterion, batches, seed)
            with torch.no_grad():
                probs = model(x_test).softmax(dim=1)
            accuracy = (probs.argmax(dim=1) == y_test).double().mean().item()
            ece = oko.metrics.expected_calibration_error(probs, y_test).item()
            results[method].append((accuracy, ece))
    print(f"{'method':<15}{'accuracy':>18}{'ECE':>18}   (mean and sd over {SEEDS} seeds)")
    for method, values in results.items():
        (accuracy, ece), (accuracy_sd, ece_sd) = np.mean(values, 0), np.std(values, 0, ddof=1)
        print(f"{method:<15}{accuracy:>10.1%} ± {accuracy_sd:>5.1%}{ece:>10.3f} ± {ece_sd:.3f}")


if __name__ == "__main__":
    main()
