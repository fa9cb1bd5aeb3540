"""Ours: odd-k-out learning on any class frequencies, adjusted for the prior of the pairs."""

from itertools import permutations, product

import torch
import torch.nn.functional as F
from jaxtyping import Float64, Int64
from torch import Tensor

from oddkout.balance import to_power
from oddkout.checks import Number
from oddkout.paper.theory.statement import Check, Statement

# Likelihoods of four values of x in three classes, and class frequencies of training data.
LIKELIHOODS = torch.tensor(
    [[0.5, 0.3, 0.15, 0.05], [0.1, 0.2, 0.4, 0.3], [0.2, 0.2, 0.2, 0.4]], dtype=torch.float64
)
PRIOR = torch.tensor([0.7, 0.2, 0.1], dtype=torch.float64)

Enumerated = tuple[Int64[Tensor, "sets members"], Int64[Tensor, " sets"], Float64[Tensor, " sets"]]


def all_sets(
    likelihoods: Float64[Tensor, "classes values"], prior: Float64[Tensor, " classes"], *, k: int
) -> Enumerated:
    """Every set with its pair class and its probability.

    The pair class is drawn by the prior, each odd class by the prior among those that are left.
    """
    classes, values = likelihoods.shape
    members, pairs, chances = [], [], []
    for pair in range(classes):
        for odd in permutations([c for c in range(classes) if c != pair], k):
            chance, left = prior[pair].item(), 1 - prior[pair].item()
            for label in odd:
                chance, left = chance * prior[label].item() / left, left - prior[label].item()
            owners = (pair, pair, *odd)
            for x in product(range(values), repeat=k + 2):
                own = likelihoods[list(owners), list(x)].prod().item()
                members.append(x)
                pairs.append(pair)
                chances.append(chance * own)
    return torch.tensor(members), torch.tensor(pairs), torch.tensor(chances, dtype=torch.float64)


def minimiser(
    sets: Enumerated, *, values: int, offset: Float64[Tensor, " classes"]
) -> Float64[Tensor, "values classes"]:
    """The logits of every value of x that minimise the expected loss of all sets.

    Args:
        sets: See ``all_sets``.
        values: Number of values of x.
        offset: Added to the summed logits.
    """
    members, pairs, chances = sets
    logits = torch.zeros(values, len(offset), dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS(
        [logits],
        max_iter=2000,
        history_size=50,
        tolerance_grad=1e-12,
        tolerance_change=0,
        line_search_fn="strong_wolfe",
    )

    def loss() -> Tensor:
        optimiser.zero_grad()
        summed = logits[members].sum(dim=1) + offset
        expected = chances @ F.cross_entropy(summed, pairs, reduction="none")
        torch.autograd.backward(expected)
        return expected

    optimiser.step(loss)  # type: ignore[no-untyped-call]  # untyped in PyTorch
    found = logits.detach()
    return found - found.mean(dim=1, keepdim=True)


def found_logits(
    *, k: int, power: Number, is_adjusted: bool = True, is_informative: bool = True
) -> Float64[Tensor, "values classes"]:
    """The minimiser for pairs drawn by a power of the class frequency."""
    shares = to_power(PRIOR, power)
    likelihoods = LIKELIHOODS if is_informative else torch.full_like(LIKELIHOODS, 0.25)
    offset = shares.log() if is_adjusted else torch.zeros_like(shares)
    return minimiser(all_sets(likelihoods, shares, k=k), values=4, offset=offset)


def adjusted_sets() -> Statement:
    """Check what the prior does to the minimiser, with and without adjustment."""
    posterior = (LIKELIHOODS / LIKELIHOODS.sum(dim=0)).T
    truth = LIKELIHOODS.log().T - LIKELIHOODS.log().T.mean(dim=1, keepdim=True)
    log_prior = PRIOR.log() - PRIOR.log().mean()
    checks = []
    for k in (0, 1, 2):
        plain = found_logits(k=k, power=1, is_adjusted=False, is_informative=False)
        adjusted = found_logits(k=k, power=1, is_informative=False)
        checks += [
            Check(
                quantity=f"k={k}, x says nothing: logits minus log prior / {k + 2}",
                value=(plain - log_prior / (k + 2)).abs().max().item(),
                relation="=",
                expected=0,
                tolerance=1e-6,
                reason="minimisation",
            ),
            Check(
                quantity=f"k={k}, x says nothing: adjusted logits",
                value=adjusted.abs().max().item(),
                relation="=",
                expected=0,
                tolerance=1e-6,
                reason="minimisation",
            ),
        ]
    for power in (0.0, 0.5, 1.0):
        gap = (found_logits(k=0, power=power).softmax(dim=1) - posterior).abs().max().item()
        checks.append(
            Check(
                quantity=f"k=0, power {power:g}: distance from the balanced posterior",
                value=gap,
                relation="=",
                expected=0,
                tolerance=1e-6,
                reason="minimisation",
            )
        )
    slopes = []
    for k in (1, 2):
        uniform = found_logits(k=k, power=0)
        natural = found_logits(k=k, power=1)
        plain = found_logits(k=k, power=1, is_adjusted=False)
        bias, unadjusted = (
            (one - uniform).mean(dim=0).abs().max().item() for one in (natural, plain)
        )
        slopes.append((uniform * truth).sum().item() / (truth * truth).sum().item())
        checks += [
            Check(
                quantity=f"k={k}: bias of a class at power 1 against power 0",
                value=bias,
                relation="<=",
                expected=0.02,
                reason="in these four values of x",
            ),
            Check(
                quantity=f"k={k}: the same without adjustment",
                value=unadjusted,
                relation=">=",
                expected=0.25,
                reason="in these four values of x",
            ),
        ]
    return Statement(
        name="Ours: adjusted sets",
        statement="If pair classes are drawn by frequencies P, adding log P once to the summed "
        "logits of a set takes the prior out of the logits. Without it, each of the k + 2 members "
        "carries 1 / (k + 2) of the log prior.",
        computed="Every set of three classes and four values of x with its probability; the logits "
        "that minimise the expected loss. Power 0 is the paper's odd-k-out learning, power 1 "
        "natural frequencies.",
        checks=tuple(checks),
        remarks=(
            "With k = 0 the minimiser is exactly the posterior for equally frequent classes, "
            "whatever the power.",
            "With k = 1 and 2 it is not, for any power: the odd members pull the logits together. "
            f"They are {slopes[0]:.2f} and {slopes[1]:.2f} times those of the posterior (least "
            "squares), so a temperature below 1 is needed.",
        ),
    )
