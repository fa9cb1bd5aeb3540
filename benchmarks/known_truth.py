"""Temperature and strength of prior adjustment where the truth is known: what each rule loses.

python benchmarks/known_truth.py   writes results/known-truth.jsonl, half a minute

Logits of ten heavy-tailed classes are drawn, then labels by softmax(logits / T - tau log pi). Rules
are fitted to n examples, classes weigh the same, and the loss is the NLL on 20,000 fresh examples
above that of the true T and tau. Means over 100 draws of the examples and six pairs (T, tau).
"""

import json
from itertools import product
from statistics import fmean, stdev

import lines
import torch
import torch.nn.functional as F

from oddkout.calibrators import AdjustedTemperature, adjusted_temperature
from oddkout.calibrators.temperature import example_weights

LINES = lines.FOLDER / "known-truth.jsonl"
SHARES = torch.tensor([0.3, 0.3, 0.3, *[0.1 / 7] * 7], dtype=torch.float64)
TRUTHS = list(product((0.5, 1.0, 2.0), (0.0, 1.0)))
SIZES = (50, 200, 1000)
DRAWS = 100
FRESH = 20_000


def sample(examples, temperature, strength, source):
    """Logits that a network might have, and labels for them, by the class frequencies."""
    labels = SHARES.multinomial(examples, replacement=True, generator=source)
    noise = 1.5 * torch.randn(examples, 10, generator=source, dtype=torch.float64)
    evidence = noise + 3 * F.one_hot(labels, 10)
    # Given the evidence, the posterior at equal frequencies is softmax(3 / 1.5^2 * evidence).
    posterior = evidence * 3 / 1.5**2
    return temperature * (posterior + strength * SHARES.log()), labels


def rules(logits, labels):
    """Every rule, fitted."""

    def fit(weight, **options):
        adjusted_temperature.WEIGHT_OF_DEFAULTS = weight
        return AdjustedTemperature(SHARES).fit(logits, labels, is_balanced=True, **options)

    return {
        "none": AdjustedTemperature(SHARES),
        "temperature": fit(3.0, has_strength=False),
        "both, no weak prior": fit(0.0),
        "both": fit(3.0),
    }


def balanced_nll(logits, labels):
    losses = F.cross_entropy(logits, labels, reduction="none")
    return (example_weights(labels, [1 / logits.shape[1]] * logits.shape[1]) @ losses).item()


def main():
    source = torch.Generator().manual_seed(0)
    found = []
    for size in SIZES:
        losses = {}
        for temperature, strength in TRUTHS:
            fresh, fresh_labels = sample(FRESH, temperature, strength, source)
            truth = AdjustedTemperature(SHARES, temperature=temperature, strength=strength)
            least = balanced_nll(truth(fresh), fresh_labels)
            for _ in range(DRAWS):
                fitted = rules(*sample(size, temperature, strength, source))
                for name, rule in fitted.items():
                    loss = balanced_nll(rule(fresh), fresh_labels) - least
                    losses.setdefault(name, []).append(loss)
        for name, own in losses.items():
            found.append(
                {
                    "examples": size,
                    "rule": name,
                    "mean": fmean(own),
                    "error": stdev(own) / len(own) ** 0.5,
                    "worst": max(own),
                    "draws": len(own),
                }
            )
    LINES.write_text("".join(f"{json.dumps(one)}\n" for one in found))


def markdown():
    """The table of the recorded losses."""
    rows = ["| examples | rule | NLL above the truth | worst draw |", "| --- | --- | --- | --- |"]
    rows += [
        f"| {one['examples']} | {one['rule']} | {one['mean']:+.4f} ± {one['error']:.4f} | "
        f"{one['worst']:+.3f} |"
        for one in lines.read(LINES)
    ]
    return "\n".join(rows)


if __name__ == "__main__":
    main()
