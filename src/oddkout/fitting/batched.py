"""Train several multilayer perceptrons at once: each layer of all of them is one matrix product.

A step of a small network costs mostly overhead, so eight networks take little longer than one.
"""

from collections.abc import Sequence
from dataclasses import replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from oddkout.checks import Number
from oddkout.fitting.allocator import keep_memory
from oddkout.fitting.batched_loss import BatchedLoss
from oddkout.fitting.joined_optimiser import JoinedOptimiser
from oddkout.fitting.methods import Method
from oddkout.fitting.objective import Objective
from oddkout.fitting.recipe import Recipe
from oddkout.fitting.stacked import StackedPerceptrons
from oddkout.fitting.training import LOG_EVERY, Progress, Trained, process_number
from oddkout.fitting.watch import FoldWatch
from oddkout.models.encodings import Encoding
from oddkout.randomness import keyed_generator

# Number of updates whose examples are gathered together.
_BLOCK = 32

# Number of rows that are encoded together.
_ROWS = 10_000


def can_batch(network: nn.Module, recipe: Recipe, method: Method) -> bool:
    """Whether networks like this one can be trained together.

    They must be multilayer perceptrons: dense layers with ReLU and dropout, on rows of features,
    which may be encoded first, or small images, trained on the CPU by one process in one stage,
    without augmentation and mixing.
    """
    plain = (Encoding, nn.Flatten, nn.Linear, nn.ReLU, nn.Dropout)
    return (
        isinstance(network, nn.Sequential)
        and all(type(layer) in plain for layer in network)
        and isinstance(network[-1], nn.Linear)
        and process_number() == (0, 1)
        and method.mixing == "none"
        and not method.is_deferred
        and not recipe.options["augmentation"]
        and not recipe.mixed_precision
    )


@torch.no_grad()
def train_batched(
    networks: Sequence[nn.Module],
    x: Float[Tensor, "examples ..."],
    y: Int[Tensor, " examples"],
    *,
    is_trained: Sequence[Bool[Tensor, " examples"]],
    seeds: Sequence[int],
    recipe: Recipe,
    method: Method,
    classes: int,
    stops: Sequence[int],
    groups: Int[Tensor, " examples"] | None = None,
    watch: FoldWatch | None = None,
    progress: Progress | None = None,
) -> list[Trained | ValueError]:
    """Train networks on parts of the same data; like ``train`` for each, up to rounding.

    Args:
        networks: Untrained networks of the same shape, see ``can_batch``; trained in place.
        x: Examples, standardised.
        y: Their classes.
        is_trained: For each network, the examples it is trained on.
        seeds: Seed of each network.
        stops: Numbers of updates after which to keep a snapshot; training ends at the last one.
        groups: Group of each example; pairs of sets are from different groups.
        watch: Chooses the only snapshot instead, and may end training earlier.
        progress: Called with each new row of the log.

    Returns:
        For each network the result, or an error if its training diverged.
    """
    keep_memory()
    options = recipe.options
    budget, optimiser, head = options["budget"], options["optimiser"], options["head"]
    rows = [mask.nonzero().flatten() for mask in is_trained]
    # All networks must draw the same number of examples.
    budget = replace(budget, examples=min(budget.examples, *map(len, rows)))
    objectives = [
        Objective(
            method,
            y[own],
            classes=classes,
            budget=budget,
            seed=seed,
            groups=None if groups is None else groups[own],
        )
        for own, seed in zip(rows, seeds, strict=True)
    ]
    losses = BatchedLoss(objectives, classes=classes, seed=seeds[0])
    stacked = StackedPerceptrons(networks, has_second=method.head != "none", seeds=seeds)
    step = JoinedOptimiser(
        optimiser,
        stacked.groups,
        gradients=stacked.gradients,
        decays=(optimiser.weight_decay, 0.0),
    )
    log: list[dict[str, Number]] = []
    kept: dict[int, list[Tensor]] = {}  # joined weights by number of updates
    failed: dict[int, ValueError] = {}
    inputs = _Inputs(networks, x)
    held = torch.empty(0) if watch is None else inputs.of(watch.rows)
    clips = optimiser.clip_norm is not None or optimiser.clip_value is not None
    for update in range(max(stops)):
        done = update / budget.updates
        rate = optimiser.rate(done)
        position = update % _BLOCK
        if position == 0:
            block = range(update, min(update + _BLOCK, max(stops)))
            batches, all_sets = _drawn(objectives, rows, block)
            all_labels = y[batches]
        labels, sets = all_labels[position], None if all_sets is None else all_sets[position]
        outputs = stacked.forward(
            inputs.of(batches[position]),
            dropout=keyed_generator(seeds[0], 6, update) if stacked.has_dropout else None,
        )
        given = {"update": update, "head_weight": head.at(done)}
        stacked.backward(*losses.slopes(outputs, labels, sets, **given))
        if clips or watch is None or watch.is_due(update + 1):
            norms = stacked.clip(optimiser.clip_norm, optimiser.clip_value)
            for member in (~norms.isfinite()).nonzero().flatten().tolist():
                failed.setdefault(
                    member,
                    ValueError(
                        f"training stopped at update {update + 1} of {budget.updates}: the norm of "
                        f"the gradient is {norms[member].item():.4g}, at learning rate {rate:.3g}; "
                        "lower the learning rate or clip gradients"
                    ),
                )
            if len(failed) == len(networks):
                break
        step.step(rate)
        stacked.move_averages(
            1.0 if recipe.averaging is None else 1 / (1 + recipe.averaging * update)
        )
        is_kept = update + 1 in stops if watch is None else False
        if watch is not None and (watch.is_due(update + 1) or update + 1 == max(stops)):
            is_kept = watch.record(update + 1, stacked.averaged_outputs(held))
        if is_kept:
            if watch is not None:
                kept.clear()
            kept[update + 1] = [average.clone() for average in stacked.averages]
        if (update + 1) % LOG_EVERY == 0 or update + 1 == max(stops):
            loss = losses.value(outputs, labels, sets, **given).item()
            log.append({"update": update + 1, "loss": loss, "learning_rate": rate})
            if progress is not None:
                progress(log[-1])
        if watch is not None and watch.is_over(update + 1):
            break
    states = {number: stacked.states_of(averages) for number, averages in kept.items()}
    results: list[Trained | ValueError] = []
    for member, network in enumerate(networks):
        if member in failed:
            results.append(failed[member])
            continue
        snapshots = {number: each[member] for number, each in states.items()}
        network.load_state_dict(snapshots[max(snapshots)])
        results.append(Trained(model=network.eval(), log=log, snapshots=snapshots))
    return results


