"""What training costs: against the machine's peak, a plain loop, and between methods and layouts.

Run with ``make bench``. Every number is a ratio of two things measured in turn in this run. The
plain loop has a process of its own, because the allocator's settings are those of a process.
"""

import multiprocessing as mp
import statistics
import time
from contextlib import suppress

import torch
import torch.nn.functional as F
from ratio import line, quartiles, seconds
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from oddkout import last_split, load_data, subset
from oddkout.fitting import training
from oddkout.fitting.compilation import training_operations
from oddkout.fitting.methods import METHODS
from oddkout.fitting.optimisation import Optimiser
from oddkout.fitting.preparation import Standardisation
from oddkout.fitting.recipe import Recipe
from oddkout.fitting.training import predict_logits, train
from oddkout.models import build_model

BATCH, UPDATES, ROUNDS, SEEDS = 64, 40, 15, 11


def paper_cnn():
    generator = torch.Generator().manual_seed(0)
    return build_model("cnn", shape=(1, 28, 28), classes=10, generator=generator)


def some_images(examples=2000):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(examples, 1, 28, 28, generator=generator)
    return x, torch.arange(examples) % 10


def our_loop(method="vanilla", updates=UPDATES, examples=BATCH, **options):
    """A run of our loop; the network is trained on, so that compiling it is paid once."""
    x, y = some_images()
    model = paper_cnn()
    recipe = Recipe(
        updates=updates,
        examples=examples,
        sets=examples,
        learning_rate=1e-3,
        weight_decay=0.0,
        **options,
    )

    def work():
        train(model, x, y, method=METHODS[method], classes=10, **recipe.options)

    return work


def plain_loop():
    """The loop of the tutorials: a loader, the network as it comes, SGD."""
    x, y = some_images(BATCH * UPDATES)
    loader = DataLoader(TensorDataset(x, y), batch_size=BATCH, shuffle=True)
    model = paper_cnn()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9, nesterov=True)

    def work():
        for inputs, labels in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(inputs), labels).backward()
            optimizer.step()

    return work


def elsewhere(end, name):
    """Do a piece of work whenever asked, and say how long it took."""
    work = globals()[name]()
    with suppress(EOFError):  # the other process has ended
        while end.recv():
            end.send(seconds(work))


def in_another_process(name):
    """The same work in a process of its own."""
    here, there = mp.get_context("spawn").Pipe()
    mp.get_context("spawn").Process(target=elsewhere, args=(there, name), daemon=True).start()

    def work():
        here.send(True)
        here.recv()

    return work


def multiplication(size=1024, repeats=20):
    a = torch.randn(size, size)

    def work():
        for _ in range(repeats):
            a @ a

    return work, repeats * 2 * size**3


def model_alone(compiled=False):
    """Forward, backward and optimiser, clipping included, on a batch that lies ready."""
    x, y = some_images(BATCH)
    x = x.contiguous(memory_format=torch.channels_last)
    model = paper_cnn().to(memory_format=torch.channels_last)
    forward = torch.compile(model) if compiled else model
    optimizer = Optimiser(learning_rate=1e-3).of(model)

    def work():
        for _ in range(UPDATES):
            optimizer.zero_grad()
            F.cross_entropy(forward(x), y).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()

    return work


def convolutions_alone():
    """Forward and backward of the network's convolutions, nothing between them; operations."""
    inputs, size = 1, 28
    layers = []
    for outputs in (32, 64, 128):
        layer = nn.Conv2d(inputs, outputs, 3, padding=1).to(memory_format=torch.channels_last)
        x = torch.randn(BATCH, inputs, size, size).contiguous(memory_format=torch.channels_last)
        layers.append((layer, x.requires_grad_(inputs > 1), torch.randn_like(layer(x))))
        inputs, size = outputs, size // 2

    def work():
        for _ in range(UPDATES):
            for layer, x, gradient in layers:
                layer.zero_grad()
                x.grad = None
                layer(x).backward(gradient)

    passes = (2, 3, 3)  # the first one's inputs need no gradient
    operations = sum(
        number * 2 * 9 * layer.in_channels * gradient.numel()
        for number, (layer, _, gradient) in zip(passes, layers, strict=True)
    )
    return work, UPDATES * operations


