"""A forest of decision trees as a module: its trees are tensors, saved like other weights."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy import ndarray
from torch import Tensor, nn

# Name of the network on the card.
FOREST = "forest"

# Trees of a forest, and rows that spread half a vote over all classes: no probability is 0.
_TREES, _PSEUDO_VOTES = 50, 0.5

# A path from a root to a leaf has fewer nodes than this.
_DEEPEST = 10_000

# With more training rows than this, leaves hold more than one row, so that trees stay small.
_LEAVES = 1000

# Levels after which rows that have reached a leaf are dropped.
_DROP_EVERY = 5

_WHOLE = ("roots", "feature", "left", "right", "leaf")


class Forest(nn.Module):
    """Extremely randomised trees; outputs log-probabilities.

    Nodes of all trees follow each other, children after their parents; a leaf is its own child.

    Args:
        classes: Number of classes.
        features: Number of features, if it is known; trees that ask for others do not load.
    """

    roots: Tensor
    feature: Tensor
    threshold: Tensor
    left: Tensor
    right: Tensor
    leaf: Tensor
    value: Tensor

    def __init__(self, classes: int, *, features: int | None = None) -> None:
        super().__init__()
        self._classes, self._features, self._depth = classes, features, 0
        for name in _WHOLE:
            self.register_buffer(name, torch.zeros(1, dtype=torch.int64))
        self.register_buffer("threshold", torch.zeros(1, dtype=torch.float64))
        self.register_buffer("value", torch.full((1, classes), 1 / classes))

    def fit(
        self, x: Float[Tensor, "rows features"], y: Int[Tensor, " rows"], *, seed: int
    ) -> "Forest":
        """Grow the trees with scikit-learn, which is deterministic given the seed."""
        try:
            import sklearn
            from sklearn.tree import ExtraTreeClassifier
        except ImportError:
            raise ValueError(
                "a forest needs scikit-learn; run: pip install 'oddkout[sklearn]'"
            ) from None
        present, positions = torch.unique(y, return_inverse=True)
        rows, targets = np.ascontiguousarray(x.numpy()), positions.double().numpy()[:, None]
        source = np.random.RandomState(seed % 2**32)
        # The trees of ExtraTreesClassifier. It would copy and check each of them, which takes
        # longer than to grow it on a small table.
        with sklearn.config_context(skip_parameter_validation=True):
            grown = [
                ExtraTreeClassifier(
                    min_samples_leaf=max(1, round(len(x) / _LEAVES)),
                    random_state=source.randint(np.iinfo(np.int32).max),
                ).fit(rows, targets, check_input=False)
                for _ in range(_TREES)
            ]
        trees = [estimator.tree_ for estimator in grown]
        starts = np.cumsum([0, *(tree.node_count for tree in trees)])
        nodes = np.arange(starts[-1])
        feature = np.concatenate([tree.feature for tree in trees])
        is_leaf = feature < 0
        shift = np.repeat(starts[:-1], np.diff(starts))
        children = {
            name: np.where(is_leaf, nodes, shift + np.concatenate(
                [getattr(tree, f"children_{name}") for tree in trees]))
            for name in ("left", "right")
        }  # fmt: skip
        shares = np.concatenate([tree.value[:, 0] for tree in trees])[is_leaf]
        shares = shares / shares.sum(axis=1, keepdims=True)
        value = torch.zeros(len(shares), self._classes)
        value[:, present] = torch.from_numpy(shares).float()
        self.load_state_dict(
            {
                "roots": _whole(starts[:-1]),
                "feature": _whole(np.where(is_leaf, 0, feature)),
                "threshold": torch.from_numpy(np.concatenate([tree.threshold for tree in trees])),
                "left": _whole(children["left"]),
                "right": _whole(children["right"]),
                "leaf": _whole(np.where(is_leaf, np.cumsum(is_leaf) - 1, 0)),
                "value": value,
            }
        )
        return self

    def forward(self, x: Float[Tensor, "rows features"]) -> Float[Tensor, "rows classes"]:
        """Logarithm of the mean vote of all trees."""
        leaf = self.leaf.index_select(0, self._reached(x))
        shares = self.value.index_select(0, leaf).reshape(-1, len(self.roots), self._classes)
        votes = shares.mean(dim=1, dtype=x.dtype)
        smooth = _PSEUDO_VOTES / len(self.roots)
        return ((votes + smooth / self._classes) / (1 + smooth)).log()

    def _reached(self, x: Float[Tensor, "rows features"]) -> Int[Tensor, " rows_and_trees"]:
        """The node of the leaf that each row reaches in each tree, row by row.

        All rows go down all trees together, a level at a time. Those that have reached their leaf
        are dropped every few levels, except in exports, whose shapes must not depend on the rows.
        """
        is_export = torch.compiler.is_compiling()
        is_short = not is_export and x.numel() < 2**31  # shorter numbers are faster
        whole = torch.int32 if is_short else torch.int64
        # A node has two places next to each other, which hold the first places of its children.
        children = (2 * torch.stack([self.left, self.right], dim=1).flatten()).to(whole)
        feature = self.feature.to(whole).repeat_interleave(2)
        threshold = self.threshold.repeat_interleave(2)
        rows, features = x.shape  # len(x) would fix the number of rows in exports
        cells = x.flatten()
        place = (2 * self.roots).to(whole).expand(rows, -1).flatten()
        start = (torch.arange(rows, device=x.device, dtype=whole) * features)[:, None]
        start = start.expand(-1, len(self.roots)).flatten()
        reached, moving = place, None
        for level in range(1, self._depth + 1):
            cell = cells.index_select(0, feature.index_select(0, place) + start)
            is_right = cell > threshold.index_select(0, place)
            place = children.index_select(0, place + is_right)
            is_last = level == self._depth
            if is_last or (level % _DROP_EVERY == 0 and not is_export):
                reached = place if moving is None else reached.index_copy_(0, moving, place)
                if not is_last:
                    inner = (children.index_select(0, place) != place).nonzero().flatten()
                    moving = inner if moving is None else moving.index_select(0, inner)
                    place, start = place.index_select(0, inner), start.index_select(0, inner)
        return reached // 2

    def _load_from_state_dict(
        self, state_dict: Mapping[str, Any], prefix: str, *arguments: Any
    ) -> None:
        """Load trees of any size, or raise if they are not trees."""
        for name in (*_WHOLE, "threshold", "value"):
            given = state_dict.get(f"{prefix}{name}")
            if given is not None:
                setattr(self, name, torch.empty_like(given, dtype=getattr(self, name).dtype))
        super()._load_from_state_dict(state_dict, prefix, *arguments)
        self._depth = self._checked_depth()

    def _checked_depth(self) -> int:
        """Largest number of steps from a root to a leaf."""
        nodes = torch.arange(len(self.feature))
        is_leaf = self.left == nodes
        is_tree = (
            all(len(part) == len(nodes) for part in (self.threshold, self.left, self.right))
            and bool(((self.left > nodes) & (self.right > nodes) | is_leaf).all())
            and bool((torch.stack([self.left, self.right]) < len(nodes)).all())
            and bool(((self.leaf >= 0) & (self.leaf < len(self.value))).all())
            and bool(((self.roots >= 0) & (self.roots < len(nodes))).all())
            and self.value.shape[1:] == (self._classes,)
            and bool((self.feature >= 0).all())
            and (self._features is None or bool((self.feature < self._features).all()))
        )
        if not is_tree:
            raise ValueError("a forest must hold nodes whose children follow them")
        depth, level = 0, self.roots
        while not bool(is_leaf[level].all()):
            inner = level[~is_leaf[level]]
            # Without copies: nodes with the same child twice would double with every step.
            level = torch.unique(torch.cat([self.left[inner], self.right[inner]]))
            depth += 1
            if depth > _DEEPEST:
                raise ValueError(f"the trees of a forest must be less than {_DEEPEST:,} deep")
        return depth


def _whole(values: ndarray) -> Int[Tensor, " nodes"]:
    return torch.from_numpy(np.ascontiguousarray(values, dtype=np.int64))
