"""Small classifiers to export, of images and of tables."""

import numpy as np
import onnxruntime
import pandas as pd
import torch

from oddkout.data.table import TableEncoder
from oddkout.fitting.classifier import Classifier
from oddkout.fitting.preparation import Standardisation
from oddkout.mixture import Mixture, View
from oddkout.models import ResNet, build_model, initialise
from oddkout.models.resnet import BLOCKS
from oddkout.prior import PriorLedger

CLASSES = ("cat", "dog", "owl")


PRIOR = (0.7, 0.2, 0.1)


def spread(model, x):
    """Scale the last layer so that probabilities are neither all even nor all certain."""
    with torch.no_grad():
        model.out.weight *= 2 / model(x).std()
    return model


def image_classifier(network, *, channels, size):
    """A network with weights, statistics of batch norm and constants that all matter."""
    generator = torch.Generator().manual_seed(0)
    shape = (channels, size, size)
    if network == "cnn":
        model = build_model(network, shape=shape, classes=3, generator=generator)
    else:
        model = initialise(ResNet(BLOCKS[network], channels=3, classes=3, width=16), generator)
    for _ in range(5):
        model.train()(2 * torch.randn(16, *shape, generator=generator) + 1)
    return Classifier(
        model=spread(model.eval(), torch.randn(64, *shape, generator=generator)),
        shape=shape,
        classes=CLASSES,
        method="oko",
        mixture=Mixture(
            views=(
                View(
                    method="oko",
                    network=network,
                    ledger=PriorLedger(
                        assumed=(1 / 3,) * 3,
                        stated=(0.2, 0.3, 0.5),
                        train=(0.2, 0.3, 0.5),
                        temperature=1.7,
                        strength=0.4,
                    ),
                ),
            )
        ),
        standardisation=Standardisation((0.4, 0.5, 0.6)[:channels], (0.2, 0.25, 0.3)[:channels]),
        details={"data": {"fingerprint": "f00d", "dtype": "uint8"}},
    )


def patients(rows, *, seed=0):
    """Columns of every kind, large offsets and missing cells among them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "time": 1.7e9 + 50 * rng.normal(size=rows),
            "ward": rng.choice(["north", "søuth", ""], rows),
            "dose, mg": rng.choice([0.5, 1.0, np.nan], rows),
            "numbers": rng.integers(0, 5, rows),
            "drug": rng.choice(np.array(["a", "b", None], dtype=object), rows),
            "grade": rng.choice([1, 2, 3], rows),
        }
    )
    frame["ward"] = frame["ward"].replace("", None)
    return frame


def table_classifier(frame, **kinds):
    encoder = TableEncoder(frame, **kinds)
    features = encoder.encode(frame)
    generator = torch.Generator().manual_seed(0)
    shape = features.shape[1:]
    model = build_model("mlp", shape=shape, classes=3, generator=generator).eval()
    return Classifier(
        model=spread(model, torch.from_numpy(features)),
        shape=shape,
        classes=CLASSES,
        method="bb+ts",
        mixture=Mixture(
            views=(
                View(
                    method="oko",
                    network="mlp",
                    ledger=PriorLedger(
                        assumed=(1 / 3,) * 3,
                        stated=(1 / 3,) * 3,
                        train=(1 / 3,) * 3,
                        temperature=0.8,
                    ),
                ),
            )
        ),
        encoder=encoder,
    )


def session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def saved_classifier(folder):
    """Save a classifier of images as ``model``, and some examples as ``new.npz``."""
    image_classifier("cnn", channels=1, size=8).save(folder / "model")
    x = np.random.default_rng(0).integers(0, 256, (20, 8, 8), dtype=np.uint8)
    np.savez(folder / "new.npz", x=x)
    return folder
