"""The examples that each update draws, and its loss, for every method."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from oddkout.checks import Number
from oddkout.fitting.budget import Budget
from oddkout.fitting.methods import Method
from oddkout.fitting.mixing import Mixing, draw_mixing
from oddkout.fitting.stages import second_stage
from oddkout.fitting.update_loss import update_loss
from oddkout.losses import class_weights, effective_number_weights
from oddkout.losses.margin import ldam_margins
from oddkout.models.cosine import SCALE
from oddkout.pairs import draw_pairs, natural_sets, pair_frequencies, sets_of_pairs
from oddkout.partners import Partners
from oddkout.prior import class_frequencies
from oddkout.randomness import keyed_generator
from oddkout.sets import ClassIndex

# Examples of an update, and the sets among them for methods that use sets.
Drawn = tuple[Int[Tensor, " batch"], Int[Tensor, "sets members"] | None]

# Number of updates drawn together: drawing one at a time costs several times as much.
_BLOCK = 32


class Objective:
    """Draws the examples of each update of a method and computes their loss.

    Equivalent to the public samplers and losses, but draws many updates at once, which is several
    times faster. The draws depend only on the seed and the number of the update.

    Args:
        labels: Class of each training example.
        classes: Number of classes, columns of the logits.
        budget: Number of examples and sets per update.
        seed: Seed of all randomness.
        rank: Rank of this process in distributed training; each process draws its own examples.
        processes: Number of processes in distributed training.
        groups: Group of each training example, such as the patient. The two examples of a pair
            are then from different groups, if their class has several.
    """

    def __init__(
        self,
        method: Method,
        labels: Int[Tensor, " examples"],
        *,
        classes: int,
        budget: Budget,
        seed: int = 0,
        rank: int = 0,
        processes: int = 1,
        groups: Int[Tensor, " examples"] | None = None,
    ) -> None:
        self.method = method
        self._partners = None if groups is None else Partners(labels, groups)
        self._labels = labels
        self._classes = classes
        self._budget = budget
        self._seed = seed
        self._rank = rank
        self._processes = processes
        # A class of one example forms its pairs with itself.
        self._index = ClassIndex(labels, singletons="repeat")
        self._examples = min(budget.examples, len(labels))
        self._block = -1
        self._drawn: list[Drawn] = []
        self._orders: dict[int, Int[Tensor, " examples"]] = {}
        self._counts = labels.bincount(minlength=classes)
        self.weight = balance_weights(method, labels, classes=classes)
        self.margins = None
        if method.loss == "margin":
            self.margins = SCALE * ldam_margins(self._counts.clamp_min(1)).float()
        self.offset, self._shares = self._prior()

    def draw(self, update: int) -> Drawn:
        """Draw the examples of an update, and the sets among them if the method uses sets.

        Args:
            update: Number of the update, from 0.
        """
        is_natural = self.method.batches == "shuffled" or self._is_deferred(update)
        if is_natural:
            return self._shuffled(update), None
        block, position = divmod(update, _BLOCK)
        if block != self._block:
            self._drawn, self._block = self._draw_block(block), block
        return self._drawn[position]

    def mixing(self, update: int, labels: Int[Tensor, " batch"]) -> Mixing | None:
        """How to mix the examples of an update; None if the method does not mix.

        Args:
            update: Number of the update, from 0.
            labels: Classes of the batch.
        """
        if self.method.mixing == "none":
            return None
        generator = keyed_generator(self._seed, 8, self._rank, update)
        return draw_mixing(
            labels.cpu(), kind=self.method.mixing, counts=self._counts, generator=generator
        )

    def loss(
        self,
        output: Tensor | tuple[Tensor, Tensor],
        labels: Int[Tensor, " batch"],
        sets: Int[Tensor, "sets members"] | None,
        *,
        update: int,
        head_weight: Number,
        mixing: Mixing | None = None,
    ) -> Float[Tensor, ""]:
        """Loss of an update.

        Args:
            output: Logits of the batch, or the pair of logits of both heads.
            labels: Classes of the batch.
            sets: The sets that ``draw`` returned.
            update: Number of the update, from 0.
            head_weight: Weight of the second head's loss.
            mixing: How its examples were mixed.
        """
        weight = None
        if self.weight is not None and not self._is_deferred(update):
            weight = self.weight.to(labels.device)[labels]
        noise = None
        if self.method.head == "noise":
            generator = keyed_generator(self._seed, 2, self._rank, update)
            noise = torch.randint(self._classes, (len(labels),), generator=generator)
        return update_loss(
            self.method,
            output,
            labels,
            sets,
            # DDP wants a gradient of every weight.
            head_weight=head_weight if head_weight or self._processes == 1 else 1e-30,
            weight=weight,
            offset=self.offset,
            margins=self.margins,
            mixing=mixing,
            noise=noise,
        )

    def _is_deferred(self, update: int) -> bool:
        """Whether balance does not yet take effect."""
        return self.method.is_deferred and update < second_stage(self._budget.updates)

    def _draw_block(self, block: int) -> list[Drawn]:
        """Draw the batches of all updates of a block together."""
        generator = keyed_generator(self._seed, 1, self._rank, block)
        if self.method.batches == "balanced":
            drawn = self._index.draw_examples(examples=_BLOCK * self._examples, generator=generator)
            return [(batch, None) for batch in torch.split(drawn, self._examples)]
        k, sets = self.method.k, self._budget.sets
        if self.method.batches == "paired":
            pairs = draw_pairs(
                self._index,
                batches=_BLOCK,
                pairs=self._pairs,
                shares=self._shares,
                distinct=k + 1,
                generator=generator,
            )
            if self._partners is not None:
                pairs[..., 1] = self._partners.separate(pairs.flatten(0, 1), generator).view(
                    pairs.shape[:2]
                )
            batches = pairs.flatten(1)[:, : self._examples]
            if self._budget.layout == "pairs":
                inside = sets_of_pairs(self._labels[batches], sets=sets, generator=generator)
                return list(zip(batches, inside, strict=True))
            inside = natural_sets(self._labels[batches], k=k, sets=sets, generator=generator)
            return self._separated(batches, inside.flatten(0, 1), generator)
        if self._budget.layout == "paper":
            members = self._index.draw_sets(k=k, sets=_BLOCK * sets, generator=generator)
            if self._partners is not None:
                members[:, 1] = self._partners.separate(members, generator)
            return [_distinct(batch) for batch in torch.split(members, sets)]
        pools, slots = self._index.draw_pools(
            pools=_BLOCK, examples=self._examples, generator=generator
        )
        if self._partners is not None:
            pools = self._partners.separate_pools(pools, generator=generator)
        # All pools of a block have the same layout.
        layout = ClassIndex(slots, singletons="repeat")
        inside = layout.draw_sets(k=k, sets=_BLOCK * sets, generator=generator)
        return self._separated(pools, inside, generator)

    def _separated(
        self,
        batches: Int[Tensor, "batches batch"],
        inside: Int[Tensor, "all_sets members"],
        generator: torch.Generator,
    ) -> list[Drawn]:
        """Batches with their sets, whose pairs are of different groups where that is possible."""
        sets = len(inside) // len(batches)
        if self._partners is not None:
            rows = batches.repeat_interleave(sets, dim=0)
            inside = self._partners.separate_sets(inside, rows, generator=generator)
        return list(zip(batches, torch.split(inside, sets), strict=True))

    def _prior(self) -> tuple[Tensor | None, Tensor]:
        """What training adds to logits or summed logits, and how often classes form pairs."""
        balance, present = self.method.balance, self._index.classes
        natural = class_frequencies(self._labels, classes=self._classes)
        shares = balance.drawn_prior(natural)[present]
        shares = shares / shares.sum()
        if balance.kind != "adjust":
            return None, shares
        drawn = balance.drawn_prior(natural)
        if self.method.loss == "sets":
            exact = pair_frequencies(shares, pairs=self._pairs, distinct=self.method.k + 1)
            drawn[present] = exact * drawn[present].sum()
        return float(balance.tau) * drawn.log(), shares

    @property
    def _pairs(self) -> int:
        """Number of pairs in an update; the partner of the last is left out if it is odd."""
        return -(-self._examples // 2)

    def shuffled(self, updates: range) -> Int[Tensor, "updates batch"]:
        """The batches of successive updates of one process, for methods with shuffled batches."""
        length = len(updates) * self._examples
        return self._span(updates[0] * self._examples, length).view(len(updates), -1)

    def _shuffled(self, update: int) -> Int[Tensor, " batch"]:
        """The batch of an update; a batch may span the end of an epoch and the next one."""
        return self._span((update * self._processes + self._rank) * self._examples, self._examples)

    def _span(self, start: int, length: int) -> Int[Tensor, " _"]:
        """Examples from a position on, counted over all epochs."""
        count = len(self._labels)
        epochs = range(start // count, (start + length - 1) // count + 1)
        order = [self._order(epoch) for epoch in epochs]
        first = start - epochs[0] * count
        return torch.cat(order)[first : first + length]

    def _order(self, epoch: int) -> Int[Tensor, " examples"]:
        """Order of the examples in an epoch, cached while updates may still need it."""
        if epoch not in self._orders:
            generator = keyed_generator(self._seed, 3, epoch)
            self._orders = {near: self._orders[near] for near in self._orders if near >= epoch - 1}
            self._orders[epoch] = torch.randperm(len(self._labels), generator=generator)
        return self._orders[epoch]


def _distinct(members: Int[Tensor, "sets members"]) -> Drawn:
    """The distinct members of the sets, and the sets as positions among these members."""
    pool, positions = torch.unique(members, return_inverse=True)
    return pool, positions.view(members.shape)


def balance_weights(
    method: Method, labels: Int[Tensor, " examples"], *, classes: int
) -> Float[Tensor, " classes"] | None:
    """Weights of the classes, for methods that balance by weights."""
    if method.balance.kind != "reweight":
        return None
    if method.balance.beta is None:
        return class_weights(labels, classes=classes)
    return effective_number_weights(labels, classes=classes, beta=method.balance.beta)
