"""A trained classifier, in memory and on disk: weights and a card; no pickle, no code."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Shaped
from numpy import ndarray
from torch import Tensor, nn

from oddkout.checks import few, finite_logits
from oddkout.data import as_tensor
from oddkout.data.gaps import encoded_with_gaps
from oddkout.data.sources import is_frame
from oddkout.data.table import TableEncoder
from oddkout.evaluation import Evaluation
from oddkout.fitting.card import CARD, FORMAT, read_card, read_view, written_view
from oddkout.fitting.folds import FoldScores
from oddkout.fitting.preparation import Standardisation
from oddkout.fitting.training import predict_logits
from oddkout.mixture import Mixture, View
from oddkout.models import NAMES, build_model
from oddkout.models.cosine import SUFFIX, with_cosine_layer
from oddkout.models.encodings import Encoding, encoded_network
from oddkout.models.ensemble import combined
from oddkout.models.foreign import FILE, FOREIGN, ForeignModel, load_foreign, save_foreign
from oddkout.models.forest import FOREST, Forest

_WEIGHTS = "model.safetensors"


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

    def predict_logits(
        self, x: Any, *, prior: Sequence[float] | None = None
    ) -> Float[Tensor, "examples classes"]:
        """Logits whose softmax gives the predicted probabilities.

        Args:
            x: Examples like the training examples: images, rows of features, or a pandas frame with
                the columns of the training table.
            prior: Class frequencies where the classifier is used, in the order of ``classes``; by
                default those of the card.
        """
        if self.encoder is None:
            return self.encoded_logits(np.asarray(x), prior=prior)
        if not is_frame(x):
            raise ValueError(
                "examples must be a pandas frame, because the classifier was trained on a table, "
                f"got {type(x).__name__}; pass a frame with the columns "
                f"{few(self.encoder.columns)}, not its encoded features"
            )
        encoded = (
            encoded_with_gaps(self.encoder, x) if self.mixture.has_gaps else self.encoder.encode(x)
        )
        return self.encoded_logits(encoded, prior=prior)

    def encoded_logits(
        self, x: Shaped[ndarray, "examples ..."], *, prior: Sequence[float] | None = None
    ) -> Float[Tensor, "examples classes"]:
        """Like ``predict_logits``, for examples as ``Data`` holds them: tables are encoded already.

        Args:
            x: Images, rows of features, or encoded rows of a table.
            prior: See ``predict_logits``.
        """
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
        logits = predict_logits(self.model, self.standardisation(x))
        return self.mixture.combined(logits, prior=prior)

    def predict_proba(
        self, x: Any, *, prior: Sequence[float] | None = None
    ) -> Float[ndarray, "examples classes"]:
        """Probability of each class; the arguments are those of ``predict_logits``."""
        logits = finite_logits(self.predict_logits(x, prior=prior))
        probs: Float[ndarray, "examples classes"] = logits.double().softmax(dim=1).numpy()
        return probs

    def save(self, folder: str | Path) -> Path:
        """Write the classifier to a folder, completely or not at all.

        Args:
            folder: A new or empty folder, or one with a classifier, which is replaced.
        """
        from safetensors.torch import save_file

        folder = Path(folder)
        refuse_other_content(folder)
        text = json.dumps(self.card, indent=2, allow_nan=False)
        folder.mkdir(parents=True, exist_ok=True)
        weights = {name: value.contiguous() for name, value in self.model.state_dict().items()}
        if isinstance(self.model, ForeignModel):
            save_foreign(self.model, folder / f".{FILE}")
            (folder / f".{FILE}").replace(folder / FILE)
        save_file(weights, folder / f"{_WEIGHTS}.tmp")
        (folder / f"{CARD}.tmp").write_text(text)
        (folder / f"{_WEIGHTS}.tmp").replace(folder / _WEIGHTS)
        (folder / f"{CARD}.tmp").replace(folder / CARD)  # last: a folder with a card is complete
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
        shape, classes = tuple(card["shape"]), tuple(card["classes"])
        views = [read_view(view, card) for view in card["views"]]
        is_foreign = [view.network for view in views] == [FOREIGN]
        known = (*NAMES, FOREST)
        for view in views:
            if not is_foreign and model is None and view.network.removesuffix(SUFFIX) not in known:
                raise ValueError(
                    f"{folder} was trained with a custom network, {view.network!r}; call "
                    "Classifier.load with model=, a function that builds it"
                )
        network: nn.Module = (
            load_foreign(folder / FILE, classes=len(classes))
            if is_foreign
            else combined(
                _built(view, model, shape=shape, classes=len(classes))
                for view in views
                for _ in range(view.members)
            )
        )
        _load_weights(folder / _WEIGHTS, network)
        encoder = card["encoder"]
        return cls(
            model=network.eval(),
            shape=shape,
            classes=classes,
            method=card["method"],
            mixture=Mixture(views=tuple(views), exponent=card["exponent"]),
            standardisation=Standardisation(tuple(card["mean"]), tuple(card["deviation"])),
            encoder=None if encoder is None else TableEncoder.from_dict(encoder),
            details=card["details"],
        )


def refuse_other_content(folder: Path) -> None:
    """Raise unless the folder is new, empty or holds a classifier, which may be replaced.

    Example:
        >>> refuse_other_content(Path("no such folder"))
    """
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"a classifier is saved in a folder, but {folder} is a file")
    if folder.is_dir() and not (folder / CARD).exists() and any(folder.iterdir()):
        raise ValueError(f"{folder} holds files that are not a classifier; choose another folder")


def _built(
    view: View, model: Callable[[], nn.Module] | None, *, shape: tuple[int, ...], classes: int
) -> nn.Module:
    """A network of a view, without its weights."""
    name = view.network.removesuffix(SUFFIX)
    if view.encoding is not None:
        shape = (view.encoding.features,)
    if name == FOREST:
        network: nn.Module = Forest(classes)
    elif model is None:
        network = build_model(name, shape=shape, classes=classes, generator=torch.Generator())
    else:
        network = model()
    network = network if name == view.network else with_cosine_layer(network)
    return network if view.encoding is None else encoded_network(Encoding(view.encoding), network)


def _load_weights(path: Path, model: nn.Module) -> None:
    """Load weights into a model, or raise if they do not fit."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        model.load_state_dict(load_file(path))
    except (SafetensorError, RuntimeError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(
            f"{path} does not hold the weights that the card describes ({reason}); the folder is "
            "damaged: train the model again"
        ) from None
    if not all(np.isfinite(p.detach().numpy()).all() for p in model.parameters()):
        raise ValueError(f"{path} holds weights that are not finite; train the model again")
