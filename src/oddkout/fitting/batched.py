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
from oddkout.fitting.training import LOG_EVERY, Progress, Trained, process_number
from oddkout.fitting.update_loss import update_loss
from oddkout.models import initialise
from oddkout.randomness import keyed_generator

# Number of updates whose examples are gathered together.
_BLOCK = 32


def can_batch(network: nn.Module, recipe: Recipe, method: Method) -> bool:
    """Whether networks like this one can be trained together.

    They must be multilayer perceptrons: dense layers with ReLU and dropout, on rows of features or
    small images, trained on the CPU by one process in one stage, without augmentation and mixing.
    """
    plain = (nn.Flatten, nn.Linear, nn.ReLU, nn.Dropout)
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
        Objective(method, y[own], classes=classes, budget=budget, seed=seed)
        for own, seed in zip(rows, seeds, strict=True)
    ]
    weights = _stacked([objective.weight for objective in objectives])
    offsets = _stacked([objective.offset for objective in objectives])
    stacked = _Stacked(networks, has_second=method.head != "none", seeds=seeds)
    decayed, plain = stacked.parameters_by_decay()
    groups = [
        {"params": decayed, "weight_decay": float(optimiser.weight_decay)},
        {"params": plain, "weight_decay": 0.0},
    ]
    step = optimiser.of_groups(groups)
    average = [value.detach().clone() for value in stacked.values]
    log: list[dict[str, Number]] = []
    snapshots: list[dict[int, dict[str, Tensor]]] = [{} for _ in networks]
    failed: dict[int, ValueError] = {}
    members = torch.arange(len(networks))[:, None]
    flat = x.flatten(1)
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
        logits, second = stacked.forward(flat[batch], dropout=keyed_generator(seeds[0], 6, update))
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
            noise=_noise(method, labels, classes, keyed_generator(seeds[0], 2, update)),
        )
        step.zero_grad()
        # The mean over all members; each has the gradient of its own mean.
        torch.autograd.backward(loss * len(networks))
        norms = stacked.clip(optimiser.clip_norm, optimiser.clip_value)
        for member in (~norms.isfinite()).nonzero().flatten().tolist():
            failed.setdefault(
                member,
                ValueError(
                    f"training stopped at update {update + 1} of {budget.updates}: the norm of the "
                    f"gradient is {norms[member].item():.4g}, at learning rate {rate:.3g}; lower "
                    "the learning rate or clip gradients"
                ),
            )
        if len(failed) == len(networks):
            break
        step.step()
        share = 1.0 if recipe.averaging is None else 1 / (1 + recipe.averaging * update)
        with torch.no_grad():
            for old, new in zip(average, stacked.values, strict=True):
                old.lerp_(new, share)
        if update + 1 in stops:
            for member, own in enumerate(stacked.states(average)):
                snapshots[member][update + 1] = own
        if (update + 1) % LOG_EVERY == 0 or update + 1 == max(stops):
            log.append({"update": update + 1, "loss": loss.item(), "learning_rate": rate})
            if progress is not None:
                progress(log[-1])
    results: list[Trained | ValueError] = []
    for member, network in enumerate(networks):
        if member in failed:
            results.append(failed[member])
            continue
        network.load_state_dict(snapshots[member][max(stops)])
        results.append(Trained(model=network.eval(), log=log, snapshots=snapshots[member]))
    return results


