"""The table of methods: objective, balance, and what happens after training."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from oddkout.balance import Balance
from oddkout.checks import Number, at_least, one_of
from oddkout.fitting.mixing import MixingKind
from oddkout.losses.set_loss import Targets

LABEL_SMOOTHING = 0.1
FOCAL_GAMMA = 2.0
PAPER_TEMPERATURE = 2.0
EFFECTIVE_BETA = 0.9999

NATURAL = Balance(kind="none")
EQUAL = Balance(kind="resample", power=0)
WEIGHTED = Balance(kind="reweight")
ADJUSTED = Balance(kind="adjust", power=1)

# Share of the updates after which the second stage begins, for methods that have one.
SECOND_STAGE = 0.6

# Class sizes that differ by at most this factor count as equal.
_EQUAL_SIZES = 1.5


@dataclass(frozen=True, kw_only=True)
class Method:
    """One way to train a classifier.

    Attributes:
        name: Name of the method in commands and tables.
        loss: The loss function.
        balance: How class imbalance is handled.
        smoothing: Label smoothing of cross-entropy.
        gamma: Exponent of the focal loss.
        k: Number of odd classes in a set.
        targets: Targets of the set loss.
        mixing: How examples are mixed with each other.
        is_deferred: Whether balance takes effect only in the second stage of training.
        is_retrained: Whether the second stage trains the last layer alone, from new weights.
        parts: For a stack: the names of its methods if classes have equal sizes, and if not.
        is_for_tables: Whether it is the stack of ``TABLE_VIEWS``, which has its own recipe.
        head: A second head, used in training only. ``"odd"`` predicts the odd class; its control
            ``"noise"`` predicts random labels.
        temperature: Divisor of the logits after training: ``"none"``, a number, or ``"fit"`` for a
            temperature fitted out of fold.
        summary: The method in a sentence.
        source: Publication.
    """

    name: str
    loss: Literal["cross-entropy", "focal", "margin", "sets"] = "cross-entropy"
    balance: Balance = NATURAL
    smoothing: Number = 0.0
    gamma: Number = FOCAL_GAMMA
    k: int = 0
    targets: Targets = "hard"
    mixing: MixingKind = "none"
    is_deferred: bool = False
    is_retrained: bool = False
    parts: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    is_for_tables: bool = False
    head: Literal["none", "odd", "noise"] = "none"
    temperature: Number | Literal["none", "fit"] = "none"
    summary: str = ""
    source: str = ""

    @property
    def batches(self) -> Literal["shuffled", "balanced", "pool", "paired"]:
        """How the examples of an update are drawn.

        ``"shuffled"``: each example once per epoch. ``"balanced"``: a random class, then one of its
        examples, with replacement. ``"pool"``: distinct examples of each class, from which sets are
        drawn. ``"paired"``: pairs of one class by a power of its frequency, from which sets are
        drawn.
        """
        if self.loss == "sets":
            return "paired" if self.balance.kind == "adjust" else "pool"
        return "balanced" if self.balance.kind == "resample" else "shuffled"


_OKO = "Muttenthaler et al., ICLR 2024"
_MENON = "Menon et al., ICLR 2021"

METHODS = {
    method.name: method
    for method in (
        Method(name="vanilla", summary="Cross-entropy on natural batches."),
        Method(
            name="vanilla+ls",
            smoothing=LABEL_SMOOTHING,
            summary="Cross-entropy with label smoothing.",
            source="Szegedy et al., CVPR 2016",
        ),
        Method(
            name="weighted",
            balance=WEIGHTED,
            summary="Cross-entropy weighted by inverse class frequency.",
        ),
        Method(
            name="focal",
            loss="focal",
            summary="Focal loss: well-classified examples count less.",
            source="Lin et al., ICCV 2017",
        ),
        Method(
            name="bb",
            balance=EQUAL,
            summary="Cross-entropy on batches in which all classes are equally likely.",
        ),
        Method(
            name="bb+ls",
            balance=EQUAL,
            smoothing=LABEL_SMOOTHING,
            summary="Balanced batches with label smoothing.",
        ),
        Method(
            name="bb+ts",
            balance=EQUAL,
            temperature=PAPER_TEMPERATURE,
            summary="Balanced batches; logits are divided by 2 after training.",
        ),
        Method(
            name="bb+ts-fit",
            balance=EQUAL,
            temperature="fit",
            summary="Balanced batches; logits are divided by a temperature fitted out of fold.",
            source="Guo et al., ICML 2017",
        ),
        Method(
            name="bb+noise",
            balance=EQUAL,
            head="noise",
            summary="Balanced batches and a second head on random labels: a control for oko.",
        ),
        Method(
            name="pair",
            loss="sets",
            balance=EQUAL,
            summary="Odd-k-out learning without odd classes: pairs only.",
            source=_OKO,
        ),
        Method(
            name="oko",
            loss="sets",
            balance=EQUAL,
            k=1,
            head="odd",
            summary="Odd-k-out learning: logits are summed over a pair and an odd example.",
            source=_OKO,
        ),
        Method(
            name="oko-soft",
            loss="sets",
            balance=EQUAL,
            k=1,
            targets="soft",
            summary="Odd-k-out learning with soft targets: part of the mass on the odd class.",
            source=_OKO,
        ),
        Method(
            name="vanilla+la",
            balance=ADJUSTED,
            summary="Logit adjustment: the log class frequencies are added in training.",
            source=_MENON,
        ),
        Method(
            name="vanilla+ls+la",
            balance=ADJUSTED,
            smoothing=LABEL_SMOOTHING,
            summary="Logit adjustment with label smoothing.",
            source=_MENON,
        ),
        Method(
            name="cb",
            balance=Balance(kind="reweight", beta=EFFECTIVE_BETA),
            summary="Cross-entropy weighted by the inverse effective number of examples.",
            source="Cui et al., CVPR 2019",
        ),
        Method(
            name="oko+la",
            loss="sets",
            balance=ADJUSTED,
            k=1,
            summary="Odd-k-out learning on natural frequencies, adjusted for the prior.",
        ),
        Method(
            name="ldam+drw",
            loss="margin",
            balance=Balance(kind="reweight", beta=EFFECTIVE_BETA),
            is_deferred=True,
            summary="Margins that are larger for rare classes; class weights in the second stage.",
            source="Cao et al., NeurIPS 2019",
        ),
        Method(
            name="mixup",
            mixing="mixup",
            summary="Cross-entropy on mixtures of two examples.",
            source="Zhang et al., ICLR 2018",
        ),
        Method(
            name="remix",
            mixing="remix",
            summary="Mixup whose labels favour the rarer class.",
            source="Chou et al., ECCV Workshops 2020",
        ),
        Method(
            name="crt",
            balance=EQUAL,
            is_deferred=True,
            is_retrained=True,
            summary="Natural batches; then the last layer is trained anew on balanced ones.",
            source="Kang et al., ICLR 2020",
        ),
        Method(
            name="stack",
            parts=(("oko", "vanilla+ls"), ("oko+la", "vanilla+ls+la")),
            summary="oko and vanilla+ls together, both with +la unless classes have equal sizes; "
            "weights are fitted out of fold.",
        ),
        Method(name="tables", k=1, is_for_tables=True, summary="Five views of a table, stacked."),
    )
}

# What a comparison runs by default, on images and on tables: short, and each for a reason.
DEFAULT_METHODS = ("vanilla", "vanilla+ls", "weighted", "bb+ls", "vanilla+ls+la", "oko", "oko+la",
                   "stack")  # fmt: skip
TABLE_METHODS = (*DEFAULT_METHODS[1:], "tables")

# The paper's methods and the control.
PAPER_METHODS = ("vanilla", "vanilla+ls", "weighted", "focal", "bb", "bb+ls", "bb+ts", "bb+ts-fit",
                 "bb+noise", "pair", "oko", "oko-soft")  # fmt: skip


def chosen_method(name: str, *, k: int | None = None, head: bool | None = None) -> Method:
    """A method of the table, with another k or another choice of head if requested.

    Args:
        name: Name of the method.
        k: Number of odd classes, for methods that draw sets; by default that of the method.
        head: Whether to train an odd-class head. By default, ``oko`` has one for k = 1 only.

    Example:
        >>> chosen_method("oko", k=3).k
        3
    """
    one_of("method", name, METHODS)
    method = METHODS[name]
    if method.loss != "sets" and not method.is_for_tables:
        if k is not None or head is not None:
            given = f"k={k}" if k is not None else f"head={head}"
            raise ValueError(f"{name} draws no sets, got {given}; leave it out")
        return method
    if k is not None:
        # The odd-class head is designed for one odd class, so other k have none by default.
        method = replace(method, k=at_least("k", k, 0), head=method.head if k == 1 else "none")
    if head is not None:
        if method.is_for_tables:
            raise ValueError(f"{name} has no odd-class head, got head={head}; leave it out")
        if head and method.k == 0:
            raise ValueError("an odd-class head needs an odd class, got k=0; leave the head out")
        method = replace(method, head="odd" if head else "none")
    return method


def parts_of(method: Method, sizes: Sequence[int]) -> tuple[Method, ...]:
    """The methods that a stack consists of; any other method consists of itself.

    Args:
        sizes: Number of training examples of each class.

    Example:
        >>> [part.name for part in parts_of(METHODS["stack"], [50, 5])]
        ['oko+la', 'vanilla+ls+la']
    """
    if method.parts is None:
        return (method,)
    present = [size for size in sizes if size]
    equal, unequal = method.parts
    names = equal if max(present) <= _EQUAL_SIZES * min(present) else unequal
    return tuple(METHODS[name] for name in names)


def method_names(names: Sequence[str]) -> list[str]:
    """Checked names of methods, without duplicates; ``"all"`` stands for every method.

    Example:
        >>> method_names(["oko", "bb", "oko"])
        ['oko', 'bb']
    """
    if list(names) == ["all"]:
        return list(METHODS)
    for name in names:
        one_of("method", name, METHODS)
    return list(dict.fromkeys(names))
