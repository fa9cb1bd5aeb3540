"""The training loop: one for every method, a function of its arguments and one seed."""

import copy
import ctypes
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from oddkout.calibrators import TemperatureScaling
from oddkout.checkpoint import load_checkpoint, save_checkpoint
from oddkout.checks import Number, at_least
from oddkout.heads import with_odd_head, without_odd_head
from oddkout.methods import Method, Objective
from oddkout.models import initialise
from oddkout.randomness import keyed_generator

Progress = Callable[[dict[str, Number]], None]


@dataclass
class Trained:
    """A trained classifier and how it came about.

    Attributes:
        model: The classifier, in evaluation mode, without a second head.
        calibrator: What the method does to its logits after training: a temperature, 1 for most.
        log: A row every so often: update, loss, learning rate, and where there are validation
            data their NLL and accuracy.
    """

    model: nn.Module
    calibrator: TemperatureScaling
    log: list[dict[str, Number]] = field(default_factory=list)

    def predict_logits(self, x: Float[Tensor, "examples ..."]) -> Float[Tensor, "examples classes"]:
        """Logits of the method: the model's, calibrated as the method says.

        Args:
            x: The examples.
        """
        logits: Tensor = self.calibrator(predict_logits(self.model, x))
        return logits


def train(
    model: nn.Module,
    x: Float[Tensor, "examples ..."],
    y: Int[Tensor, " examples"],
    *,
    method: Method,
    classes: int,
    updates: int,
    examples: int = 30,
    sets: int | None = 64,
    layout: Literal["pool", "paper"] = "pool",
    learning_rate: Number = 0.2,
    optimiser: Literal["sgd", "adamw"] = "sgd",
    momentum: Number = 0.9,
    weight_decay: Number = 0.0,
    warm_up: Number = 0.05,
    clip_norm: Number | None = 1.0,
    clip_value: Number | None = None,
    head_weight: Number = 2.0,
    head_until: Number = 0.6,
    averaging: Number | None = None,
    validation: tuple[Tensor, Tensor] | None = None,
    log_every: int = 50,
    seed: int = 0,
    checkpoint: Path | None = None,
    checkpoint_every: int = 200,
    progress: Progress | None = None,
) -> Trained:
    """Train a classifier; the same arguments give the same weights to the bit on one machine.

    Where ``torch.distributed`` is initialised, its processes train together: each draws its own
    examples and sets, gradients are averaged, and all end with the same weights. The first one
    writes checkpoints and reports progress.

    Args:
        model: The classifier; trained in place, on the device that it is on.
        x: Training examples, in memory.
        y: Their classes.
        method: What an update sees, and what is asked of the model; see ``methods``.
        classes: Number of classes.
        updates: Number of updates, the same for every method.
        examples: Number of examples in an update.
        sets: Number of sets in an update, for methods that draw some.
        layout: Where sets are drawn from, see ``Objective``.
        learning_rate: Highest learning rate: it rises linearly and then falls by a cosine to 0.
        optimiser: ``"sgd"``, with Nesterov momentum, or ``"adamw"``.
        momentum: Momentum of SGD.
        weight_decay: L2 on weights, not on biases and normalisation.
        warm_up: Share of the updates in which the learning rate rises.
        clip_norm: Largest norm of the gradient.
        clip_value: Largest absolute value of an entry of the gradient.
        head_weight: Weight of a second head's loss at the beginning; it falls by a cosine to 0.
        head_until: Share of the updates after which it is 0; 0 keeps it constant.
        averaging: Decay of a moving average of the weights, which is then the result.
        validation: Examples and classes to choose the state of lowest NLL by, among those looked
            at every ``log_every`` updates.
        log_every: Number of updates between rows of the log.
        seed: Key of all randomness.
        checkpoint: File to keep the state in; training goes on from it if it is there.
        checkpoint_every: Number of updates between checkpoints.
        progress: Called with every new row of the log.
    """
    at_least("updates", updates, 1)
    if method.temperature == "fit" and validation is None:
        raise ValueError(
            f"{method.name} fits its temperature on held-out data, got validation=None; pass some, "
            "or choose a method that needs none"
        )
    keep_memory()
    device = next(model.parameters()).device
    if method.head != "none":
        with torch.random.fork_rng(devices=[]):  # its first weights are replaced at once
            model = with_odd_head(model)
        initialise(model.odd_head, keyed_generator(seed, 4))
    if x.ndim == 4:  # convolutions are faster so, on a CPU as on a GPU
        model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # not in its stub
        x = x.contiguous(memory_format=torch.channels_last)
    x, y = x.to(device), y.to(device)
    rank, processes = process_number()
    objective = Objective(
        method,
        y.cpu(),
        classes=classes,
        examples=examples,
        sets=sets,
        layout=layout,
        seed=seed,
        rank=rank,
        processes=processes,
    )
    average = copy.deepcopy(model) if averaging is not None else None
    best: dict[str, Tensor] = {}
    step = _optimiser(optimiser, model, learning_rate, momentum, weight_decay)
    log: list[dict[str, Number]] = []
    first = 0
    if checkpoint is not None and checkpoint.exists():
        first, log, best = load_checkpoint(checkpoint, model, step, average)
    stepped = nn.parallel.DistributedDataParallel(model) if processes > 1 else model

    for update in range(first, updates):
        rate = learning_rate * _schedule(update / updates, warm_up)
        for group in step.param_groups:
            group["lr"] = rate
        model.train()
        batch, drawn = objective.draw(update)
        batch, drawn = batch.to(device), None if drawn is None else drawn.to(device)
        loss = objective.loss(
            stepped(x[batch]),
            y[batch],
            drawn,
            update=update,
            head_weight=head_weight * _fading(update / updates, head_until),
        )
        step.zero_grad()
        torch.autograd.backward(loss)
        norm = nn.utils.clip_grad_norm_(model.parameters(), clip_norm or math.inf)
        if not (loss.isfinite() and norm.isfinite()):
            raise ValueError(
                f"training stopped at update {update + 1} of {updates}: the loss is "
                f"{loss.item():.4g} and its gradient's norm {norm.item():.4g}, at learning rate "
                f"{rate:.3g}; lower the learning rate, clip gradients, or look for inputs that are "
                "not finite"
            )
        if clip_value is not None:
            nn.utils.clip_grad_value_(model.parameters(), clip_value)
        step.step()
        if average is not None and averaging is not None:
            _move_average(average, model, averaging)

        if (update + 1) % log_every == 0 or update + 1 == updates:
            row = {"update": update + 1, "loss": loss.item(), "learning_rate": rate}
            if validation is not None:
                row |= _validated(average or model, *validation)
                if row["validation_nll"] <= min(r["validation_nll"] for r in [*log, row]):
                    best = _copied_state(average or model)
            log.append(row)
            if progress is not None and rank == 0:
                progress(row)
        if checkpoint is not None and rank == 0 and (update + 1) % checkpoint_every == 0:
            save_checkpoint(checkpoint, update + 1, log, model, step, average, best)

    result = average or model
    if best:
        result.load_state_dict(best)
    model = without_odd_head(result).eval()
    return Trained(model=model, calibrator=_calibrated(method, model, validation), log=log)


