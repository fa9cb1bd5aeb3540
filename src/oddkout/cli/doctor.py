"""``oddkout doctor``: check a data set before training."""

import json

from oddkout.cli.source import (
    TEST_SIZE,
    CategoricalOption,
    DataDirOption,
    ImageSizeOption,
    JsonOption,
    SourceArgument,
    TargetOption,
    TestOption,
    TestSizeOption,
)
from oddkout.diagnosis import doctor as examine


def doctor(
    source: SourceArgument,
    target: TargetOption = None,
    test: TestOption = None,
    test_size: TestSizeOption = TEST_SIZE,
    image_size: ImageSizeOption = None,
    categorical: CategoricalOption = None,
    data_dir: DataDirOption = None,
    is_json: JsonOption = False,
) -> int:
    """Check a data set before training; the exit code is 1 if training would be meaningless.

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
