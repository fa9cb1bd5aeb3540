"""Other losses, heads and steps for the recipe's training, in a loop of its own: ``lead.py``."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import torch
import torch.nn.functional as F
from torch import nn

from oddkout.fitting.methods import METHODS
from oddkout.fitting.objective import Objective
from oddkout.fitting.recipe import Recipe
from oddkout.fitting.training import predict_logits
from oddkout.models import build_model, initialise
from oddkout.paper.first_recipe import FIRST_RECIPE
from oddkout.randomness import keyed_generator, keyed_globals

RECIPE = Recipe(**FIRST_RECIPE)
OPTIONS = RECIPE.options
LINEAR, EMBEDDING = partial(nn.Linear, 128, 10), partial(nn.Linear, 128, 64)


@dataclass
class Pool:
    """The examples of an update and the sets among them, at every stage of the paper's CNN."""

    model: nn.Sequential
    head: nn.Module
    images: torch.Tensor
    labels: torch.Tensor
    sets: torch.Tensor
    fading: float  # weight of the odd-class loss
    hidden_dropout: float = 0.0

    @cached_property
    def before(self):
        """What the dense layer gives, before its ReLU."""
        position = list(dict(self.model.named_children())).index("dense")
        hidden = self.model[:position](self.images)
        return self.model.dense(F.dropout(hidden, self.hidden_dropout))

    @cached_property
    def features(self):
        """The last features, some of them dropped."""
        return self.model.dropout(F.relu(self.before))

    @cached_property
    def logits(self):
        return self.model.out(self.features)

    @property
    def summed(self):
        """Logits of every set."""
        return self.logits[self.sets].sum(dim=1)

    @property
    def pair(self):
        return self.labels[self.sets[:, 0]]

    @property
    def odd(self):
        return self.labels[self.sets[:, 2]]

    def odd_loss(self, logits=None):
        """The odd-class loss as it fades; by the paper's head if no logits are given."""
        if logits is None:
            logits = self.head(self.features)[self.sets].sum(dim=1)
        return self.fading * F.cross_entropy(logits, self.odd)

    def behind(self, before):
        """Logits of what is given to the dense layer's ReLU."""
        return self.model.out(self.model.dropout(F.relu(before)))


def scaled(factor):
    """Set logits times a factor."""
    return lambda pool: F.cross_entropy(factor * pool.summed, pool.pair) + pool.odd_loss()


odd_k_out = scaled(1)


def hardest(share):
    """Only the sets of the highest losses."""

    def loss(pool):
        losses = F.cross_entropy(pool.summed, pool.pair, reduction="none")
        return losses.topk(int(share * len(losses))).values.mean() + pool.odd_loss()

    return loss


def dropped_per_set(pool):
    """Features dropped anew in every set that an example is in."""
    members = F.relu(pool.before)[pool.sets]
    features = F.dropout(members, RECIPE.dropout)
    return F.cross_entropy(pool.model.out(features).sum(dim=1), pool.pair) + pool.odd_loss()


def weighted_members(pool):
    """Members of random weights, of which the pair has at least half."""
    odd = torch.rand(len(pool.sets), 1) / 2
    first = torch.rand(len(pool.sets), 1) * (1 - odd)
    weights = 3 * torch.cat([first, 1 - odd - first, odd], dim=1)
    summed = (weights[:, :, None] * pool.logits[pool.sets]).sum(dim=1)
    return F.cross_entropy(summed, pool.pair) + pool.odd_loss()


def partly_soft(pool):
    """Three tenths of the loss with soft targets."""
    members = pool.labels[pool.sets]
    soft = -pool.summed.log_softmax(dim=1).gather(1, members).mean()
    return 0.7 * F.cross_entropy(pool.summed, pool.pair) + 0.3 * soft + pool.odd_loss()


def averaged_early(pool):
    """Sets averaged before the last ReLU instead of summed after it."""
    logits = pool.behind(pool.before[pool.sets].mean(dim=1))
    return F.cross_entropy(logits, pool.pair) + pool.odd_loss()


def averaged_early_too(pool):
    """The former and the sums of logits."""
    return averaged_early(pool) + F.cross_entropy(pool.summed, pool.pair)


