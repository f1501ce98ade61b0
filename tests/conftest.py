"""What all tests share."""

from pathlib import Path

import pytest
import torch
from hypothesis import settings

from selfplay import learn_levels
from tests.support.runs import tiny_settings

# The same examples on every machine, however slow it is.
settings.register_profile("selfplay", deadline=None, derandomize=True, database=None)
settings.load_profile("selfplay")

torch.set_num_threads(1)


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of three levels. Copy it before you change anything in it."""
    run_dir = tmp_path_factory.mktemp("tiny") / "run"
    learn_levels(tiny_settings(run_dir))
    return run_dir
