"""Compare recipes by out-of-fold NLL, and choose where to stop their training."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from torch import Tensor

from oddkout.fitting.counter import UpdateCounter
from oddkout.fitting.folds import Calibration, FoldScores, scored_folds
from oddkout.fitting.members import Members, train_members
from oddkout.fitting.methods import Method
from oddkout.fitting.preparation import Prepared
from oddkout.fitting.recipe import Recipe
from oddkout.fitting.selection import alternatives
from oddkout.fitting.watch import FoldWatch
from oddkout.models.encodings import EncodingPlan
from oddkout.models.forest import FOREST
from oddkout.prior import Frequencies, PriorLedger

# Stops with an out-of-fold NLL up to this multiple of the lowest count as equally good.
_TOLERANCE = 1.02


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A recipe, its members, and where to stop them."""

    recipe: Recipe
    members: Members
    stop: int
    scores: FoldScores
    curve: dict[float, float]


class RecipeSearch:
    """Compares recipes by out-of-fold NLL, each trained once."""

    def __init__(
        self,
        data: Prepared,
        *,
        method: Method,
        fold_of: Tensor,
        ledger: PriorLedger,
        calibration: Calibration,
        judged: Frequencies | None,
        seed: int,
        counter: UpdateCounter,
        encoding: EncodingPlan | None = None,
        checkpoints: Path | None,
        processes: int | None,
    ) -> None:
        self._data = data
        self._method = method
        self._fold_of = fold_of
        self._scoring: dict[str, Any] = {
            "ledger": ledger if judged is None else replace(ledger, stated=judged),
            "calibration": calibration,
            "judged": judged,
        }
        if calibration == "none":
            self._scoring["ledger"] = ledger
        self._encoding = encoding
        self._seed = seed
        self._counter = counter
        self._checkpoints = checkpoints
        self._attempts = 0
        self._processes = processes
        self.compared: dict[Recipe, float] = {}
        self.failures: tuple[str, ...] = ()

    def best(self, choices: Mapping[str, Sequence[Any]], recipe: Recipe) -> Candidate:
        """Make one choice after the other; return the best candidate."""
        best: Candidate | None = None
        start, errors = recipe, list[ValueError]()
        for name, values in (choices or {"learning_rate": (recipe.learning_rate,)}).items():
            current = recipe if best is None else best.recipe
            for candidate in alternatives(current, name, values, method=self._method, start=start):
                if candidate in self.compared:
                    continue
                try:
                    scored = self._candidate(candidate)
                except ValueError as error:  # training with this recipe diverged
                    errors.append(error)
                    continue
                self.compared[candidate] = scored.scores.metrics["nll"]
                if best is None or _rank(scored) < _rank(best):
                    best = scored
            if best is None:
                raise errors[0]
        assert best is not None, "a search compares at least one recipe"
        self.failures = tuple(f"a recipe was left out: {error}" for error in errors)
        return best

    def _candidate(self, recipe: Recipe) -> Candidate:
        """Train the members of a recipe and choose where to stop."""
        folder = self._checkpoints
        self._attempts += 1
        scoring = self._scoring
        watch = None
        if recipe.stop_every and recipe.model != FOREST:
            watch = FoldWatch(
                self._data.y,
                is_held=_held(self._fold_of),
                every=recipe.stop_every,
                ledger=scoring["ledger"],
                judged=scoring["judged"],
            )
        members = train_members(
            self._data.x,
            self._data.y,
            recipe=recipe,
            method=self._method,
            classes=len(self._data.classes),
            fold_of=self._fold_of,
            seed=self._seed,
            counter=self._counter,
            encoding=self._encoding,
            groups=self._data.groups,
            watch=watch,
            checkpoints=None if folder is None else folder / str(self._attempts),
            processes=self._processes,
        )
        scores = [
            scored_folds(logits, self._data.y, members.fold_of, **scoring)
            for logits in members.logits
        ]
        nll = [score.metrics["nll"] for score in scores]
        stop = chosen_stop(nll)
        curve = dict(zip(members.stops, nll, strict=True))
        if watch is not None and watch.curve:
            curve = {update / recipe.updates: value for update, value in watch.curve.items()}
        return Candidate(
            recipe=recipe,
            members=members,
            stop=stop,
            scores=scores[stop],
            curve=curve,
        )


def _held(fold_of: Tensor) -> list[Tensor]:
    """For each member, the examples that it is not trained on."""
    return [fold_of == fold for fold in range(int(fold_of.max()) + 1)]


def _rank(candidate: Candidate) -> tuple[int, float]:
    """Smaller is better: candidates without failed members first, then by out-of-fold NLL."""
    return len(candidate.members.failures), candidate.scores.metrics["nll"]


def chosen_stop(nll: Sequence[float]) -> int:
    """Position of the stop to use: the last one whose out-of-fold NLL is within 2 % of the lowest.

    A smaller difference is mostly chance in a few hundred examples, and longer training is more
    accurate.

    Args:
        nll: Out-of-fold NLL after each stop.

    Example:
        >>> chosen_stop([0.9, 0.5, 0.4, 0.405, 0.6])
        3
    """
    return max(stop for stop, value in enumerate(nll) if value <= _TOLERANCE * min(nll))
