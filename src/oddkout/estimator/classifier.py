"""The scikit-learn classifier: from raw columns or images to calibrated probabilities."""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float64, Shaped
from numpy import ndarray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor

from oddkout.checks import Number, at_least
from oddkout.data import Data
from oddkout.data.sources import is_frame
from oddkout.estimator.inputs import Inputs
from oddkout.estimator.requirements import refuse_weights, trainable_labels, trainable_method
from oddkout.fitting.fit import fit_data
from oddkout.fitting.selection import LEARNING_RATES
from oddkout.prior import class_frequencies, requested_prior


class OddKOutClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """A network trained by odd-k-out set learning, as a scikit-learn classifier.

    It uses the pipeline of ``oddkout.fit``: the same data, method and seed give the same
    probabilities. Features are standardised and text columns of frames are encoded internally; see
    ``Inputs`` for the accepted inputs.

    There is no ``partial_fit`` or ``warm_start``: learning rate and temperature are chosen by
    cross-validation, and a network that starts from earlier weights has already seen the held-out
    folds.

    Args:
        module: The network: a name or a function that builds one, see ``build_model``. By default
            chosen by the shape of the examples: an MLP for features, the paper's CNN for grey
            images of at least 16 x 16 pixels, ResNet18 for other images.
        k: Number of odd classes in a set; by default that of the method, 1 for ``"oko"``.
        method: Name of the method, see ``oddkout.fitting.methods.METHODS``.
        max_updates: Largest number of updates; by default adapted to the number of examples.
        learning_rate: Peak learning rate; by default chosen out of fold.
        folds: Number of cross-validation folds, see ``oddkout.fit``; 0 for none, which requires a
            learning rate.
        members: ``"folds"`` averages the networks of the folds; ``"single"`` trains one network on
            all examples, with what the folds chose.
        calibrate: ``"folds"`` fits temperature and strength of prior adjustment out of fold,
            ``"temperature"`` the temperature alone; ``"none"`` uses the temperature that the method
            prescribes, usually 1.
        prior: Class frequencies that the probabilities are for. ``"train"``: those of the training
            data, as in other scikit-learn classifiers. ``"uniform"``: equal, which favours rare
            classes. Or a list in the order of ``classes_``.
        random_state: Seed or ``RandomState`` of all randomness.
        verbose: Whether to print notes and the learning curve.

    Attributes:
        classes_: The classes, sorted.
        n_features_in_: Length of the first axis of an example: the number of columns of a table.
        classifier_: The fitted ``Classifier``; its ``save`` writes it to disk.
        module_: The trained network, or the ensemble of the members.
        prior_: Class frequencies that its probabilities are for, in the order of ``classes_``.
        temperature_: What its logits are divided by.
        log_: The learning curve, see ``Trained``.
        notes_: What a user should know about the fit, one sentence each.

    Example:
        >>> from sklearn.datasets import load_iris
        >>> x, y = load_iris(return_X_y=True)
        >>> classifier = OddKOutClassifier(max_updates=50, random_state=0).fit(x, y)
        >>> classifier.predict_proba(x[:2]).shape
        (2, 3)
    """

    # Arguments are checked in `fit`, as scikit-learn requires.
    def __init__(
        self,
        *,
        module: Any = None,
        k: Any = None,
        method: Any = "oko",
        max_updates: Any = None,
        learning_rate: Any = None,
        folds: Any = None,
        members: Any = "folds",
        calibrate: Any = "folds",
        prior: Any = "train",
        random_state: Any = None,
        verbose: Any = False,
    ) -> None:
        self.module = module
        self.k = k
        self.method = method
        self.max_updates = max_updates
        self.learning_rate = learning_rate
        self.folds = folds
        self.members = members
        self.calibrate = calibrate
        self.prior = prior
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, **refused: Any) -> "OddKOutClassifier":  # noqa: N803
        """Train on examples and their classes.

        Args:
            X: Examples: features, a frame, or images.
            y: Their classes: text or integers.
            **refused: ``sample_weight`` raises: it is not supported.
        """
        refuse_weights(refused)
        self._check(X, is_first=True)
        labels = trainable_labels(X, y, trainable_method(self.method, self.k))
        self.classes_, positions = np.unique(labels, return_inverse=True)
        train_prior = class_frequencies(positions, classes=len(self.classes_))
        self.prior_ = requested_prior(self.prior, train=tuple(train_prior.tolist()))
        self._inputs = Inputs(X)
        examples = self._inputs.array(X)
        self.classifier_ = fit_data(
            Data(
                name="examples",
                x_train=examples,
                y_train=positions.astype(np.int64),
                x_test=examples[:0],
                y_test=np.zeros(0, dtype=np.int64),
                classes=tuple(str(name) for name in self.classes_.tolist()),
                encoder=self._inputs.encoder,
                is_encoded=self._inputs.encoder is not None,
            ),
            population="train",
            method=self.method,
            k=self.k,
            head=None,
            recipe=self._recipe(),
            learning_rates=self._learning_rates(),
            folds=self.folds,
            members=self.members,
            calibrate=self.calibrate,
            seed=self._seed(),
            progress=_print_row if self.verbose else None,
        )
        self.module_ = self.classifier_.model
        self.temperature_ = self.classifier_.temperature
        self.log_ = self.classifier_.details["log"]
        self.notes_ = tuple(self.classifier_.details["notes"])
        if self.verbose:
            print(*self.notes_, sep="\n")
        return self

    def predict(self, X: Any) -> Shaped[ndarray, " examples"]:  # noqa: N803
        """The most probable class of each example."""
        logits = self._logits(X)
        predicted: Shaped[ndarray, " examples"] = self.classes_[logits.argmax(dim=1).numpy()]
        return predicted

    def predict_proba(self, X: Any) -> Float64[ndarray, "examples classes"]:  # noqa: N803
        """Probability of each class, in the order of ``classes_``."""
        probs: Float64[ndarray, "examples classes"] = self._logits(X).softmax(dim=1).numpy()
        return probs

    def decision_function(self, X: Any) -> Float64[ndarray, "..."]:  # noqa: N803
        """For two classes, the log-odds of the second; otherwise log-probabilities."""
        logits = self._logits(X)
        scores = logits[:, 1] - logits[:, 0] if logits.shape[1] == 2 else logits.log_softmax(dim=1)
        return np.asarray(scores)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags

    def _check(self, x: Any, *, is_first: bool) -> None:
        """Run the checks of scikit-learn; the encoder checks the cells of a frame."""
        if is_frame(x):
            validate_data(self, x, reset=is_first, skip_check_array=True)
        else:
            validate_data(self, x, reset=is_first, allow_nd=True)

    def _recipe(self) -> dict[str, Any]:
        """The fields of the recipe that the arguments set."""
        recipe: dict[str, Any] = {}
        if self.module is not None:
            recipe["model"] = self.module
        if self.max_updates is not None:
            recipe["updates"] = at_least("max_updates", self.max_updates, 1)
        return recipe

    def _learning_rates(self) -> tuple[Number, ...]:
        """Candidates for the learning rate."""
        return LEARNING_RATES if self.learning_rate is None else (self.learning_rate,)

    def _seed(self) -> int:
        """Seed of the pipeline: ``random_state`` if it is an integer, else drawn from it."""
        if isinstance(self.random_state, int | np.integer):
            return at_least("random_state", int(self.random_state), 0)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _logits(self, x: Any) -> Float64[Tensor, "examples classes"]:
        """Logits for the requested prior."""
        check_is_fitted(self, "classifier_")
        self._check(x, is_first=False)
        logits: Tensor = self.classifier_.encoded_logits(self._inputs.array(x), prior=self.prior_)
        return logits.to(torch.float64)


def _print_row(row: dict[str, Number]) -> None:
    print("  ".join(f"{name} {value:.4g}" for name, value in row.items()))