def averaged_images(pool):
    """The class of the pair told from the mean image of 32 sets, too."""
    sets = pool.sets[:32]
    mixed = pool.model(pool.images[sets].mean(dim=1))
    return F.cross_entropy(mixed, pool.labels[sets[:, 0]]) + odd_k_out(pool)


def deep_head(pool):
    """An odd-class head with a hidden layer, which can tell a class that is there once."""
    told = pool.head(pool.features[pool.sets].mean(dim=1))
    return F.cross_entropy(pool.summed, pool.pair) + pool.odd_loss(told)


def early_head(pool):
    """An odd-class head that sees the set averaged before the last ReLU."""
    features = pool.model.dropout(F.relu(pool.before[pool.sets].mean(dim=1)))
    return F.cross_entropy(pool.summed, pool.pair) + pool.odd_loss(pool.head(features))


def odd_one_out(pool):
    """A head whose normalised outputs must be nearest for the pair, as in the odd-one-out task."""
    near = F.normalize(pool.head(pool.features), dim=1)[pool.sets]
    products = torch.stack(
        [(near[:, one] * near[:, two]).sum(dim=1) for one, two in ((0, 1), (0, 2), (1, 2))], dim=1
    )
    told = F.cross_entropy(products / 0.2, torch.zeros_like(pool.pair))
    return F.cross_entropy(pool.summed, pool.pair) + told


def contrastive(weight):
    """A head for supervised contrastive learning (Khosla et al., NeurIPS 2020) over the pool."""

    def loss(pool):
        near = F.normalize(pool.head(pool.features), dim=1)
        itself = torch.eye(len(near), dtype=torch.bool)
        products = (near @ near.T / 0.2).masked_fill(itself, -math.inf)
        alike = (pool.labels[:, None] == pool.labels) & ~itself
        told = -products.log_softmax(dim=1)[alike].mean()
        return F.cross_entropy(pool.summed, pool.pair) + weight * told

    return loss


def smoothed(pool):
    return F.cross_entropy(pool.logits, pool.labels, label_smoothing=0.1)


def hidden_layer():
    return nn.Sequential(nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10))


@dataclass(frozen=True)
class Patch:
    """The same training with another loss, head or step, in a loop of its own."""

    loss: Callable[[Pool], torch.Tensor]
    method: str = "oko"
    head: Callable[[], nn.Module] = LINEAR
    sharpness: float = 0.0  # distance of the steps of Foret et al., ICLR 2021
    hidden_dropout: float = 0.0

    def logits(self, x, y, x_held, seed):
        model = build_model(
            "cnn",
            shape=(1, 28, 28),
            classes=10,
            generator=keyed_generator(seed, 0),
            dropout=RECIPE.dropout,
        )
        head = initialise(self.head(), keyed_generator(seed, 4))
        objective = Objective(
            METHODS[self.method],
            y,
            classes=10,
            budget=OPTIONS["budget"],
            seed=seed,
        )
        both = nn.ModuleList([model, head])
        step = OPTIONS["optimiser"].of(both)
        model.train().to(memory_format=torch.channels_last)
        x = x.contiguous(memory_format=torch.channels_last)

        def differentiate(update):
            """Gradients of an update; the same draws every time."""
            batch, sets = objective.draw(update)
            step.zero_grad()
            with keyed_globals(seed, 6, 0, update, device=x.device):
                self.loss(
                    Pool(
                        model=model,
                        head=head,
                        images=x[batch],
                        labels=y[batch],
                        sets=sets,
                        fading=OPTIONS["head"].at(update / RECIPE.updates),
                        hidden_dropout=self.hidden_dropout,
                    )
                ).backward()
            return [weight for weight in both.parameters() if weight.grad is not None]

        for update in range(RECIPE.updates):
            for group in step.param_groups:
                group["lr"] = OPTIONS["optimiser"].rate(update / RECIPE.updates)
            weights = differentiate(update)
            if self.sharpness:
                norm = nn.utils.get_total_norm(weight.grad for weight in weights)
                uphill = [weight.grad * (self.sharpness / norm) for weight in weights]
                with torch.no_grad():
                    torch._foreach_add_(weights, uphill)
                differentiate(update)
                with torch.no_grad():
                    torch._foreach_sub_(weights, uphill)
            nn.utils.clip_grad_norm_(weights, RECIPE.clip_norm)
            step.step()
        return predict_logits(model, x_held)
