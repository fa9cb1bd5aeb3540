"""``oddkout doctor``: what a data set can and cannot support."""

import json

from oddkout.cli.source import (
    Categorical,
    DataDir,
    ImageSize,
    Json,
    Source,
    Target,
    Test,
    TestSize,
)
from oddkout.diagnosis import doctor as examine


def doctor(
    source: Source,
    target: Target = None,
    test: Test = None,
    test_size: TestSize = 0.2,
    image_size: ImageSize = None,
    categorical: Categorical = None,
    data_dir: DataDir = None,
    is_json: Json = False,
) -> int:
    """Say what a data set can and cannot support; exit 1 if training would be meaningless.

    Example: oddkout doctor patients.csv --target diagnosis
    """
    diagnosis = examine(
        source,
        target=target,
        test=test,
        test_size=test_size,
        image_size=image_size,
        categorical=categorical or (),
        data_dir=data_dir,
    )
    print(json.dumps(diagnosis.to_dict(), indent=2) if is_json else diagnosis)
    return 0 if diagnosis.is_trainable else 1
