"""A classifier for scikit-learn: raw columns or images in, calibrated probabilities out."""

import math
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Float64, Shaped
from numpy import ndarray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor, nn

from oddkout.calibrators import PriorCorrection, TemperatureScaling
from oddkout.checks import Number, at_least, few, one_of
from oddkout.estimator.course import Course
from oddkout.estimator.held_out import validation_part
from oddkout.estimator.inputs import Inputs, text_columns
from oddkout.estimator.requirements import (
    check_settings,
    notes_on,
    refuse_weights,
    trainable_labels,
    trainable_method,
)
from oddkout.fitting.training import predict_logits
from oddkout.models import NAMES, build_model
from oddkout.randomness import keyed_generator

FOLDS = 5
EXAMPLES = 30  # in an update
PASSES, FEWEST, MOST = 20, 400, 4000  # how many updates, if nobody says


class OddKOutClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """A network trained by odd-k-out set learning, as a scikit-learn classifier.

    Features are standardised inside, text columns of frames are encoded; see ``Inputs`` for what
    else it takes. A class of a single example forms its pairs with itself; ``notes_`` says so.

    Args:
        module: The network: none for one that fits the shape of the examples (an MLP for features,
            the paper's CNN for grey images of at least 16 x 16, ResNet18 for others), or whatever
            ``build_model`` takes: a name, or a function that makes one.
        k: Number of odd classes in a set; the method's own if not given, 1 for ``"oko"``.
        method: Name of the method, see ``oddkout.fitting.methods.METHODS``.
        max_updates: Number of updates of ``fit``; if not given, as many as 20 passes over the data
            take, but at least 400 and at most 4,000.
        learning_rate: Highest learning rate.
        validation_fraction: Share of every class to hold out; of the states passed through, that
            of the lowest NLL on these examples is kept. Where they would be fewer than 100,
            nothing is held out and the last state is kept; ``notes_`` says so.
        calibrate: What the temperature of the probabilities is fitted to: ``"validation"``, the
            examples held out (where there are none, it stays 1); ``"folds"``, out-of-fold
            predictions, for the time of five more trainings; or ``False``, nothing.
        prior: Class frequencies that probabilities are for: ``"train"``, those of the training
            data, as scikit-learn's classifiers do; ``"uniform"``, which does justice to rare
            classes; or a list in the order of ``classes_``.
        random_state: Seed or ``RandomState`` of all randomness.
        verbose: Whether to print notes and the course of training.
        warm_start: Whether ``fit`` goes on from the weights of the last one.

    Attributes:
        classes_: The classes, sorted.
        n_features_in_: Length of the first axis of an example: the columns of a table.
        module_: The trained network.
        calibrator_: The module that its logits go through.
        log_: Rows of the training log, see ``Trained``.
        notes_: What a user should know of the fit, a sentence each.

    Example:
        >>> from sklearn.datasets import load_iris
        >>> x, y = load_iris(return_X_y=True)
        >>> classifier = OddKOutClassifier(max_updates=50, random_state=0).fit(x, y)
        >>> classifier.predict_proba(x[:2]).shape
        (2, 3)
    """

    # Nothing is checked before `fit`: that is scikit-learn's contract.
    def __init__(
        self,
        *,
        module: Any = None,
        k: Any = None,
        method: Any = "oko",
        max_updates: Any = None,
        learning_rate: Any = 0.1,
        validation_fraction: Any = 0.1,
        calibrate: Any = "validation",
        prior: Any = "train",
        random_state: Any = None,
        verbose: Any = False,
        warm_start: Any = False,
    ) -> None:
        self.module = module
        self.k = k
        self.method = method
        self.max_updates = max_updates
        self.learning_rate = learning_rate
        self.validation_fraction = validation_fraction
        self.calibrate = calibrate
        self.prior = prior
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start

    def fit(self, X: Any, y: Any, **refused: Any) -> "OddKOutClassifier":  # noqa: N803
        """Train on examples and their classes.

        Args:
            X: Examples: features, a frame, or images.
            y: Their classes: text or integers.
            **refused: ``sample_weight`` is not taken; the message says why.
        """
        is_first = not (self.warm_start and hasattr(self, "module_"))
        labels = self._labels(X, y, refused, is_first=is_first)
        found = np.unique(labels)
        if not is_first and not np.array_equal(found, self.classes_):
            raise ValueError(
                f"warm_start=True goes on with the same classes, {few(self.classes_.tolist())}, "
                f"got {few(found.tolist())}; set it to False to begin anew"
            )
        if is_first:
            self._begin(X, found)
        self._counts = np.zeros(len(found), dtype=np.int64)
        return self._trained_on(
            X,
            labels,
            updates=self._updates(len(labels)),
            fraction=self.validation_fraction,
            calibrate=self.calibrate,
        )

    def partial_fit(
        self,
        X: Any,  # noqa: N803
        y: Any,
        classes: Any = None,
        **refused: Any,
    ) -> "OddKOutClassifier":
        """Go on training, for one pass over more examples.

        Nothing is held out and no temperature is fitted. Inputs are standardised and the prior is
        counted by all examples so far.

        Args:
            X: Examples.
            y: Their classes: k + 1 different ones or more.
            classes: All classes that there will ever be; needed in the first call.
            **refused: ``sample_weight`` is not taken; the message says why.
        """
        is_first = not hasattr(self, "module_")
        if is_first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit, got None")
        known = self.classes_ if classes is None else np.unique(classes)
        if not is_first and not np.array_equal(known, self.classes_):
            raise ValueError(
                f"classes must stay those of the first call, {few(self.classes_.tolist())}, got "
                f"{few(known.tolist())}; leave them out"
            )
        labels = self._labels(X, y, refused, is_first=is_first)
        if unknown := sorted(set(labels.tolist()) - set(known.tolist())):
            raise ValueError(
                f"y must hold classes of the first call, {few(known.tolist())}, but {few(unknown)} "
                "are not among them; name all classes there, or fit anew"
            )
        if is_first:
            self._begin(X, known)
        else:
            self._inputs.learn(X)
        updates = math.ceil(len(labels) / EXAMPLES)
        return self._trained_on(X, labels, updates=updates, fraction=0.0, calibrate=False)

    def predict(self, X: Any) -> Shaped[ndarray, " examples"]:  # noqa: N803
        """The most probable class of every example.

        Args:
            X: Examples.
        """
        logits = self._logits(X)
        chosen: Shaped[ndarray, " examples"] = self.classes_[logits.argmax(dim=1).numpy()]
        return chosen

    def predict_proba(self, X: Any) -> Float64[ndarray, "examples classes"]:  # noqa: N803
        """Probabilities of the classes, in the order of ``classes_``.

        Args:
            X: Examples.
        """
        probs: Float64[ndarray, "examples classes"] = self._logits(X).softmax(dim=1).numpy()
        return probs

    def decision_function(self, X: Any) -> Float64[ndarray, "..."]:  # noqa: N803
        """Log-odds of the second class where there are two, log-probabilities of all otherwise.

        Args:
            X: Examples.
        """
        logits = self._logits(X)
        scores = logits[:, 1] - logits[:, 0] if logits.shape[1] == 2 else logits.log_softmax(dim=1)
        return np.asarray(scores)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags

    def _labels(
        self, x: Any, y: Any, refused: dict[str, Any], *, is_first: bool
    ) -> Shaped[ndarray, " examples"]:
        """Labels, once all that was given is found fit for training."""
        refuse_weights(refused)
        check_settings(
            learning_rate=self.learning_rate,
            validation_fraction=self.validation_fraction,
            calibrate=self.calibrate,
        )
        self._check(x, is_first=is_first)
        return trainable_labels(x, y, trainable_method(self.method, self.k))

    def _check(self, x: Any, *, is_first: bool) -> None:
        """Raise where scikit-learn does, but for the text columns of a frame."""
        if text_columns(x):
            validate_data(self, x, reset=is_first, skip_check_array=True)
        else:
            validate_data(self, x, reset=is_first, allow_nd=True)

    def _begin(self, x: Any, classes: Shaped[ndarray, " classes"]) -> None:
        """Forget what was learned, and learn the kind of the inputs."""
        is_ours = self.module is None or self.module in NAMES
        inputs = Inputs(is_double=is_ours).learn(x)
        self.classes_, self._inputs = classes, inputs
        self._counts = np.zeros(len(classes), dtype=np.int64)
        self._calls = 0
        self.log_: list[dict[str, Number]] = []
        self.module_ = self._network(self._seed())

    def _updates(self, examples: int) -> int:
        """Number of updates of a fit to so many examples."""
        if self.max_updates is None:
            return min(max(PASSES * examples // EXAMPLES, FEWEST), MOST)
        return at_least("max_updates", self.max_updates, 1)

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _network(self, seed: int) -> nn.Module:
        """A new network, its weights decided by the seed."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)  # a network of the user's draws from the global generator
            network = build_model(
                "auto" if self.module is None else self.module,
                shape=self._inputs.shape,
                classes=len(self.classes_),
                generator=keyed_generator(seed, 0),
            )
        example = self._inputs.blank()
        shape = predict_logits(network.to(example.dtype), example).shape
        if shape != (1, len(self.classes_)):
            raise ValueError(
                f"module must give a logit for each of {len(self.classes_)} classes, got logits of "
                f"shape {tuple(shape)} for 1 example; let it take classes= and end in as many"
            )
        return network

    def _trained_on(
        self,
        x: Any,
        labels: Shaped[ndarray, " examples"],
        *,
        updates: int,
        fraction: Number,
        calibrate: Literal["validation", "folds", False],
    ) -> "OddKOutClassifier":
        """Train the present network and calibrate it."""
        inputs, y = self._inputs.tensor(x), np.searchsorted(self.classes_, labels)
        self._counts = self._counts + np.bincount(y, minlength=len(self.classes_))
        # A class that has not come yet counts as one example, as no probability is 0.
        counts = np.maximum(self._counts, 1)
        course = Course(
            method=trainable_method(self.method, self.k),
            frequencies=tuple((counts / counts.sum()).tolist()),
            updates=updates,
            examples=EXAMPLES,
            learning_rate=self.learning_rate,
            seed=self._seed() + self._calls,
            progress=_print_row if self.verbose else None,
        )
        self._calls += 1
        wanted = self._wanted_prior(course.frequencies)
        first, second = validation_part(y, fraction=fraction, seed=course.seed)
        self.notes_ = notes_on(y, self.classes_, fraction=fraction, held_out=len(second))
        if self.verbose:
            print(*self.notes_, sep="\n")
        trained = course.train(self.module_, inputs, y, first=first, second=second)
        self.module_, self.log_ = trained.model, self.log_ + trained.log
        temperature = TemperatureScaling()
        if calibrate == "validation":
            temperature = course.validation_temperature(trained, inputs, y, second=second)
        elif calibrate == "folds":
            temperature = course.fold_temperature(self._network, inputs, y, folds=FOLDS)
        self.calibrator_ = nn.Sequential(trained.calibrator, course.prior, temperature, wanted)
        return self

    def _wanted_prior(self, frequencies: tuple[float, ...]) -> PriorCorrection:
        """From the frequencies of the training data to those that were asked for."""
        if isinstance(self.prior, str):
            one_of("prior", self.prior, ("train", "uniform"))
            uniform = (1 / len(frequencies),) * len(frequencies)
            prior = frequencies if self.prior == "train" else uniform
        else:
            prior = self.prior
        return PriorCorrection(prior, train_prior=frequencies)

    def _logits(self, x: Any) -> Float64[Tensor, "examples classes"]:
        """Calibrated logits."""
        check_is_fitted(self, "calibrator_")
        self._check(x, is_first=False)
        logits: Tensor = self.calibrator_(
            predict_logits(self.module_, self._inputs.tensor(x)).double()
        )
        return logits


def _print_row(row: dict[str, Number]) -> None:
    print("  ".join(f"{name} {value:.4g}" for name, value in row.items()))
