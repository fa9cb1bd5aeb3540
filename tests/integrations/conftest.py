"""Training stacks, each launched once."""

import pytest
from training_stacks import launched


@pytest.fixture(scope="session")
def launch(tmp_path_factory):
    """A function that launches a stack, and returns what each rank found and their folder."""
    results = {}

    def launch_once(stack):
        if stack not in results:
            out = tmp_path_factory.mktemp(stack)
            results[stack] = launched(stack, out), out
        return results[stack]

    return launch_once
