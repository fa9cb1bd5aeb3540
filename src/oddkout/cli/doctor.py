"""``oddkout doctor``: check a data set before training."""

import json

from oddkout.cli.source import (
    TEST_SIZE,
    CategoricalOption,
    DataDirOption,
    GroupOption,
    ImageSizeOption,
    JsonOption,
    NumericOption,
    RareBelowOption,
    SourceArgument,
    TargetOption,
    TestOption,
    TestSizeOption,
    TextOption,
)
from oddkout.cli.terminal import printable
from oddkout.data.categories import RARE_BELOW
from oddkout.diagnosis import doctor as examine


def doctor(
    source: SourceArgument,
    target: TargetOption = None,
    test: TestOption = None,
    test_size: TestSizeOption = TEST_SIZE,
    image_size: ImageSizeOption = None,
    categorical: CategoricalOption = None,
    text: TextOption = None,
    numeric: NumericOption = None,
    rare_below: RareBelowOption = RARE_BELOW,
    group: GroupOption = None,
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
        text=text or (),
        numeric=numeric or (),
        rare_below=rare_below,
        group=group,
        data_dir=data_dir,
    )
    print(json.dumps(diagnosis.to_dict(), indent=2) if is_json else printable(diagnosis))
    return 0 if diagnosis.is_trainable else 1
