"""The training loop, the same for every method; deterministic given its arguments."""

import copy
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from oddkout.checks import Number
from oddkout.fitting.allocator import keep_memory
from oddkout.fitting.augmentation import Augmentation
from oddkout.fitting.budget import Budget
from oddkout.fitting.checkpoint import load_checkpoint, run_digest, save_checkpoint
from oddkout.fitting.compilation import repays_compiling
from oddkout.fitting.methods import Method
from oddkout.fitting.objective import Objective
from oddkout.fitting.optimisation import HeadSchedule, Optimiser
from oddkout.fitting.precision import in_bfloat16
from oddkout.fitting.stages import (
    drop_other_gradients,
    renew_last_layer,
    second_stage,
    use_fixed_statistics,
)
from oddkout.heads import OddHeadModel, with_odd_head, without_odd_head
from oddkout.models import initialise
from oddkout.models.foreign import ForeignModel
from oddkout.models.prediction import in_double
from oddkout.randomness import keyed_generator, keyed_globals

# Called with each new row of the log.
Progress = Callable[[dict[str, Number]], None]

# Weights of a model by name, without a second head.
Weights = dict[str, Tensor]

LOG_EVERY = 50  # updates between rows of the log
CHECKPOINT_EVERY = 200  # updates between checkpoints

# Rows of features that are predicted together.
_ROWS = 4000


@dataclass
class Trained:
    """A trained network.

    Attributes:
        model: The network, in evaluation mode, without a second head.
        log: The learning curve: update, loss and learning rate, every 50 updates.
        snapshots: Weights after the updates at which training may stop, by number of updates.
    """

    model: nn.Module
    log: list[dict[str, Number]] = field(default_factory=list)
    snapshots: dict[int, Weights] = field(default_factory=dict)


def train(
    model: nn.Module,
    x: Float[Tensor, "examples ..."],
    y: Int[Tensor, " examples"],
    *,
    method: Method,
    classes: int,
    budget: Budget,
    optimiser: Optimiser | None = None,
    head: HeadSchedule | None = None,
    augmentation: Augmentation | None = None,
    averaging: Number | None = None,
    compiled: bool | None = None,
    mixed_precision: bool | None = None,
    stops: Sequence[int] | None = None,
    seed: int = 0,
    groups: Int[Tensor, " examples"] | None = None,
    checkpoint: Path | None = None,
    progress: Progress | None = None,
) -> Trained:
    """Train a network. On one machine, the same arguments give bit-identical weights.

    If ``torch.distributed`` is initialised, its processes train together: each draws its own
    examples and sets, gradients are averaged, and all end with the same weights. Only the first
    process writes checkpoints and reports progress.

    Args:
        model: The network; trained in place, on its current device.
        x: Training examples, in memory.
        y: Their classes.
        method: The method, see ``METHODS``.
        classes: Number of classes.
        budget: Amount of training.
        optimiser: Settings of the optimiser.
        head: Weight schedule of the second head, for methods that have one.
        augmentation: Data augmentation, for images.
        averaging: Share of the updates so far that a moving average of the weights covers, which
            is then returned; None for no averaging.
        compiled: Whether to compile the model; by default if the run is long enough.
        mixed_precision: Whether to compute in bfloat16; by default on GPUs that support it.
        stops: Numbers of updates after which to keep a snapshot of the weights. Training ends at
            the last one; by default at the end of the budget. Schedules refer to the whole budget.
        seed: Seed of all randomness.
        groups: Group of each example; pairs of sets are from different groups, see ``Objective``.
        checkpoint: File for the state of training, which resumes from it if it exists.
        progress: Called with each new row of the log.
    """
    ends = sorted(set(stops)) if stops else [budget.updates]
    if not 1 <= ends[0] <= ends[-1] <= budget.updates:
        raise ValueError(f"stops must lie in 1 .. {budget.updates} updates, got {ends}")
    optimiser, head = optimiser or Optimiser(), head or HeadSchedule()
    augmentation = augmentation or Augmentation()
    if augmentation and x.ndim != 4:
        raise ValueError(
            f"shift, flip and crop need images, but examples have the shape {tuple(x.shape[1:])}; "
            "leave them out"
        )
    keep_memory()
    device = next(model.parameters()).device
    model, x, y = _with_second_head(model, method, seed), _fast_layout(x).to(device), y.to(device)
    if x.ndim == 4:
        model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # not in its stub
    rank, processes = process_number()
    objective = Objective(
        method, y.cpu(), classes=classes, budget=budget, seed=seed, rank=rank,
        processes=processes, groups=groups,
    )  # fmt: skip
    if compiled is None:
        compiled = repays_compiling(model, x, examples=budget.examples, updates=budget.updates)
    if mixed_precision is None:
        mixed_precision = device.type == "cuda" and torch.cuda.is_bf16_supported()
    average = copy.deepcopy(model) if averaging is not None else None
    step = optimiser.of(model)
    first, log, snapshots, digest = 0, list[dict[str, Number]](), dict[int, Weights](), ""
    if checkpoint is not None:
        digest = run_digest(
            x, y, method=method, classes=classes, budget=budget, optimiser=optimiser, head=head,
            augmentation=augmentation, averaging=averaging, stops=ends, seed=seed,
            mixed_precision=mixed_precision, processes=processes,
            groups=None if groups is None else groups.tolist(),
        )  # fmt: skip
        if checkpoint.exists():
            first, log, snapshots = load_checkpoint(
                checkpoint, model, step, average, run=digest, updates=ends[-1]
            )
    shared = nn.parallel.DistributedDataParallel(model) if processes > 1 else model
    forward: Callable[[Tensor], Any] = torch.compile(shared) if compiled else shared

    model.train()
    stage = second_stage(budget.updates) if method.is_retrained else budget.updates
    for update in range(first, ends[-1]):
        if update == stage:
            renew_last_layer(model, average, step, keyed_generator(seed, 9))
        if update in (first, stage) and update >= stage:
            use_fixed_statistics(model)
        done = update / budget.updates
        rate = optimiser.rate(done)
        for group in step.param_groups:
            group["lr"] = rate
        batch, sets = objective.draw(update)
        batch, sets = batch.to(device), None if sets is None else sets.to(device)
        inputs = x[batch]
        if augmentation:
            inputs = augmentation(inputs, generator=keyed_generator(seed, 5, rank, update))
        mixing = objective.mixing(update, y[batch])
        if mixing is not None:
            inputs = mixing.inputs(inputs)
        with (
            keyed_globals(seed, 6, rank, update, device=device),
            in_bfloat16(device, is_compiled=compiled) if mixed_precision else nullcontext(),
        ):
            output = forward(inputs)
        loss = objective.loss(
            _in_float32(output),
            y[batch],
            sets,
            update=update,
            head_weight=head.at(done),
            mixing=mixing,
        )
        step.zero_grad()
        torch.autograd.backward(loss)
        if update >= stage:
            drop_other_gradients(model)
        norm = optimiser.clip(model)
        if not (loss.isfinite() and norm.isfinite()):
            raise ValueError(
                f"training stopped at update {update + 1} of {budget.updates}: the loss is "
                f"{loss.item():.4g} and the norm of its gradient {norm.item():.4g}, at learning "
                f"rate {rate:.3g}; lower the learning rate or clip gradients"
            )
        step.step()
        if average is not None and averaging is not None:
            since = update - stage if update >= stage else update
            _move_average(average, model, 1 / (1 + averaging * since))
        if update + 1 in ends:
            snapshots[update + 1] = _weights(model if average is None else average)
        if (update + 1) % LOG_EVERY == 0 or update + 1 == ends[-1]:
            log.append({"update": update + 1, "loss": loss.item(), "learning_rate": rate})
            if progress is not None and rank == 0:
                progress(log[-1])
        is_due = (update + 1) % CHECKPOINT_EVERY == 0 or update + 1 == ends[-1]
        if checkpoint is not None and rank == 0 and is_due:
            save_checkpoint(
                checkpoint, update + 1, log, model, step, average, snapshots=snapshots, run=digest
            )

    trained = model if average is None else average
    return Trained(model=without_odd_head(trained).eval(), log=log, snapshots=snapshots)


