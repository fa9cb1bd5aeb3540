"""What set learning costs: drawing sets, and a training step against cross-entropy.

Run with ``make bench``. Every number is a ratio of two things measured in turn in this run.
"""

import random

import torch
import torch.nn.functional as F
from ratio import line, quartiles
from torch import nn

import oddkout as oko
from oddkout.models import build_model


def plain_python_sets(labels: list[int], k: int):
    """The obvious loop: ``random.sample`` of classes, then of examples."""
    members: dict[int, list[int]] = {}
    for i, label in enumerate(labels):
        members.setdefault(label, []).append(i)
    classes = sorted(members)

    def draw(sets: int) -> list[list[int]]:
        drawn = []
        for _ in range(sets):
            pair, *odd = random.sample(classes, k + 1)
            drawn.append(
                random.sample(members[pair], 2) + [random.sample(members[c], 1)[0] for c in odd]
            )
        return drawn

    return draw


def plain_python_pairs(labels: list[int]):
    """The obvious loop: ``random.choices`` of classes by their size, ``random.sample`` of two."""
    members: dict[int, list[int]] = {}
    for i, label in enumerate(labels):
        members.setdefault(label, []).append(i)
    classes = sorted(members)
    sizes = [len(members[c]) for c in classes]

    def draw(pairs: int) -> list[list[int]]:
        drawn = random.choices(classes, weights=sizes, k=pairs)
        return [random.sample(members[c], 2) for c in drawn]

    return draw


def paper_cnn() -> nn.Module:
    generator = torch.Generator().manual_seed(0)
    return build_model("cnn", shape=(1, 28, 28), classes=10, generator=generator)


def training_step(criterion, images, labels, has_odd_head: bool = False):
    model = oko.with_odd_head(paper_cnn()) if has_odd_head else paper_cnn()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9, nesterov=True)

    def step() -> None:
        optimizer.zero_grad()
        criterion(model(images), labels).backward()
        optimizer.step()

    return step


def main() -> None:
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads\n")
    generator = torch.Generator().manual_seed(0)

    def draw(index, k):
        return lambda: [index.draw_sets(k=k, sets=4096, generator=generator) for _ in range(10)]

    small, large = torch.arange(1000) % 10, torch.arange(1_000_000) % 1000
    small, large = small[torch.randperm(1000)], large[torch.randperm(1_000_000)]

    for k in (1, 3):
        index, loop = oko.ClassIndex(small), plain_python_sets(small.tolist(), k)
        line(
            f"random.sample loop / draw_sets, time of 4,096 sets, k={k}, 10 classes",
            quartiles(lambda loop=loop: [loop(4096) for _ in range(10)], draw(index, k), 20),
            20,
            "target: at least 20 at k=1",
        )

    indices = [oko.ClassIndex(labels) for labels in (small, large)]

    line(
        "draw_sets from 1,000 classes and 1,000,000 examples / from 10 and 1,000, k=1, 4,096 sets",
        quartiles(draw(indices[1], 1), draw(indices[0], 1), 100),
        100,
        "target: at most 2",
    )

    def batches(labels):
        sampler = oko.PairedBatchSampler(labels, pairs=4096, batches=10, seed=0)
        return lambda: list(map(sampler.draw_batch, range(10), [generator] * 10))

    loop = plain_python_pairs(small.tolist())
    line(
        "Python loop / PairedBatchSampler, time of 4,096 pairs, 10 classes",
        quartiles(lambda: [loop(4096) for _ in range(10)], batches(small), 20),
        20,
        "target: at least 20",
    )
    line(
        "PairedBatchSampler, 1,000 classes and 1,000,000 examples / 10 and 1,000, 4,096 pairs",
        quartiles(batches(large), batches(small), 100),
        100,
        "target: at most 2",
    )

    images, labels = torch.randn(60, 1, 28, 28), torch.arange(60) % 10
    cross_entropy = training_step(F.cross_entropy, images, labels)
    for k, has_odd_head in ((1, False), (1, True), (3, False)):
        step = training_step(oko.OddKOutLoss(k=k), images, labels, has_odd_head)
        line(
            f"OKO step / cross-entropy step, paper's CNN, same 60 examples, k={k}"
            + (", with odd-class head" if has_odd_head else ""),
            quartiles(step, cross_entropy, 100),
            100,
            "target: at most 1.05",
        )
    adjusted = oko.OddKOutLoss(k=1, prior=oko.class_frequencies(labels))
    line(
        "oko+la step / cross-entropy step, paper's CNN, same 60 examples, k=1",
        quartiles(training_step(adjusted, images, labels), cross_entropy, 100),
        100,
        "target: at most 1.05",
    )


if __name__ == "__main__":
    main()
