"""Export a classifier to one file, and verify the file against the classifier."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import torch

from oddkout.checks import few, one_of
from oddkout.exports.graph import ProbabilityGraph, traced
from oddkout.exports.onnx_file import OPSET, onnx_probabilities, write_onnx
from oddkout.exports.program_file import program_probabilities, write_program
from oddkout.exports.verification import largest_difference
from oddkout.fitting.classifier import Classifier
from oddkout.models.foreign import ForeignModel
from oddkout.version import __version__

Format = Literal["onnx", "torch"]
SUFFIX = {"onnx": ".onnx", "torch": ".pt2"}
_RANDOM = 256


@dataclass(frozen=True, kw_only=True)
class Export:
    """An exported file, with the result of its verification.

    Attributes:
        facts: Metadata stored in the file: format, opset, classes, prior, temperature and so on.
        difference: Largest difference of any probability from the classifier's.
        random: Number of random examples compared.
        real: Number of real examples compared.
    """

    path: Path
    facts: dict[str, Any]
    difference: float
    random: int
    real: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        checked = {"random": self.random, "real": self.real, "difference": self.difference}
        return {"path": str(self.path)} | self.facts | {"checked": checked}

    def __str__(self) -> str:
        facts = self.facts
        opset = f", opset {facts['opset']}" if "opset" in facts else ""
        prior = [f"{share:.4g}" for share in facts["prior"]]
        inputs = [f"{i['name']} ({i['dtype']} {i['shape']})" for i in facts["inputs"]]
        return "\n".join(
            [
                f"wrote {self.path}: {facts['format']}{opset}, "
                f"{self.path.stat().st_size / 1e6:.2f} MB",
                f"from {few(inputs)} to the probabilities of {few(facts['classes'])}",
                f"prior {few(prior)}, temperature {facts['temperature']:.4g}",
                f"differs from the classifier by at most {self.difference:.1e} on {self.random} "
                f"random and {self.real} real examples",
            ]
        )


def export(
    classifier: Classifier | str | Path,
    path: str | Path,
    *,
    format: Format = "onnx",
    prior: Sequence[float] | None = None,
    examples: Any = None,
) -> Export:
    """Export a classifier to one file that outputs its probabilities.

    The file contains preprocessing, network, temperature and prior, and takes any number of
    examples at once. It is read back and compared with ``predict_proba`` on random examples and,
    if given, on real ones. If any probability differs by more than 1e-5, an error is raised and no
    file is written.

    The inputs are those of the training data: images in bytes, features, or the columns of a table
    by name. Numeric columns are in double precision (NaN if missing), text columns are strings
    (empty if missing). A torch program cannot hold text: it takes ``numbers`` and the ``codes`` of
    the categories, in the order given in its card.

    Args:
        classifier: A classifier, or the folder of a saved one.
        path: File to write: ``.onnx``, or ``.pt2`` for a torch program. An existing file is
            replaced.
        format: ``"onnx"``, or ``"torch"`` for a program that ``torch.export.load`` reads. Neither
            needs this library.
        prior: Class frequencies where the classifier is used, in the order of its classes; its
            own prior if not given.
        examples: Real examples to compare on, as for ``predict_proba``.
    """
    one_of("format", format, get_args(Format))
    path = Path(path)
    if path.suffix != SUFFIX[format]:
        raise ValueError(
            f"a file of format {format!r} must be called *{SUFFIX[format]}, got {path}; rename "
            f"it, or choose the format that fits"
        )
    if not isinstance(classifier, Classifier):
        classifier = Classifier.load(classifier)
    if isinstance(classifier.model, ForeignModel):
        raise ValueError(
            f"{classifier.method} is a classifier of another library, which cannot be exported "
            "here; use a converter for it, such as skl2onnx, or train one of our methods"
        )
    graph = ProbabilityGraph(classifier, prior=prior)
    facts = _facts(classifier, graph, format)
    program = traced(graph, network=classifier.network)

    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.stem}.tmp{path.suffix}")
    try:
        if format == "onnx":
            write_onnx(program, temporary, raw=graph.raw, facts=facts)
            probabilities = onnx_probabilities(temporary, raw=graph.raw)
        else:
            write_program(program, temporary, facts=facts)
            probabilities = program_probabilities(temporary, raw=graph.raw)
        random = graph.raw.random_examples(_RANDOM, torch.Generator().manual_seed(1))
        differences = [
            largest_difference(probabilities, classifier, x, prior=prior, kind=kind)
            for kind, x in (("random", random), ("real", examples))
            if x is not None
        ]
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return Export(
        path=path,
        facts=facts,
        difference=max(differences),
        random=_RANDOM,
        real=0 if examples is None else len(examples),
    )


def _facts(classifier: Classifier, graph: ProbabilityGraph, format: str) -> dict[str, Any]:
    """Metadata of a file, as plain values."""
    opset = {"opset": OPSET} if format == "onnx" else {}
    return {
        "format": format,
        **opset,
        "classes": list(classifier.classes),
        "prior": list(graph.prior),
        "card_prior": list(classifier.prior),
        "temperature": classifier.temperature,
        "members": classifier.members,
        "method": classifier.method,
        "network": classifier.network,
        "fingerprint": classifier.details.get("data", {}).get("fingerprint", ""),
        "inputs": graph.raw.described(by_column=format == "onnx"),
        "oddkout": __version__,
    }
