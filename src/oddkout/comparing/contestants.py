"""Contestants that are not ours: guessing, classifiers of other libraries, and the user's own."""

import importlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int, Shaped
from numpy import ndarray

from oddkout.checks import one_of
from oddkout.fitting.methods import METHODS
from oddkout.prior import class_frequencies

# Makes a classifier with ``fit`` and ``predict_proba`` from a seed.
Factory = Callable[[int], Any]

# These always take part, and head every table.
ALWAYS = ("guess", "logistic")


@dataclass(frozen=True, kw_only=True)
class Outsider:
    """A classifier of another library.

    Attributes:
        make: Makes it from a seed.
        summary: What it is, in a sentence.
        package: The package that it needs.
    """

    make: Factory
    summary: str
    package: str = "scikit-learn"


class Guess:
    """Predicts the class frequencies of the training part for every example."""

    def fit(self, x: Any, y: Int[ndarray, " examples"]) -> "Guess":
        """Count the classes."""
        self.classes_ = np.unique(y)
        counts = class_frequencies(np.searchsorted(self.classes_, y))
        self._frequencies = counts.numpy()
        return self

    def predict_proba(self, x: Shaped[ndarray, "examples ..."]) -> Float[ndarray, "examples _"]:
        """The same probabilities for every example."""
        rows: Float[ndarray, "examples _"] = np.tile(self._frequencies, (len(x), 1))
        return rows


def _logistic(seed: int) -> Any:
    from sklearn.linear_model import LogisticRegressionCV

    return LogisticRegressionCV(
        Cs=np.logspace(-4, 2, 7),
        cv=3,
        scoring="neg_log_loss",
        l1_ratios=(0.0,),
        max_iter=300,
        random_state=seed,
        use_legacy_attributes=False,
    )


def _forest(seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_estimators=300, random_state=seed)


def _boosting(seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=seed)


def _svm(seed: int) -> Any:
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.svm import SVC

    return CalibratedClassifierCV(SVC(random_state=seed), ensemble=False, cv=3)


def _perceptron(seed: int) -> Any:
    from sklearn.neural_network import MLPClassifier

    return MLPClassifier(max_iter=500, random_state=seed)


def _catboost(seed: int) -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(
        random_seed=seed, thread_count=1, verbose=0, allow_writing_files=False
    )


def _tabpfn(seed: int) -> Any:
    from tabpfn import TabPFNClassifier

    return TabPFNClassifier(device="cpu", random_state=seed)


OUTSIDERS = {
    "guess": Outsider(make=lambda seed: Guess(), summary="The class frequencies of training."),
    "logistic": Outsider(
        make=_logistic, summary="Logistic regression; its own folds choose the penalty."
    ),
    "forest": Outsider(make=_forest, summary="Random forest of 300 trees."),
    "boosting": Outsider(make=_boosting, summary="Gradient-boosted trees of scikit-learn."),
    "svm": Outsider(make=_svm, summary="Support vector machine, calibrated by its own folds."),
    "mlp": Outsider(make=_perceptron, summary="Multilayer perceptron of scikit-learn."),
    "catboost": Outsider(
        make=_catboost, summary="Gradient-boosted trees of CatBoost.", package="catboost"
    ),
    "tabpfn": Outsider(
        make=_tabpfn, summary="A pretrained network for small tables.", package="tabpfn"
    ),
}


def is_outsider(name: str) -> bool:
    """Whether a contestant is not one of our methods."""
    return name not in METHODS


def table_order(names: Collection[str]) -> list[str]:
    """Names in the order of tables: those that always take part, our methods, then others.

    Example:
        >>> table_order(["mine", "oko", "forest", "guess", "vanilla"])
        ['guess', 'vanilla', 'oko', 'forest', 'mine']
    """
    known = (*ALWAYS, *METHODS, *OUTSIDERS)
    return [name for name in dict.fromkeys((*known, *names)) if name in names]


def checked_contestants(given: Mapping[str, Any] | Sequence[str]) -> dict[str, Any]:
    """The contestants that are not ours, by name: always guessing and logistic regression.

    Args:
        given: Further ones: names, see ``OUTSIDERS``, or ``"package.module:factory"``; or a mapping
            from names to classifiers, or to functions that make one. None of them is imported
            here.

    Returns:
        For each name the classifier or function; None for those that are made by name.
    """
    found: dict[str, Any] = dict.fromkeys(ALWAYS)
    if isinstance(given, Mapping):
        for name, estimator in given.items():
            if name in METHODS or name in OUTSIDERS or not name or "/" in name:
                raise ValueError(
                    f"a contestant needs a name of its own, got {name!r}; the names of our methods "
                    f"and {', '.join(OUTSIDERS)} are taken"
                )
            if not _is_factory(estimator) and not _is_classifier(estimator):
                raise ValueError(
                    f"contestant {name!r} must have fit and predict_proba, or be a function that "
                    f"returns a classifier, got {type(estimator).__name__}"
                )
            found[name] = estimator
        return found
    for name in given:
        if ":" not in name:
            one_of("contestant", name, OUTSIDERS)
        found[name] = None
    return found


def unfitted(name: str, estimator: Any, *, seed: int) -> Any:
    """A new, unfitted classifier.

    Args:
        name: Name of the contestant.
        estimator: The user's classifier or function; None if it is made by its name.
        seed: Seed, for classifiers that take a ``random_state``.
    """
    if estimator is None:
        estimator = OUTSIDERS[name].make if name in OUTSIDERS else _imported(name)
        if name in OUTSIDERS:
            try:
                return estimator(seed)
            except ImportError as error:
                package = OUTSIDERS[name].package
                raise ValueError(
                    f"{name} needs the package {package} ({error}); run: pip install {package}"
                ) from None
    if not _is_classifier(estimator):
        estimator = estimator()
    if not _is_classifier(estimator):
        raise ValueError(
            f"contestant {name!r} must have fit and predict_proba, got {type(estimator).__name__}"
        )
    return _seeded_copy(estimator, seed)


def description(estimator: Any) -> str:
    """Text that identifies a user's classifier with its settings, for the id of its runs."""
    kind = type(estimator)
    if _is_factory(estimator):
        return f"{estimator.__module__}.{estimator.__qualname__}"
    parameters = estimator.get_params() if hasattr(estimator, "get_params") else vars(estimator)
    settings = ", ".join(f"{name}={value!r}" for name, value in sorted(parameters.items()))
    return f"{kind.__module__}.{kind.__qualname__}({settings})"


def _is_factory(estimator: Any) -> bool:
    return isinstance(estimator, type) or (callable(estimator) and not hasattr(estimator, "fit"))


def _is_classifier(estimator: Any) -> bool:
    return (
        hasattr(estimator, "fit")
        and hasattr(estimator, "predict_proba")
        and not isinstance(estimator, type)
    )


def _seeded_copy(estimator: Any, seed: int) -> Any:
    """An unfitted copy, with the seed if it takes one and has none."""
    import copy

    if not hasattr(estimator, "get_params"):
        return copy.deepcopy(estimator)
    from sklearn.base import clone

    fresh = clone(estimator)
    if fresh.get_params().get("random_state", 0) is None:
        fresh.set_params(random_state=seed)
    return fresh


def _imported(name: str) -> Any:
    """A user's function or classifier, named as package.module:factory."""
    module, _, attribute = name.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ValueError(
            f"contestant {name!r} must name a function as package.module:function, but {error}; "
            "check the spelling, and that the package is installed or in the current folder"
        ) from None