def predict_logits(
    model: nn.Module, x: Float[Tensor, "examples ..."], *, examples: int | None = None
) -> Float[Tensor, "examples *members classes"]:
    """Logits of all examples, on the CPU; those of every member, if the model is an ensemble.

    Leaves the model in evaluation mode. Rows of features pass through networks of standard layers
    in double precision. Otherwise the last bits of a prediction would depend on the other rows of
    its batch.

    Args:
        examples: Batch size; by default 100 images on a CPU, so that the outputs of layers stay in
            its cache, else 1,000 examples.
    """
    device = next(model.parameters(), torch.empty(0)).device  # a forest has none
    if examples is None:
        examples = 100 if x.ndim == 4 and device.type == "cpu" else 1000
    model.eval()
    is_ours = not isinstance(model, ForeignModel)
    if (
        is_ours
        and x.ndim == 2
        and all(
            type(part).__module__.startswith(("torch.nn", "oddkout.models"))
            for part in model.modules()
        )
    ):
        model, x = in_double(model), x.double()
        examples = max(examples, _ROWS)
    with torch.inference_mode():
        return torch.cat(
            [model(part.to(device)).cpu() for part in torch.split(x, examples)]
        ).clone()


def process_number() -> tuple[int, int]:
    """Rank of this process and number of processes in distributed training; (0, 1) without it."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return torch.distributed.get_rank(), torch.distributed.get_world_size()
    return 0, 1


def _with_second_head(model: nn.Module, method: Method, seed: int) -> nn.Module:
    """The model with the second head of the method, if the method has one."""
    if method.head == "none":
        return model
    with torch.random.fork_rng(devices=[]):  # the weights drawn here are replaced below
        headed = with_odd_head(model)
    initialise(headed.odd_head, keyed_generator(seed, 4))
    return headed


def _fast_layout(x: Float[Tensor, "examples ..."]) -> Float[Tensor, "examples ..."]:
    """Images in the memory layout that makes convolutions fastest, on CPU and GPU."""
    return x.contiguous(memory_format=torch.channels_last) if x.ndim == 4 else x


def _in_float32(output: Tensor | tuple[Tensor, ...]) -> Any:
    """Logits of one or two heads, in the precision that the losses need."""
    if isinstance(output, tuple):
        return tuple(logits.float() for logits in output)
    return output.float()


def _weights(model: nn.Module) -> Weights:
    """A copy of the weights, without a second head."""
    state = (model.model if isinstance(model, OddHeadModel) else model).state_dict()
    return {name: value.detach().clone() for name, value in state.items()}


def _move_average(average: nn.Module, model: nn.Module, share: float) -> None:
    """Move the averaged weights and statistics towards the current ones.

    Args:
        share: Weight of the current ones. A share of 1 / (1 + a t) after t updates averages about
            the last a t of them (polynomial-decay averaging, Shamir and Zhang, ICML 2013).
    """
    with torch.no_grad():
        for old, new in zip(average.parameters(), model.parameters(), strict=True):
            old.lerp_(new, share)
        for kept, current in zip(average.buffers(), model.buffers(), strict=True):
            if kept.is_floating_point():
                kept.lerp_(current, share)
            else:
                kept.copy_(current)
