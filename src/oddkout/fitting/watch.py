"""Out-of-fold NLL during training: find the best stop, and end soon after it."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor

from oddkout.calibrators.temperature import example_weights
from oddkout.prior import Frequencies, PriorLedger

# A stop is judged at the best of these temperatures, since a temperature is fitted afterwards.
_TEMPERATURES = (0.5, 0.7, 1.0, 1.4, 2.0)

# Training ends after this multiple of the updates of the best stop, plus a constant.
_LONGER, _PATIENCE = 1.5, 100

# At most this many examples are predicted at each possible stop.
_MOST = 4000


class FoldWatch:
    """Follows the out-of-fold NLL of members that are trained together.

    Args:
        y: Classes of all examples.
        is_held: For each member, the examples that it is not trained on.
        every: Number of updates between two possible stops.
        ledger: Class frequencies of the logits and of the predictions.
        judged: Class frequencies to judge for; None for those of the examples.

    Attributes:
        rows: For each member, examples to predict at a possible stop; repeated to equal lengths.
        curve: Out-of-fold NLL after each possible stop, by number of updates.
        best: Number of updates of the best stop so far.
    """

    def __init__(
        self,
        y: Int[Tensor, " examples"],
        *,
        is_held: Sequence[Bool[Tensor, " examples"]],
        every: int,
        ledger: PriorLedger,
        judged: Frequencies | None,
    ) -> None:
        held = [mask.nonzero().flatten() for mask in is_held]
        most = max(1, _MOST // len(held))
        if max(map(len, held)) > most:  # evenly spaced: rows may be sorted
            held = [own[_spaced(len(own), most)] for own in held]
        longest = max(map(len, held))
        self.rows = torch.stack([own[torch.arange(longest) % len(own)] for own in held])
        self._is_first = torch.stack([torch.arange(longest) < len(own) for own in held])
        self._labels = y[self.rows[self._is_first]]
        self._weights = example_weights(self._labels, judged).float()
        self._shift = ledger.shift().float()
        self._every = every
        self.curve: dict[int, float] = {}
        self.best = 0

    def is_due(self, update: int) -> bool:
        """Whether training may stop after this many updates."""
        return update % self._every == 0

    def record(self, update: int, logits: Float[Tensor, "members rows classes"]) -> bool:
        """Score the members after an update; return whether they are the best so far.

        Args:
            update: Number of updates so far.
            logits: Logits of ``rows``.
        """
        kept = logits[self._is_first]
        own = [
            F.cross_entropy(kept / temperature + self._shift, self._labels, reduction="none")
            for temperature in _TEMPERATURES
        ]
        nll = (torch.stack(own) @ self._weights).nan_to_num(torch.inf).min().item()
        is_best = not self.curve or nll < self.curve[self.best]
        self.curve[update] = nll
        if is_best:
            self.best = update
        return is_best

    def is_over(self, update: int) -> bool:
        """Whether the minimum lies so far back that training ends."""
        return bool(self.curve) and update >= _LONGER * self.best + _PATIENCE


def _spaced(count: int, most: int) -> Int[Tensor, " _"]:
    """Positions of at most ``most`` evenly spaced items."""
    return torch.linspace(0, count - 1, min(count, most)).round().long()
