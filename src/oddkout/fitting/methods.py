"""The methods of the paper, a row each: what an update sees, and what is asked of the model."""

from dataclasses import dataclass, replace
from typing import Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from oddkout.checks import Number, at_least, one_of
from oddkout.losses import class_weights, focal_loss, weighted_cross_entropy
from oddkout.losses.set_loss import Targets, unchecked_set_losses
from oddkout.randomness import keyed_generator
from oddkout.sets import ClassIndex, Singletons

LABEL_SMOOTHING = 0.1
FOCAL_GAMMA = 2.0
PAPER_TEMPERATURE = 2.0

# Examples of an update, and the sets among them where a method asks for some.
Drawn = tuple[Int[Tensor, " batch"], Int[Tensor, "sets members"] | None]

# Updates whose examples and sets are drawn at once: one by one, drawing costs several times that.
_BLOCK = 32


@dataclass(frozen=True, kw_only=True)
class Method:
    """One way to train a classifier.

    Attributes:
        name: What users type.
        batches: What an update sees: ``"shuffled"`` examples, every one once an epoch;
            ``"balanced"`` ones, a class and then an example with replacement; or a ``"pool"`` to
            draw sets in.
        loss: What is asked of the model for them.
        smoothing: Label smoothing of cross-entropy.
        k: Number of odd classes in a set.
        targets: Targets of the set loss.
        head: A second head for training only: none, one that names the ``"odd"`` class, or one
            that names ``"noise"``, random labels, which is the control for the former.
        temperature: What the logits are divided by after training: nothing, a number, or one that
            is ``"fit"`` on data that were held out.
    """

    name: str
    batches: Literal["shuffled", "balanced", "pool"]
    loss: Literal["cross-entropy", "weighted", "focal", "sets"]
    smoothing: Number = 0.0
    k: int = 0
    targets: Targets = "hard"
    head: Literal["none", "odd", "noise"] = "none"
    temperature: Number | Literal["none", "fit"] = "none"

    @property
    def is_balanced(self) -> bool:
        """Whether it trains for equally frequent classes, whatever the frequencies of the data."""
        return self.batches != "shuffled" or self.loss == "weighted"


METHODS = {
    method.name: method
    for method in (
        Method(name="vanilla", batches="shuffled", loss="cross-entropy"),
        Method(
            name="vanilla+ls",
            batches="shuffled",
            loss="cross-entropy",
            smoothing=LABEL_SMOOTHING,
        ),
        Method(name="weighted", batches="shuffled", loss="weighted"),
        Method(name="focal", batches="shuffled", loss="focal"),
        Method(name="bb", batches="balanced", loss="cross-entropy"),
        Method(name="bb+ls", batches="balanced", loss="cross-entropy", smoothing=LABEL_SMOOTHING),
        Method(
            name="bb+ts", batches="balanced", loss="cross-entropy", temperature=PAPER_TEMPERATURE
        ),
        Method(name="bb+ts-fit", batches="balanced", loss="cross-entropy", temperature="fit"),
        Method(name="bb+noise", batches="balanced", loss="cross-entropy", head="noise"),
        Method(name="pair", batches="pool", loss="sets", k=0),
        Method(name="oko", batches="pool", loss="sets", k=1, head="odd"),
        Method(name="oko-soft", batches="pool", loss="sets", k=1, targets="soft"),
    )
}


def chosen_method(name: str, *, k: int | None = None, head: bool | None = None) -> Method:
    """A method of the table, with another k or without its head if so asked.

    Args:
        name: Name of the method.
        k: Number of odd classes, for methods that draw sets; the method's own if not given.
        head: Whether there is an odd-class head; if not given, for k = 1 where the method has one.

    Example:
        >>> chosen_method("oko", k=3).k
        3
    """
    one_of("method", name, METHODS)
    how = METHODS[name]
    if how.loss != "sets":
        if k is not None or head is not None:
            given = f"k={k}" if k is not None else f"head={head}"
            raise ValueError(f"{name} draws no sets, got {given}; leave it out")
        return how
    if k is not None:
        # The odd-class head is made for one odd class: more have none, unless asked for.
        how = replace(how, k=at_least("k", k, 0), head=how.head if k == 1 else "none")
    if head is not None:
        if head and how.k == 0:
            raise ValueError("a set with k=0 has no odd class for a head to name; leave it out")
        how = replace(how, head="odd" if head else "none")
    return how


