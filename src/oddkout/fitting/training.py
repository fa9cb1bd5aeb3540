"""The training loop: one for every method, a function of its arguments and one seed."""

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from oddkout.calibrators import Calibrator, TemperatureScaling
from oddkout.checks import Number, at_least
from oddkout.fitting.allocator import keep_memory
from oddkout.fitting.augmentation import augmented
from oddkout.fitting.checkpoint import load_checkpoint, save_checkpoint
from oddkout.fitting.compilation import repays_compiling
from oddkout.fitting.methods import Method, Objective
from oddkout.fitting.optimisation import fading_share, optimiser_for, rate_share
from oddkout.heads import with_odd_head, without_odd_head
from oddkout.models import initialise
from oddkout.randomness import keyed_generator, keyed_globals
from oddkout.sets import Singletons

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
    singletons: Singletons = "error",
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
    shift: int = 0,
    flip: bool = False,
    crop: Number = 0.0,
    compiled: bool | None = None,
    mixed_precision: bool | None = None,
    validation: tuple[Tensor, Tensor] | None = None,
    validation_prior: Calibrator | None = None,
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
        singletons: What sets do with classes of one example, see ``ClassIndex``.
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
        shift: Images: largest shift in pixels, see ``augmented``.
        flip: Images: whether they are mirrored at random.
        crop: Images: largest share of height and width that is cut off.
        compiled: Whether the model is compiled; if not given, when the run is long enough to repay
            it.
        mixed_precision: Whether the model computes in bfloat16; if not given, on GPUs that can.
        validation: Examples and classes to choose the state of lowest NLL by, among those looked
            at every ``log_every`` updates.
        validation_prior: Corrects logits for the class frequencies of the validation data before
            their NLL is looked at, where the method trains for others.
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
        singletons=singletons,
        seed=seed,
        rank=rank,
        processes=processes,
    )
    changes = {"shift": shift, "flip": flip, "crop": crop}
    if any(changes.values()) and x.ndim != 4:
        raise ValueError(
            f"shift, flip and crop are for images, but examples have the shape {tuple(x.shape[1:])}"
            "; leave them out"
        )
    if compiled is None:
        compiled = repays_compiling(model, x, examples=examples, updates=updates)
    if mixed_precision is None:
        mixed_precision = device.type == "cuda" and torch.cuda.is_bf16_supported()
    average = copy.deepcopy(model) if averaging is not None else None
    best: dict[str, Tensor] = {}
    step = optimiser_for(
        model, optimiser, rate=learning_rate, momentum=momentum, weight_decay=weight_decay
    )
    log: list[dict[str, Number]] = []
    first = 0
    if checkpoint is not None and checkpoint.exists():
        first, log, best = load_checkpoint(checkpoint, model, step, average)
    shared = nn.parallel.DistributedDataParallel(model) if processes > 1 else model
    forward: Callable[[Tensor], Any] = torch.compile(shared) if compiled else shared

    for update in range(first, updates):
        rate = learning_rate * rate_share(update / updates, warm_up=warm_up)
        for group in step.param_groups:
            group["lr"] = rate
        if not model.training:  # at first, and after a look at validation data
            model.train()
        batch, drawn = objective.draw(update)
        batch, drawn = batch.to(device), None if drawn is None else drawn.to(device)
        inputs = x[batch]
        if any(changes.values()):
            inputs = augmented(
                inputs,
                shift=shift,
                flip=flip,
                crop=crop,
                generator=keyed_generator(seed, 5, rank, update),
            )
        with (
            keyed_globals(seed, 6, rank, update, device=device),
            torch.autocast(device.type, dtype=torch.bfloat16, enabled=mixed_precision),
        ):
            output = forward(inputs)
        loss = objective.loss(
            _in_float32(output),
            y[batch],
            drawn,
            update=update,
            head_weight=head_weight * fading_share(update / updates, until=head_until),
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
                row |= _validated(average or model, *validation, validation_prior)
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


def _in_float32(output: Tensor | tuple[Tensor, ...]) -> Any:
    """Logits, of one head or two, as the losses add them up."""
    if isinstance(output, tuple):
        return tuple(logits.float() for logits in output)
    return output.float()


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


def _validated(
    model: nn.Module, x: Tensor, y: Tensor, prior: Calibrator | None
) -> dict[str, Number]:
    """NLL and accuracy on validation data."""
    logits = predict_logits(model, x)
    if prior is not None:
        logits = prior(logits)
    return {
        "validation_nll": F.cross_entropy(logits, y.cpu()).item(),
        "validation_accuracy": (logits.argmax(dim=1) == y.cpu()).double().mean().item(),
    }


def _copied_state(model: nn.Module) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in model.state_dict().items()}