class _Stacked:
    """The weights of several perceptrons, stacked along a first axis.

    Args:
        networks: Perceptrons of the same shape.
        has_second: Whether to add a second head, initialised as in ``train``.
        seeds: Seed of each network.
    """

    def __init__(
        self, networks: Sequence[nn.Module], *, has_second: bool, seeds: Sequence[int]
    ) -> None:
        self._layers = [name for name, part in networks[0].named_children()]
        self._kinds = dict(networks[0].named_children())
        self._names = [name for name, _ in networks[0].named_parameters()]
        states = [dict(network.named_parameters()) for network in networks]
        # Weights are stored as (members, inputs, outputs): their gradients then need no copies.
        self.values = [
            torch.stack([_turned(state[name]) for state in states]).requires_grad_()
            for name in self._names
        ]
        self.second: list[Tensor] = []
        last = self._kinds[self._layers[-1]]
        assert isinstance(last, nn.Linear), "can_batch requires it"
        if has_second:
            heads = [nn.Linear(last.in_features, last.out_features) for _ in networks]
            for layer, seed in zip(heads, seeds, strict=True):
                initialise(layer, keyed_generator(seed, 4))
            self.second = [
                torch.stack([_turned(getattr(layer, name)) for layer in heads]).requires_grad_()
                for name in ("weight", "bias")
            ]

    def parameters_by_decay(self) -> tuple[list[Tensor], list[Tensor]]:
        """The weights, which decay, and the biases, which do not."""
        everything = self.values + self.second
        return [v for v in everything if v.ndim > 2], [v for v in everything if v.ndim <= 2]

    def forward(
        self, x: Float[Tensor, "members batch features"], *, dropout: torch.Generator
    ) -> tuple[Float[Tensor, "members batch classes"], Tensor | None]:
        """Logits of both heads; those of the second are None without one."""
        weights = dict(zip(self._names, self.values, strict=True))
        features = x
        for name in self._layers:
            layer = self._kinds[name]
            if isinstance(layer, nn.Linear):
                features, x = x, _dense(x, weights[f"{name}.weight"], weights.get(f"{name}.bias"))
            elif isinstance(layer, nn.ReLU):
                x = x.relu()
            elif isinstance(layer, nn.Dropout) and layer.p > 0:
                kept = torch.rand(x.shape, generator=dropout) >= layer.p
                x = x * (kept / (1 - layer.p))
        return x, _dense(features, *self.second) if self.second else None

    def clip(self, norm: Number | None, value: Number | None) -> Float[Tensor, " members"]:
        """Clip the gradient of each network; return the norms before clipping.

        Gradients that are not finite are set to 0, so that they do not spread.
        """
        gradients = [v.grad for v in self.values + self.second if v.grad is not None]
        parts = [torch.linalg.vector_norm(g.flatten(1), dim=1) for g in gradients]
        norms: Tensor = torch.linalg.vector_norm(torch.stack(parts), dim=0)
        scale = torch.ones_like(norms) if norm is None else (norm / (norms + 1e-6)).clamp(max=1.0)
        scale = torch.where(norms.isfinite(), scale, 0.0)
        is_broken = bool((scale == 0).any())
        for gradient in gradients:
            if is_broken:
                gradient.nan_to_num_(0.0, 0.0, 0.0)
            gradient.mul_(scale.view(-1, *(1,) * (gradient.ndim - 1)))
            if value is not None:
                gradient.clamp_(-value, value)
        return norms

    def states(self, values: Sequence[Tensor]) -> list[dict[str, Tensor]]:
        """The weights of each network by name.

        Args:
            values: Stacked weights, such as averaged ones.
        """
        return [
            {name: _turned(value[member]) for name, value in zip(self._names, values, strict=True)}
            for member in range(len(values[0]))
        ]


def _dense(
    x: Float[Tensor, "members batch inputs"], weight: Tensor, bias: Tensor | None = None
) -> Float[Tensor, "members batch outputs"]:
    """A dense layer of every network."""
    if bias is None:
        return torch.bmm(x, weight)
    return torch.baddbmm(bias[:, None], x, weight)


def _drawn(
    objectives: Sequence[Objective], rows: Sequence[Int[Tensor, " _"]], updates: Sequence[int]
) -> tuple[Int[Tensor, "updates members batch"], Int[Tensor, "updates sets size"] | None]:
    """Examples of every update and network, and the sets as positions in their joined batches."""
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
    method: Method, labels: Int[Tensor, "members batch"], classes: int, generator: torch.Generator
) -> Int[Tensor, " all"] | None:
    """Random labels for the second head of the control."""
    if method.head != "noise":
        return None
    return torch.randint(classes, (labels.numel(),), generator=generator)


def _turned(weights: Tensor) -> Tensor:
    """The transpose of a matrix; biases stay as they are."""
    return weights.detach().T.contiguous() if weights.ndim == 2 else weights.detach().clone()