class Objective:
    """A method on given training labels: draws the batches, and gives their loss.

    Everything it draws is a function of the seed and the number of the update.

    Args:
        method: The method.
        labels: Class of every training example.
        classes: Number of classes, columns of the logits.
        examples: Number of examples in an update; a pool holds the nearest number of each class.
        sets: Number of sets in an update; twice as many as examples if not given.
        layout: ``"pool"`` draws sets in a balanced pool, ``"paper"`` from all training data; the
            model sees each of their distinct members once.
        singletons: What sets do with classes of one example, see ``ClassIndex``.
        seed: Key of all randomness.
        rank: Number of this process among those that share the training; each draws its own.
        processes: Their number.
    """

    def __init__(
        self,
        method: Method,
        labels: Int[Tensor, " examples"],
        *,
        classes: int,
        examples: int,
        sets: int | None = None,
        layout: Literal["pool", "paper"] = "pool",
        singletons: Singletons = "error",
        seed: int = 0,
        rank: int = 0,
        processes: int = 1,
    ) -> None:
        self.method = method
        self._labels = labels
        self._classes = classes
        self._examples = at_least("examples", examples, 1)
        self._sets = sets
        self._layout = layout
        self._seed = seed
        self._rank = rank
        self._processes = processes
        self._singletons: Singletons = singletons if method.loss == "sets" else "repeat"
        self._index = ClassIndex(labels, singletons=self._singletons)  # only sets need pairs
        self._per_class = max(2, round(self._examples / len(self._index.classes)))
        self._inside: ClassIndex | None = None
        self._block = -1
        self._drawn: list[Drawn] = []
        self._orders: dict[int, Int[Tensor, " examples"]] = {}
        self._weight = class_weights(labels, classes=classes) if method.loss == "weighted" else None

    def draw(self, update: int) -> Drawn:
        """Examples of an update, and the sets among them if it has any.

        Args:
            update: Number of the update, from 0.
        """
        if self.method.batches == "shuffled":
            return self._shuffled(update), None
        block, place = divmod(update, _BLOCK)
        if block != self._block:
            self._drawn, self._block = self._draw_block(block), block
        return self._drawn[place]

    def loss(
        self,
        output: Tensor | tuple[Tensor, Tensor],
        labels: Int[Tensor, " batch"],
        sets: Int[Tensor, "sets members"] | None,
        *,
        update: int,
        head_weight: Number,
    ) -> Float[Tensor, ""]:
        """Loss of an update.

        Args:
            output: Logits of the batch, or those of both heads.
            labels: Classes of the batch.
            sets: The sets among them, as drawn.
            update: Number of the update, from 0.
            head_weight: Weight of the second head's loss.
        """
        logits, second = output if isinstance(output, tuple) else (output, None)
        if self.method.loss == "sets":
            assert sets is not None, "a method that asks for sets draws some"
            losses = unchecked_set_losses(
                logits,
                labels[sets],
                sets,
                targets=self.method.targets,
                odd_logits=second,
                odd_weight=head_weight,
            )
            return losses.mean()
        if self.method.loss == "focal":
            loss = focal_loss(logits, labels, gamma=FOCAL_GAMMA)
        elif self._weight is not None:
            loss = weighted_cross_entropy(logits, labels, weight=self._weight)
        else:
            loss = F.cross_entropy(logits, labels, label_smoothing=float(self.method.smoothing))
        if second is not None:
            generator = keyed_generator(self._seed, 2, self._rank, update)
            noise = torch.randint(self._classes, (len(labels),), generator=generator)
            loss = loss + head_weight * F.cross_entropy(second, noise.to(labels.device))
        return loss

    def _draw_block(self, block: int) -> list[Drawn]:
        """What the updates of a block see, drawn together."""
        generator = keyed_generator(self._seed, 1, self._rank, block)
        if self.method.batches == "balanced":
            drawn = self._index.draw_examples(examples=_BLOCK * self._examples, generator=generator)
            return [(batch, None) for batch in torch.split(drawn, self._examples)]
        k, sets = self.method.k, self._sets or 2 * self._examples
        if self._layout == "paper":
            members = self._index.draw_sets(k=k, sets=_BLOCK * sets, generator=generator)
            return [_distinct(own) for own in torch.split(members, sets)]
        pools = self._index.draw_pools(pools=_BLOCK, per_class=self._per_class, generator=generator)
        if self._inside is None:  # a pool lists its classes in the same order every time
            self._inside = ClassIndex(self._labels[pools[0]], singletons=self._singletons)
        inside = self._inside.draw_sets(k=k, sets=_BLOCK * sets, generator=generator)
        return list(zip(pools, torch.split(inside, sets), strict=True))

    def _shuffled(self, update: int) -> Int[Tensor, " batch"]:
        """The next examples of one shuffled epoch after the other, whatever divides what."""
        count = len(self._labels)
        start = (update * self._processes + self._rank) * self._examples
        epochs = range(start // count, (start + self._examples - 1) // count + 1)
        order = [self._order(epoch) for epoch in epochs]
        first = start - epochs[0] * count
        return torch.cat(order)[first : first + self._examples]

    def _order(self, epoch: int) -> Int[Tensor, " examples"]:
        """Order of the examples in an epoch, kept as long as updates may reach into it."""
        if epoch not in self._orders:
            generator = keyed_generator(self._seed, 3, epoch)
            self._orders = {near: self._orders[near] for near in self._orders if near >= epoch - 1}
            self._orders[epoch] = torch.randperm(len(self._labels), generator=generator)
        return self._orders[epoch]


def _distinct(members: Int[Tensor, "sets members"]) -> Drawn:
    """The distinct members of some sets, and the sets as positions among them."""
    pool, positions = torch.unique(members, return_inverse=True)
    return pool, positions.view(members.shape)
