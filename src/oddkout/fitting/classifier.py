"""A trained classifier, in memory and on disk: weights and a card; no pickle, no code."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Shaped
from numpy import ndarray
from torch import Tensor, nn

from oddkout.checks import Number, few, finite_logits
from oddkout.data import as_tensor
from oddkout.data.gaps import encoded_with_gaps
from oddkout.data.sources import is_frame
from oddkout.data.table import FARTHEST, TableEncoder
from oddkout.decisions.decided import Decisions
from oddkout.decisions.held_out import HeldOut
from oddkout.evaluation import Evaluation
from oddkout.fitting.card import CARD, FORMAT, read_card, written_view
from oddkout.fitting.deciding import decided
from oddkout.fitting.folder import new_files, refuse_other_content
from oddkout.fitting.folds import FoldScores
from oddkout.fitting.held_out_file import HELD_OUT, load_held_out, save_held_out
from oddkout.fitting.preparation import Standardisation
from oddkout.fitting.training import predict_logits
from oddkout.fitting.weights import WEIGHTS, loaded_network
from oddkout.mixture import Mixture
from oddkout.models.foreign import FILE, ForeignModel, save_foreign
from oddkout.prior import requested_prior
from oddkout.writing import write_tensors


@dataclass(kw_only=True)
class Classifier:
    """A trained classifier, with everything needed to use it and to judge it.

    Attributes:
        model: The network, in evaluation mode.
        shape: Shape of one example as the network takes it.
        classes: Names of the classes, in the order of the logits.
        method: Name of the method it was trained with.
        mixture: How its networks predict together: their methods and weights, and for each method
            class frequencies, temperature and strength of prior adjustment.
        standardisation: Scaling of the inputs; tables are scaled by their encoder instead.
        encoder: Encoder of the columns, for classifiers of tables.
        held_out: Predictions of training examples by networks that did not see them, to decide by;
            None without folds.
        details: Everything else on the card: metrics with intervals, settings, versions.
        evaluation: Evaluation on the test part; only right after fitting, not after ``load``.
        scores: Out-of-fold predictions; only right after fitting, and None without folds.
    """

    model: nn.Module
    shape: tuple[int, ...]
    classes: tuple[str, ...]
    method: str
    mixture: Mixture
    standardisation: Standardisation = field(default_factory=Standardisation)
    encoder: TableEncoder | None = None
    held_out: HeldOut | None = field(default=None, repr=False)
    details: dict[str, Any] = field(default_factory=dict)
    evaluation: Evaluation | None = field(default=None, repr=False)
    scores: FoldScores | None = field(default=None, repr=False)

    @property
    def prior(self) -> tuple[float, ...]:
        """Class frequencies that the probabilities are for."""
        return self.mixture.stated

    @property
    def temperature(self) -> float:
        """The temperature that logits are divided by; the mean if there are several methods."""
        return self.mixture.temperature

    @property
    def members(self) -> int:
        """Number of networks in the model."""
        return self.mixture.members

    @property
    def network(self) -> str:
        """Name of the network, see ``build_model``."""
        return ", ".join(dict.fromkeys(view.network for view in self.mixture.views))

    @property
    def card(self) -> dict[str, Any]:
        """The content of ``card.json``: everything except the weights."""
        return {
            "format": FORMAT,
            "shape": list(self.shape),
            "classes": list(self.classes),
            "method": self.method,
            "prior": list(self.mixture.stated),
            "train_prior": list(self.mixture.train),
            "temperature": self.temperature,
            "members": self.members,
            "views": [written_view(view) for view in self.mixture.views],
            "exponent": float(self.mixture.exponent),
            "mean": list(self.standardisation.mean),
            "deviation": list(self.standardisation.deviation),
            "encoder": None if self.encoder is None else self.encoder.to_dict(),
            "details": self.details,
        }

    def requested_prior(self, prior: Any) -> tuple[float, ...] | None:
        """The requested class frequencies as numbers; None if none are requested.

        Args:
            prior: ``"train"``, ``"uniform"``, a frequency for each class in the order of
                ``classes``, or a mapping from class names to frequencies.
        """
        if prior is None:
            return None
        return requested_prior(prior, train=self.mixture.train, names=self.classes)

    def predict_logits(self, x: Any, *, prior: Any = None) -> Float[Tensor, "examples classes"]:
        """Logits whose softmax gives the predicted probabilities.

        Args:
            x: Examples like the training examples: images, rows of features, or a pandas frame with
                the columns of the training table.
            prior: Class frequencies where the classifier is used, see ``requested_prior``; by
                default those of the card.
        """
        return self.encoded_logits(self._encoded(x), prior=prior)

    def _encoded(self, x: Any) -> Shaped[ndarray, "examples ..."]:
        """Examples as ``Data`` holds them."""
        if self.encoder is None:
            return np.asarray(x)
        if not is_frame(x):
            raise ValueError(
                "examples must be a pandas frame, because the classifier was trained on a table, "
                f"got {type(x).__name__}; pass a frame with the columns "
                f"{few(self.encoder.columns)}, not its encoded features"
            )
        if self.mixture.has_gaps:
            return encoded_with_gaps(self.encoder, x)
        return self.encoder.encode(x)

    def encoded_logits(
        self, x: Shaped[ndarray, "examples ..."], *, prior: Any = None
    ) -> Float[Tensor, "examples classes"]:
        """Like ``predict_logits``, for examples as ``Data`` holds them: tables are encoded already.

        Args:
            x: Images, rows of features, or encoded rows of a table.
            prior: See ``predict_logits``.
        """
        logits = self.network_logits(x)
        return self.mixture.combined(logits, prior=self.requested_prior(prior))

    def network_logits(
        self, x: Shaped[ndarray, "examples ..."]
    ) -> Float[Tensor, "examples *members classes"]:
        """Logits of every network, before they are combined."""
        if x.dtype.kind not in "fiub":
            raise ValueError(
                f"examples must be numbers, got {x.dtype}; pass the features that the classifier "
                "was trained on, without columns of text"
            )
        shape = x.shape[1:] if x.ndim == 2 else tuple(as_tensor(x[:1]).shape[1:])
        if shape != self.shape:
            raise ValueError(
                f"examples must have the shape that the classifier was trained on, {self.shape}, "
                f"got {shape}; scale images to it, or pass the same columns"
            )
        inputs = self.standardisation(x)
        is_wrong = ~(inputs.abs() < FARTHEST)  # beyond it, numbers are cut off
        if all(view.encoding is not None for view in self.mixture.views):  # which fills gaps
            is_wrong &= ~inputs.isnan()
        if broken := is_wrong.flatten(1).any(dim=1).nonzero().flatten().tolist():
            raise ValueError(
                "examples must be finite and of the size of the training data, but those at "
                f"{few(broken)} (from 0) hold NaN, infinity or numbers beyond single precision; "
                "correct or drop them"
            )
        return predict_logits(self.model, inputs)

    def predict_proba(self, x: Any, *, prior: Any = None) -> Float[ndarray, "examples classes"]:
        """Probability of each class; the arguments are those of ``predict_logits``."""
        logits = finite_logits(self.predict_logits(x, prior=prior))
        probs: Float[ndarray, "examples classes"] = logits.double().softmax(dim=1).numpy()
        return probs

    def decide(
        self,
        x: Any,
        *,
        coverage: Number | None = None,
        risk: Number | None = None,
        costs: Any = None,
        prior: Any = None,
        by_class: bool | None = None,
    ) -> Decisions:
        """Decide on cases, with what the held-out predictions promise.

        Args:
            x: Examples, as for ``predict_logits``.
            coverage: Sets of classes that hold the true one in this share of cases.
            risk: An answer, or ``"refer"``: at most this share of the answers is wrong.
            costs: The answer with the lowest expected cost; see ``cost_table``.
            prior: Class frequencies where the classifier is used; by default those of the card.
            by_class: Whether coverage or risk holds for each class; by default for ``coverage``
                only.
        """
        return decided(
            self.network_logits(self._encoded(x)),
            mixture=self.mixture,
            held_out=self.held_out,
            classes=self.classes,
            coverage=coverage,
            risk=risk,
            costs=costs,
            prior=self.requested_prior(prior),
            by_class=by_class,
        )

    def save(self, folder: str | Path) -> Path:
        """Write the classifier to a folder, completely or not at all.

        Args:
            folder: A new or empty folder, or one with a classifier, which is replaced.
        """
        folder = Path(folder)
        refuse_other_content(folder)
        text = json.dumps(self.card, indent=2, allow_nan=False)
        folder.mkdir(parents=True, exist_ok=True)
        weights = {name: value.contiguous() for name, value in self.model.state_dict().items()}
        with new_files(folder) as new:
            if isinstance(self.model, ForeignModel):
                save_foreign(self.model, new / FILE)
            write_tensors(weights, new / WEIGHTS)
            if self.held_out is not None:
                save_held_out(self.held_out, new / HELD_OUT)
            (new / CARD).write_text(text)
        return folder

    @classmethod
    def load(
        cls, folder: str | Path, *, model: Callable[[], nn.Module] | None = None
    ) -> "Classifier":
        """Read a classifier. No code from its files is executed.

        Args:
            folder: The folder it was saved in.
            model: For a custom network, a function that builds it. The weights are then loaded. A
                card cannot name code to run.
        """
        folder = Path(folder)
        card = read_card(folder)
        network = loaded_network(folder, card, model)
        return cls(
            model=network.eval(),
            shape=card.shape,
            classes=card.classes,
            method=card.method,
            mixture=card.mixture,
            standardisation=card.standardisation,
            encoder=None if card.encoder is None else card.encoder.restored(),
            held_out=load_held_out(folder / HELD_OUT, classes=len(card.classes)),
            details=card.details,
        )
