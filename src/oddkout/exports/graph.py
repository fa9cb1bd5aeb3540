"""The graph of a classifier, from raw inputs to probabilities."""

import copy
import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from oddkout.exports.raw import FeatureInput, ImageInput, RawInput
from oddkout.exports.table_input import TableInput
from oddkout.fitting.classifier import Classifier
from oddkout.models import NAMES
from oddkout.models.cosine import SUFFIX
from oddkout.prior import requested_prior

# Number of examples to trace with; torch.export would treat 1 as a constant.
_EXAMPLES = 2


class ProbabilityGraph(nn.Module):
    """Preprocessing, network, temperature and prior of a classifier in one module.

    Args:
        classifier: The classifier; its network is copied.
        prior: Class frequencies where the classifier is used; its own prior if not given.
    """

    mean: Tensor
    deviation: Tensor
    temperature: Tensor
    shift: Tensor
    weight: Tensor
    prior_shift: Tensor

    def __init__(self, classifier: Classifier, *, prior: Sequence[float] | None = None) -> None:
        super().__init__()
        self.model = copy.deepcopy(classifier.model).cpu()
        shape = (1, -1) + (1,) * (len(classifier.shape) - 1)
        scaling = classifier.standardisation
        self.register_buffer("mean", torch.tensor(scaling.mean).view(shape))
        self.register_buffer("deviation", torch.tensor(scaling.deviation).view(shape))
        self.raw = raw_input(classifier, mean=self.mean, deviation=self.deviation)
        self.prior = requested_prior("train" if prior is None else prior, train=classifier.prior)
        self._mixture = classifier.mixture
        views = self._mixture.views
        ledgers = [view.ledger for view in views]
        self.register_buffer("temperature", torch.tensor([one.temperature for one in ledgers]))
        self.register_buffer("shift", torch.stack([one.shift() for one in ledgers]).float())
        self.register_buffer("weight", torch.tensor([view.weight for view in views]))
        # Conversion to the requested frequencies comes last, after networks are averaged.
        first = ledgers[0]
        self.register_buffer("prior_shift", (first.shift(prior=prior) - first.shift()).float())
        self.eval()

    def forward(self, *inputs: Shaped[Tensor, "..."]) -> Float[Tensor, "examples classes"]:
        """Probabilities of the classes."""
        x = (self.raw(*inputs) - self.mean) / self.deviation
        outputs: Tensor = self.model(x)
        views = self._mixture.views
        sections = (
            (outputs,)
            if len(views) == 1
            else torch.split(outputs, [view.members for view in views], 1)
        )
        parts = [self._view(number, section) for number, section in enumerate(sections)]
        logits = parts[0]
        if len(parts) > 1:
            mean = sum(w * p.softmax(dim=1) for w, p in zip(self.weight, parts, strict=True))
            logits = _logarithm(mean) * float(self._mixture.exponent)
        return (logits + self.prior_shift).softmax(dim=1)

    def _view(
        self, number: int, outputs: Float[Tensor, "examples *members classes"]
    ) -> Float[Tensor, "examples classes"]:
        """Logits of the prediction of one view."""
        logits = outputs / self.temperature[number] + self.shift[number]
        if logits.ndim == 2:
            return logits
        exponent = float(self._mixture.views[number].ledger.exponent)
        return _logarithm(logits.softmax(dim=2).mean(dim=1)) * exponent


def raw_input(classifier: Classifier, *, mean: Tensor, deviation: Tensor) -> RawInput:
    """The kind of input that a classifier was trained on.

    ``mean`` and ``deviation`` are those of its standardisation, one number per channel.
    """
    if classifier.encoder is not None:
        return TableInput(classifier.encoder, keeps_missing=classifier.mixture.has_gaps)
    kind = classifier.details.get("data", {}).get("dtype", "uint8")
    if len(classifier.shape) == 3 and kind == "uint8":
        return ImageInput(classifier.shape)
    return FeatureInput(classifier.shape, mean=mean[0], deviation=deviation[0])


def _logarithm(probs: Float[Tensor, "examples classes"]) -> Float[Tensor, "examples classes"]:
    """Logarithm of probabilities that may be rounded to 0."""
    return probs.clamp_min(1e-30).log()


def traced(graph: ProbabilityGraph, *, network: str) -> torch.export.ExportedProgram:
    """Trace a graph to a torch program for any number of examples.

    The program contains no paths of source files. ``network`` is the name of the network, for
    error messages.
    """
    batch = torch.export.Dim("batch")
    random = graph.raw.random_examples(_EXAMPLES, torch.Generator().manual_seed(0))
    arguments = graph.raw.arguments(random)
    dynamic = {"inputs": tuple({0: batch} for _ in arguments)}
    try:
        with quiet_exporter():
            program = torch.export.export(graph, arguments, dynamic_shapes=dynamic)
    # A custom network can fail with any exception; a failure of a built-in one is a bug.
    except Exception as error:
        if all(name.removesuffix(SUFFIX) in NAMES for name in network.split(", ")):
            raise
        reason = str(error).strip().splitlines()[0] if str(error) else type(error).__name__
        raise ValueError(
            f"the network {network!r} must be a graph for any number of examples, but it cannot be "
            f"traced as one ({reason}); avoid Python conditions and loops that depend on the "
            "values or the number of the examples"
        ) from error
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)  # it holds paths of source files
    return program


@contextmanager
def quiet_exporter() -> Iterator[None]:
    """Silence the exporters' warnings, which concern their own internals; errors still show."""
    loggers = [logging.getLogger(name) for name in ("torch.onnx", "torch.export", "onnxscript")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
