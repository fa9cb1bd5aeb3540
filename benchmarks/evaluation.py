"""What measuring costs: calibration error against torchmetrics, its memory, and ``evaluate``.

Run with ``make bench``. Times are ratios of two things measured in turn in this run; memory is that
of a process of its own.
"""

import subprocess
import sys

import torch
from ratio import line, quartiles, seconds
from torchmetrics.functional.classification import multiclass_calibration_error

import oddkout as oko

MEMORY = """
import resource, torch, oddkout as oko
values = torch.empty(1_000_000, 100).uniform_(0.1, 1)
values.div_(values.sum(dim=1, keepdim=True))
labels = torch.zeros(1_000_000, dtype=torch.int64)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
{call}
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(1 + (after - before) * 1024 / (values.numel() * values.element_size()))
"""


def copies(call: str) -> float:
    """Peak memory of a call in copies of its input, the input included."""
    program = MEMORY.format(call=call)
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    return float(done.stdout)


def main() -> None:
    print(f"\ntorch {torch.__version__}, {torch.get_num_threads()} threads\n")
    for name, argument in (
        ("expected_calibration_error", "probs"),
        ("expected_calibration_error", "logits"),
        ("classwise_calibration_error", "probs"),
        ("relative_cross_entropy", "logits"),
    ):
        found = copies(f"oko.metrics.{name}({argument}=values, labels=labels)")
        print(
            f"peak memory / input, {name} of {argument}, 1,000,000 x 100\n    {found:.2f}x", end=""
        )
        print("   (target: at most 3)")

    generator = torch.Generator().manual_seed(0)
    probs = torch.randn(1_000_000, 100, generator=generator).mul_(2).softmax(dim=1)
    labels = probs.multinomial(1, generator=generator)[:, 0]
    line(
        "torchmetrics / expected_calibration_error, 1,000,000 x 100 float32, 15 bins",
        quartiles(
            lambda: multiclass_calibration_error(probs, labels, 100, n_bins=15),
            lambda: oko.metrics.expected_calibration_error(probs, labels, bins=15),
            10,
        ),
        10,
        "target: at least 1",
    )
    logits = 2 * torch.randn(10_000, 10, generator=generator)
    classes = logits.softmax(dim=1).multinomial(1, generator=generator)[:, 0]
    line(
        "evaluate with all intervals and null levels / one plain ECE pass, 10,000 x 10",
        quartiles(
            lambda: oko.evaluate(logits, classes),
            lambda: oko.metrics.expected_calibration_error(logits=logits, labels=classes),
            10,
        ),
        10,
        "target: at most 40, or 3 s",
    )
    times = sorted(seconds(lambda: oko.evaluate(logits, classes)) for _ in range(5))
    print(f"    which is {times[2]:.2f} s  range [{times[0]:.2f}, {times[-1]:.2f}]  n=5")


if __name__ == "__main__":
    main()
