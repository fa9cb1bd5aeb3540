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

from oddkout.calibrators import PriorCorrection
from oddkout.checks import Number, at_least, one_of
from oddkout.data import Data
from oddkout.data.sources import is_frame
from oddkout.estimator.inputs import Inputs, is_table, refuse_repeated_names, refuse_words
from oddkout.estimator.out_of_fold import out_of_fold_score
from oddkout.estimator.requirements import (
    group_numbers,
    refuse_weights,
    trainable_labels,
    trainable_method,
)
from oddkout.fitting.fit import fit_data
from oddkout.fitting.folds import UNSCORED, suitable_folds
from oddkout.fitting.methods import Method
from oddkout.fitting.selection import LEARNING_RATES
from oddkout.prior import class_frequencies, requested_prior


class OddKOutClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """Calibrated probabilities for small tables, as a scikit-learn classifier.

    By default it fits a stack of five views of the columns: small networks trained with
    cross-entropy on piecewise-linear codes and on normal scores, a linear model, a network trained
    by odd-k-out set learning, and a forest. Each view has a member for each of eight folds.
    Out-of-fold predictions choose when to stop, calibrate each view, and weigh the views. It uses
    the pipeline of ``oddkout.fit``: the same data, method and seed give the same probabilities. See
    ``Inputs`` for the accepted inputs: frames, arrays with missing cells, sparse matrices, images.

    There is no ``partial_fit`` or ``warm_start``: cross-validation chooses the end of training and
    the calibration, and a network that starts from earlier weights has already seen the held-out
    folds. There is no ``sample_weight``: scikit-learn requires that a weight of 2 equals a repeated
    example, which folds and sets cannot guarantee.

    Args:
        views: ``"stack"`` for the stack; ``"single"`` for one network or ensemble, as in the paper.
            Images, a ``method`` and a ``module`` imply ``"single"``.
        method: Name of one method, see ``oddkout.fitting.methods.METHODS``; by default the stack
            ``"tables"``, and ``"oko"`` for a single view.
        k: Number of odd classes in a set, of the view or method that draws sets; by default 1.
        module: The network: a name or a function that builds one, see ``build_model``. By default
            chosen by the shape of the examples: an MLP for features, the paper's CNN for grey
            images of at least 16 x 16 pixels, ResNet18 for other images.
        max_updates: Largest number of updates; by default adapted to the number of examples.
        learning_rate: Peak learning rate. By default that of the stack; a single view chooses
            out of fold.
        folds: Number of cross-validation folds, and of networks of each view; see ``oddkout.fit``.
            0 for none, which requires a learning rate.
        members: ``"folds"`` averages the networks of the folds; ``"single"`` trains one network of
            each view on all examples, with what the folds chose.
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
        temperature_: What its logits are divided by; the mean if there are several views.
        weights_: Share of each view in the prediction.
        n_iter_: Number of updates of the view that was trained longest.
        oof_proba_: Probabilities of each training example by networks that were not trained on it;
            NaN for examples that are never scored. None without folds.
        oof_score_: NLL of these for the training frequencies, with its 95 % confidence interval: a
            score without a test set. None without folds.
        log_: The learning curve of the first view, see ``Trained``.
        notes_: What a user should know about the fit, one sentence each.

    Example:
        >>> from sklearn.datasets import load_iris
        >>> x, y = load_iris(return_X_y=True)
        >>> classifier = OddKOutClassifier(max_updates=50, random_state=0).fit(x, y)
        >>> classifier.predict_proba(x[:2]).shape
        (2, 3)
        >>> classifier.oof_score_.low < classifier.oof_score_.value < classifier.oof_score_.high
        True
    """

    # Arguments are checked in `fit`, as scikit-learn requires.
    def __init__(
        self,
        *,
        views: Any = "stack",
        method: Any = None,
        k: Any = None,
        module: Any = None,
        max_updates: Any = None,
        learning_rate: Any = None,
        folds: Any = None,
        members: Any = "folds",
        calibrate: Any = "folds",
        prior: Any = "train",
        random_state: Any = None,
        verbose: Any = False,
    ) -> None:
        self.views = views
        self.method = method
        self.k = k
        self.module = module
        self.max_updates = max_updates
        self.learning_rate = learning_rate
        self.folds = folds
        self.members = members
        self.calibrate = calibrate
        self.prior = prior
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,  # noqa: N803
        y: Any,
        groups: Any = None,
        **refused: Any,
    ) -> "OddKOutClassifier":
        """Train on examples and their classes.

        Args:
            X: Examples: features, a frame, or images.
            y: Their classes: text or integers.
            groups: Group of each example, such as the patient; folds keep groups together.
            **refused: ``sample_weight`` raises: it is not supported.
        """
        refuse_weights(refused)
        self._check(X, is_first=True)
        method, unused_k = trainable_method(self._method_name(X), self.k)
        labels = trainable_labels(X, y, method)
        self.classes_, positions = np.unique(labels, return_inverse=True)
        train_prior = class_frequencies(positions, classes=len(self.classes_))
        self.prior_ = requested_prior(self.prior, train=tuple(train_prior.tolist()))
        self._inputs = Inputs(X, keeps_missing=method.is_for_tables)
        examples = self._inputs.array(X)
        self.classifier_ = fit_data(
            Data(
                name="examples",
                x_train=examples,
                y_train=positions.astype(np.int64),
                x_test=examples[:0],
                y_test=np.zeros(0, dtype=np.int64),
                classes=tuple(str(name) for name in self.classes_.tolist()),
                notes=(*self._inputs.notes, *unused_k, *self._size_note(method, len(labels))),
                encoder=self._inputs.encoder,
                is_encoded=self._inputs.encoder is not None,
                train_groups=group_numbers(groups, examples=len(positions)),
            ),
            population="train",
            method=method.name,
            k=None if unused_k else self.k,
            head=None,
            recipe=self._recipe(examples, method),
            learning_rates=self._learning_rates(),
            folds=self.folds,
            members=self.members,
            calibrate=self.calibrate,
            seed=self._seed(),
            progress=_print_row if self.verbose else None,
        )
        self._keep_results(positions, groups)
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
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def _check(self, x: Any, *, is_first: bool) -> None:
        """Run the checks of scikit-learn; the encoder checks the cells of a frame."""
        if is_frame(x):
            refuse_repeated_names(x)
            validate_data(self, x, reset=is_first, skip_check_array=True)
        else:
            refuse_words(x)
            validate_data(
                self,
                x,
                reset=is_first,
                allow_nd=True,
                accept_sparse=True,
                ensure_all_finite="allow-nan" if is_table(x) else True,
            )

    def _method_name(self, x: Any) -> Any:
        """The method to fit: the stack, or a single one."""
        one_of("views", self.views, ("stack", "single"))
        if self.method is not None:
            return self.method
        is_stack = self.views == "stack" and self.module is None and is_table(x)
        return "tables" if is_stack else "oko"

    def _recipe(self, x: Any, method: Method) -> dict[str, Any]:
        """The fields of the recipe that the arguments set."""
        recipe: dict[str, Any] = {}
        if self.module is not None:
            recipe["model"] = self.module
        if self.max_updates is not None:
            recipe["updates"] = at_least("max_updates", self.max_updates, 1)
        if method.is_for_tables and self.learning_rate is not None:
            recipe["learning_rate"] = self.learning_rate
        if not method.is_for_tables and x.ndim == 2 and x.dtype.kind == "f" and np.isnan(x).any():
            recipe["encoding"] = "standard"  # which fills in missing cells
        return recipe

    def _size_note(self, method: Method, examples: int) -> tuple[str, ...]:
        """A note if there are too many examples for the usual number of networks."""
        usual = suitable_folds(1, is_table=True)
        members = suitable_folds(examples, is_table=True)
        if not method.is_for_tables or self.folds is not None or members == usual:
            return ()
        return (
            f"for {examples:,} examples each view has {members} network(s) instead of {usual}, to "
            f"save time; set folds={usual} for the usual number",
        )

    def _keep_results(self, positions: Any, groups: Any) -> None:
        """Set the fitted attributes from the classifier."""
        fitted = self.classifier_
        self.module_ = fitted.model
        self.temperature_ = fitted.temperature
        self.log_ = fitted.details["log"]
        self.notes_ = tuple(fitted.details["notes"])
        self.n_iter_ = max(view["stopped"]["updates"] for view in fitted.details["views"])
        self.weights_ = {view.title: float(view.weight) for view in fitted.mixture.views}
        self.oof_proba_ = self.oof_score_ = None
        if fitted.scores is not None:
            logits = fitted.scores.calibrated.double()
            logits[fitted.scores.fold_of == UNSCORED] = torch.nan
            natural = logits.softmax(dim=1).numpy()
            self.oof_score_ = out_of_fold_score(natural, positions, groups=groups)
            correction = PriorCorrection(self.prior_, train_prior=fitted.mixture.stated)
            self.oof_proba_ = correction(logits).softmax(dim=1).numpy()

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
