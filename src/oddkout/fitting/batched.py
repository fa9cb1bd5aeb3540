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
from oddkout.fitting.methods import Method
from oddkout.fitting.objective import Objective
from oddkout.fitting.recipe import Recipe
from oddkout.fitting.stacked import StackedPerceptrons
from oddkout.fitting.training import LOG_EVERY, Progress, Trained, process_number
from oddkout.fitting.update_loss import update_loss
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
    weights = _stacked([objective.weight for objective in objectives])
    offsets = _stacked([objective.offset for objective in objectives])
    stacked = StackedPerceptrons(networks, has_second=method.head != "none", seeds=seeds)
    decayed, plain = stacked.groups
    parameters = [
        {"params": [decayed], "weight_decay": float(optimiser.weight_decay)},
        {"params": [plain], "weight_decay": 0.0},
    ]
    step = optimiser.of_groups(parameters)
    average = [value.detach().clone() for value in stacked.values]
    log: list[dict[str, Number]] = []
    snapshots: list[dict[int, dict[str, Tensor]]] = [{} for _ in networks]
    failed: dict[int, ValueError] = {}
    members = torch.arange(len(networks))[:, None]
    inputs = _inputs(networks, x)
    clips = optimiser.clip_norm is not None or optimiser.clip_value is not None
    for update in range(max(stops)):
        done = update / budget.updates
        rate = optimiser.rate(done)
        for group in step.param_groups:
            group["lr"] = rate
        position = update % _BLOCK
        if position == 0:
            block = range(update, min(update + _BLOCK, max(stops)))
            batches, all_sets = _drawn(objectives, rows, block)
        batch, sets = batches[position], None if all_sets is None else all_sets[position]
        labels = y[batch]
        logits, second = stacked.forward(
            inputs[batch] if inputs.ndim == 2 else inputs[members, batch],
            dropout=keyed_generator(seeds[0], 6, update) if stacked.has_dropout else None,
        )
        output = logits.flatten(0, 1)
        rows_each = batch.shape[1] if sets is None else len(sets) // len(networks)
        loss = update_loss(
            method,
            output if second is None else (output, second.flatten(0, 1)),
            labels.flatten(),
            sets,
            head_weight=head.at(done),
            weight=None if weights is None else weights[members, labels].flatten(),
            offset=None if offsets is None else offsets.repeat_interleave(rows_each, dim=0),
            noise=_noise(method, labels, classes, seeds[0], update),
        )
        stacked.drop_gradients()
        # The mean over all members; each has the gradient of its own mean.
        torch.autograd.backward(loss * len(networks))
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
        stacked.join_gradients()
        step.step()
        share = 1.0 if recipe.averaging is None else 1 / (1 + recipe.averaging * update)
        with torch.no_grad():
            for old, new in zip(average, stacked.values, strict=True):
                old.lerp_(new, share)
        is_kept = update + 1 in stops if watch is None else False
        if watch is not None and (watch.is_due(update + 1) or update + 1 == max(stops)):
            held = inputs[watch.rows] if inputs.ndim == 2 else inputs[members, watch.rows]
            with torch.no_grad():
                is_kept = watch.record(update + 1, stacked.outputs(held, average))
        if is_kept:
            for member, own in enumerate(stacked.states(average)):
                if watch is not None:
                    snapshots[member].clear()
                snapshots[member][update + 1] = own
        if (update + 1) % LOG_EVERY == 0 or update + 1 == max(stops):
            log.append({"update": update + 1, "loss": loss.item(), "learning_rate": rate})
            if progress is not None:
                progress(log[-1])
        if watch is not None and watch.is_over(update + 1):
            break
    results: list[Trained | ValueError] = []
    for member, network in enumerate(networks):
        if member in failed:
            results.append(failed[member])
            continue
        network.load_state_dict(snapshots[member][max(snapshots[member])])
        results.append(Trained(model=network.eval(), log=log, snapshots=snapshots[member]))
    return results


def _inputs(networks: Sequence[nn.Module], x: Float[Tensor, "examples ..."]) -> Tensor:
    """Rows of features, or the encoded rows of each network: members x examples x features."""
    encodings = [next(network.children()) for network in networks]
    if not isinstance(encodings[0], Encoding):
        return x.flatten(1)
    features = encodings[0].plan.features
    inputs = torch.empty(len(encodings), len(x), features)
    with torch.no_grad():
        for own, encoding in zip(inputs, encodings, strict=True):
            for start in range(0, len(x), _ROWS):  # in parts, to save memory
                own[start : start + _ROWS] = encoding(x[start : start + _ROWS])
    return inputs


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


def _stacked(values: Sequence[Tensor | None]) -> Tensor | None:
    """One row for each network; None if there is nothing to stack."""
    given = [value.float() for value in values if value is not None]
    return torch.stack(given) if given else None


def _noise(
    method: Method, labels: Int[Tensor, "members batch"], classes: int, seed: int, update: int
) -> Int[Tensor, " all"] | None:
    """Random labels for the second head of the control."""
    if method.head != "noise":
        return None
    generator = keyed_generator(seed, 2, update)
    return torch.randint(classes, (labels.numel(),), generator=generator)