def peak_share(work, operations):
    """Share of the matrix-multiply rate that a piece of work of so many operations reaches."""
    multiply, multiplied = multiplication()
    low, median, high = quartiles(multiply, work, ROUNDS)
    scale = operations / multiplied
    return low * scale, median * scale, high * scale


def ten_shot(seed):
    data = load_data("mnist")
    pool, _ = last_split(len(data.y_train))
    chosen = pool[subset(data.y_train[pool], per_class=10, seed=seed)]
    standardised = Standardisation.of(data.x_train[chosen], is_encoded=False)
    x, x_test = standardised(data.x_train[chosen]), standardised(data.x_test[:2000])
    return x, torch.tensor(data.y_train[chosen]), (x_test, torch.tensor(data.y_test[:2000]))


def seconds_to_85(seed, recipe):
    """Seconds of training, looking on not counted, until 85 % of 2,000 test images are right."""
    x, y, (x_test, y_test) = ten_shot(seed)
    generator = torch.Generator().manual_seed(seed)
    model = build_model("cnn", shape=(1, 28, 28), classes=10, generator=generator, dropout=0.3)
    spent, began = 0.0, time.perf_counter()

    def look(row):
        nonlocal spent, began
        spent += time.perf_counter() - began
        right = (predict_logits(model, x_test).argmax(dim=1) == y_test).double().mean()
        if right >= 0.85:
            raise StopIteration
        began = time.perf_counter()

    try:
        train(
            model,
            x,
            y,
            method=METHODS["oko"],
            classes=10,
            seed=seed,
            progress=look,
            **recipe.options,
        )
    except StopIteration:
        return spent
    return float("inf")


def main():
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, batch {BATCH}\n")
    training.LOG_EVERY = 10**9
    plain = in_another_process("plain_loop")  # before anything here is told to keep memory
    plain()
    each = training_operations(paper_cnn(), some_images(1)[0])
    operations = each * BATCH * UPDATES
    for compiled, name in ((False, "as it is"), (True, "compiled")):
        share = peak_share(our_loop(compiled=compiled), operations)
        target = "target 0.7 or more" if compiled else "no target"
        line(f"CNN training, {name} / matrix-multiply rate", share, ROUNDS, target)
    share = peak_share(*convolutions_alone())
    line("its convolutions alone / matrix-multiply rate", share, ROUNDS, "what PyTorch allows for")
    for compiled, name in ((False, "as it is"), (True, "compiled")):
        rate = quartiles(plain, our_loop(compiled=compiled), ROUNDS)
        line(f"examples/s of our loop, {name} / a plain loop", rate, ROUNDS, "target 1.5 or more")
    began = time.perf_counter()
    torch.compiler.reset()
    model_alone(compiled=True)()
    print(f"compiling, with {UPDATES} updates: {time.perf_counter() - began:.0f} s", end=" ")
    print("(little where PyTorch has it in its cache on disk)\n")

    pairs = quartiles(our_loop("oko", compiled=False), our_loop(compiled=False), ROUNDS)
    line("OKO update, pool layout / vanilla update", pairs, ROUNDS, "target 1.05 or less")
    outside = quartiles(our_loop(compiled=False), model_alone(), ROUNDS)
    line("our loop / forward, backward and optimiser alone", outside, ROUNDS, "target 1.05 or less")

    training.LOG_EVERY = 10
    pool = Recipe(sets=64)
    paper = Recipe(
        layout="paper",
        sets=64,
        clip_norm=None,
        clip_value=1.0,
        head_weight=1.0,
        head_until=0.0,
        learning_rate=0.05,
    )
    times = [(seconds_to_85(seed, pool), seconds_to_85(seed, paper)) for seed in range(SEEDS)]
    medians = [statistics.median(column) for column in zip(*times, strict=True)]
    print(f"seconds to 85 % on 10-shot MNIST, {SEEDS} seeds, pool and paper layout:")
    print("   ", ", ".join(f"{a:.1f} and {b:.1f}" for a, b in times))
    print(f"    {medians[0] / medians[1]:.2f}x  of medians   (target 0.5 or less)")


if __name__ == "__main__":
    main()
