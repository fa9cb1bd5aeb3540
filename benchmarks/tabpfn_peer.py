"""TabPFN of 2022, a network pretrained on simulated tables, as a peer of ``small_tables.py``.

Its code is the last release of the first version, 0.1.11. It was written for older versions of
torch and scikit-learn: four names are replaced here, none of which changes a result. Its weights
are those that the source archive of version 0.1 holds. Install both below a folder of their own,
and put that folder on ``PYTHONPATH``::

    pip install --no-deps --target FOLDER tabpfn==0.1.11
    tar xzf tabpfn-0.1.tar.gz -C FOLDER --strip-components=1 --wildcards '*.cpkt'

The archive is that of the package index; ``pip download`` cannot fetch it, because it wants to
build it.
"""

import functools
import typing

import torch
import torch.nn.modules.transformer
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_array, check_X_y

ROWS, COLUMNS, CLASSES = 1000, 100, 10
# The paper combines 32 orders of classes and columns. Eight take a quarter of the time; on
# a fold of newthyroid, ecoli and glass their NLL differed by -2, +1 and -2 %.
ORDERS = 8


class OutsideLimitsError(ValueError):
    """A table that TabPFN cannot fit."""


class TabPFN(ClassifierMixin, BaseEstimator):
    """Predicts in one pass over training and test rows; nothing is trained."""

    def __init__(self, random_state: int | None = None) -> None:
        self.random_state = random_state

    def fit(self, x, y) -> "TabPFN":
        """Keep the training part, if it is within the limits."""
        for count, limit, what in (
            (len(x), ROWS, "rows"),
            (x.shape[1], COLUMNS, "columns"),
            (len(set(y)), CLASSES, "classes"),
        ):
            if count > limit:
                raise OutsideLimitsError(f"TabPFN takes at most {limit} {what}, got {count}")
        # Four sequences at a time: the attention of all together needs gigabytes.
        self._model = _classifier_class()(
            device="cpu",
            seed=self.random_state or 0,
            N_ensemble_configurations=ORDERS,
            batch_size_inference=4,
        ).fit(x, y)
        self.classes_ = self._model.classes_
        return self

    def predict_proba(self, x):
        """Probabilities of the classes."""
        return self._model.predict_proba(x)


def tabpfn(seed: int) -> TabPFN:
    return TabPFN(seed)


@functools.cache
def _classifier_class():
    """The class of the package, with what it needs of older versions."""
    torch.nn.modules.transformer.Optional = typing.Optional
    try:
        from tabpfn.scripts import model_builder, transformer_prediction_interface
    except ImportError as error:
        raise SystemExit(f"TabPFN is not installed ({error}); {__file__} says how") from None

    def finite(check):  # an argument was renamed
        return lambda *given, force_all_finite: check(*given, ensure_all_finite=force_all_finite)

    transformer_prediction_interface.check_array = finite(check_array)
    transformer_prediction_interface.check_X_y = finite(check_X_y)
    # Checkpoints save memory of gradients; there are none.
    transformer_prediction_interface.checkpoint = lambda function, *given: function(*given)
    # The weights come with settings, which are no tensors.
    model_builder.torch = _Torch()
    return transformer_prediction_interface.TabPFNClassifier


class _Torch:
    """torch, whose ``load`` accepts more than tensors."""

    load = staticmethod(functools.partial(torch.load, weights_only=False))

    def __getattr__(self, name: str):
        return getattr(torch, name)