def predict_logits(
    model: nn.Module, x: Float[Tensor, "examples ..."], *, examples: int = 1000
) -> Float[Tensor, "examples classes"]:
    """Logits of many examples, on the CPU; the model is left in evaluation mode.

    Args:
        model: The classifier.
        x: The examples.
        examples: Number of examples that go through the model together.
    """
    device = next(model.parameters()).device
    model.eval()
    with torch.inference_mode():
        return torch.cat(
            [model(part.to(device)).cpu() for part in torch.split(x, examples)]
        ).clone()


def process_number() -> tuple[int, int]:
    """Number of this process, and of all that train together: (0, 1) for one alone."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return torch.distributed.get_rank(), torch.distributed.get_world_size()
    return 0, 1


def keep_memory() -> None:
    """Tell the C library's allocator to keep what a step frees for the next one.

    By default it returns large blocks to the system and asks for them again, page by page, at
    every step. Where there is no such allocator, nothing happens.
    """
    mmap_threshold, trim_threshold = -3, -1  # M_MMAP_THRESHOLD, M_TRIM_THRESHOLD of malloc.h
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(mmap_threshold, 1 << 30)
        mallopt(trim_threshold, (1 << 31) - 1)


def _schedule(done: float, warm_up: Number) -> float:
    """Share of the highest learning rate: a linear rise, then a cosine to 0."""
    if done < warm_up:
        return (done + 1e-3) / (warm_up + 1e-3)
    return 0.5 * (1 + math.cos(math.pi * (done - warm_up) / (1 - warm_up)))


def _fading(done: float, until: Number) -> float:
    """Share of the second head's weight: a cosine to 0, or 1 throughout."""
    return 0.5 * (1 + math.cos(math.pi * min(done / until, 1.0))) if until else 1.0


def _optimiser(
    name: str, model: nn.Module, rate: Number, momentum: Number, decay: Number
) -> torch.optim.Optimizer:
    """SGD or AdamW, decaying matrices and kernels only."""
    weights = [p for p in model.parameters() if p.ndim > 1]
    others = [p for p in model.parameters() if p.ndim <= 1]
    groups: list[dict[str, Any]] = [
        {"params": weights, "weight_decay": float(decay)},
        {"params": others, "weight_decay": 0.0},
    ]
    if name == "adamw":
        return torch.optim.AdamW(groups, lr=rate)
    return torch.optim.SGD(groups, lr=rate, momentum=momentum, nesterov=momentum > 0)


def _calibrated(
    method: Method, model: nn.Module, validation: tuple[Tensor, Tensor] | None
) -> TemperatureScaling:
    """The temperature that the method divides logits by."""
    if isinstance(method.temperature, float | int):
        return TemperatureScaling(method.temperature)
    if method.temperature == "none" or validation is None:
        return TemperatureScaling()
    x, y = validation
    return TemperatureScaling().fit(predict_logits(model, x), y)


def _move_average(average: nn.Module, model: nn.Module, decay: Number) -> None:
    """Move the average towards the model; counters and statistics are copied."""
    with torch.no_grad():
        for old, new in zip(average.parameters(), model.parameters(), strict=True):
            old.lerp_(new, 1 - float(decay))
        for kept, current in zip(average.buffers(), model.buffers(), strict=True):
            kept.copy_(current)


def _validated(model: nn.Module, x: Tensor, y: Tensor) -> dict[str, Number]:
    """NLL and accuracy on validation data."""
    logits = predict_logits(model, x)
    return {
        "validation_nll": F.cross_entropy(logits, y.cpu()).item(),
        "validation_accuracy": (logits.argmax(dim=1) == y.cpu()).double().mean().item(),
    }


def _copied_state(model: nn.Module) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in model.state_dict().items()}