class _Inputs:
    """What each network sees of the examples: their features, or its own encoding of them."""

    def __init__(self, networks: Sequence[nn.Module], x: Float[Tensor, "examples ..."]) -> None:
        encodings = [next(network.children()) for network in networks]
        if not isinstance(encodings[0], Encoding):
            self._rows, self._starts = x.flatten(1), torch.zeros(len(networks), 1).long()
            return
        self._rows = torch.empty(len(encodings) * len(x), encodings[0].plan.features)
        self._starts = len(x) * torch.arange(len(encodings))[:, None]
        for start, encoding in zip(self._starts.flatten().tolist(), encodings, strict=True):
            for first in range(0, len(x), _ROWS):  # in parts, to save memory
                part = encoding(x[first : first + _ROWS])
                self._rows[start + first : start + first + len(part)] = part

    def of(self, examples: Int[Tensor, "members batch"]) -> Float[Tensor, "members batch features"]:
        """The inputs of each network, for examples of its own."""
        # Several times as fast as indexing with two tensors.
        chosen = self._rows.index_select(0, (examples + self._starts).flatten())
        return chosen.view(*examples.shape, -1)


def _drawn(
    objectives: Sequence[Objective], rows: Sequence[Int[Tensor, " _"]], updates: range
) -> tuple[Int[Tensor, "updates members batch"], Int[Tensor, "updates sets size"] | None]:
    """Examples of every update and network, and the sets as positions in their joined batches."""
    if objectives[0].method.batches == "shuffled":
        shuffled = [
            own[objective.shuffled(updates)]
            for own, objective in zip(rows, objectives, strict=True)
        ]
        return torch.stack(shuffled, dim=1), None
    drawn = [[objective.draw(update) for update in updates] for objective in objectives]
    batches = torch.stack(
        [
            own[torch.stack([local for local, _ in draws])]
            for own, draws in zip(rows, drawn, strict=True)
        ],
        dim=1,
    )
    if drawn[0][0][1] is None:
        return batches, None
    sets = [
        torch.stack([one for _, one in draws if one is not None]) + member * batches.shape[2]
        for member, draws in enumerate(drawn)
    ]
    return batches, torch.cat(sets, dim=1)
