"""Write and run ONNX files, with the facts about the classifier in their metadata."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from oddkout.exports.graph import quiet_exporter
from oddkout.exports.raw import RawInput
from oddkout.exports.table_input import TableInput
from oddkout.version import __version__

# The exporter's native opset, and the IR version released with it. Newer versions would exclude
# older runtimes for no benefit.
OPSET, _IR = 18, 8
_ML_DOMAIN, _ML_OPSET = "ai.onnx.ml", 3
_OUTPUT = "probabilities"
# Prefix of the names inside the graph, so that they never equal the name of a column.
_INSIDE = "oddkout/"


def write_onnx(
    program: torch.export.ExportedProgram, path: Path, *, raw: RawInput, facts: dict[str, Any]
) -> None:
    """Write a torch program as an ONNX file.

    Args:
        program: The traced program.
        path: File to write.
        raw: The inputs of the program.
        facts: Metadata to store in the file.
    """
    import onnx

    if isinstance(raw, TableInput) and _OUTPUT in (*raw.numeric, *raw.text):
        raise ValueError(
            f"no column may be called {_OUTPUT!r}, which is the name of the output of the exported "
            "graph; rename it and train again, or export with format='torch'"
        )
    with quiet_exporter():
        translated = torch.onnx.export(
            program,
            input_names=list(raw.names),
            output_names=[_OUTPUT],
            opset_version=OPSET,
            dynamo=True,
            verbose=False,
        )
    assert translated is not None
    model = translated.model_proto
    _strip(model.graph)
    if isinstance(raw, TableInput):
        model = _with_columns(model, raw)
    model.ir_version = _IR
    model.producer_name, model.producer_version = "oddkout", __version__
    values = {k: v if isinstance(v, str) else json.dumps(v) for k, v in facts.items()}
    onnx.helper.set_model_props(model, values)
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString(deterministic=True))


def onnx_probabilities(path: Path, *, raw: RawInput) -> Callable[[Any], Any]:
    """Load an ONNX file as a function from examples to probabilities.

    The function takes examples as ``predict_proba`` does; ``raw`` converts them to the inputs of
    the file.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors
    options.intra_op_num_threads = torch.get_num_threads()  # the default takes every core
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda x: session.run([_OUTPUT], raw.feed(x))[0]


def _strip(graph: Any) -> None:
    """Remove the exporter's annotations, and name the first axis ``batch``."""
    del graph.value_info[:], graph.metadata_props[:]
    for part in (*graph.node, *graph.initializer, *graph.input, *graph.output):
        del part.metadata_props[:]
        part.doc_string = ""
    for value in (*graph.input, *graph.output):
        value.type.tensor_type.shape.dim[0].dim_param = "batch"


def _with_columns(model: Any, table: TableInput) -> Any:
    """Give the model one input per column, by name: doubles, and text that is looked up."""
    from onnx import TensorProto, compose, helper

    model = compose.add_prefix(model, _INSIDE, rename_outputs=False)
    axis = helper.make_tensor(f"{_INSIDE}axis", TensorProto.INT64, [1], [1])
    nodes, inputs, kinds = [], [], {"numbers": table.numeric, "codes": table.text}
    for target in table.names:
        for name in kinds[target]:
            is_text = target == "codes"
            kind = TensorProto.STRING if is_text else TensorProto.DOUBLE
            inputs.append(helper.make_tensor_value_info(name, kind, ["batch"]))
            single = name
            if is_text:
                codes, single = table.code_of(name), f"{_INSIDE}code/{name}"
                lookup = helper.make_node(
                    "LabelEncoder",
                    [name],
                    [single],
                    domain=_ML_DOMAIN,
                    keys_strings=list(codes),
                    values_int64s=list(codes.values()),
                    default_int64=table.unknown_code(name),
                )
                nodes.append(lookup)
            column = f"{_INSIDE}column/{name}"
            nodes.append(helper.make_node("Unsqueeze", [single, axis.name], [column]))
        columns = [f"{_INSIDE}column/{name}" for name in kinds[target]]
        nodes.append(helper.make_node("Concat", columns, [f"{_INSIDE}{target}"], axis=1))
    body = list(model.graph.node)
    del model.graph.node[:], model.graph.input[:]
    model.graph.node.extend(nodes + body)
    model.graph.input.extend(inputs)
    model.graph.initializer.append(axis)
    model.opset_import.append(helper.make_opsetid(_ML_DOMAIN, _ML_OPSET))
    return model
