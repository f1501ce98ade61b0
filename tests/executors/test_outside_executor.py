"""An executor from outside the package: named by its module or registered, it runs the stages of a run."""

from pathlib import Path
from typing import ClassVar

import pytest

from selfplay import learn_levels
from selfplay.errors import SettingError
from selfplay.executors import ExecutorOptions, open_executor
from tests.support.runs import files_of, tiny_settings

NAME = f"{__name__}:ReverseExecutor"


class ReverseExecutor:
    """Runs the tasks from the last to the first, and records how many tasks each call got."""

    calls: ClassVar[list[int]] = []
    closed = 0

    def __init__(self, options, threads=1):
        self.options = options

    def map(self, function, tasks, files=None):
        tasks = list(tasks)
        self.calls.append(len(tasks))
        return reversed([function(task) for task in reversed(tasks)])

    def close(self):
        type(self).closed += 1


@pytest.fixture(autouse=True)
def _no_calls(monkeypatch):
    monkeypatch.setattr(ReverseExecutor, "calls", [])
    monkeypatch.setattr(ReverseExecutor, "closed", 0)


def test_a_run_with_an_executor_of_another_package_has_the_same_bytes(tiny_run: Path, tmp_path: Path) -> None:
    assert learn_levels(tiny_settings(tmp_path, "dataset.shard_matches=100", f"executor.name='{NAME}'"))
    assert ReverseExecutor.calls == [3, 3, 3]
    assert ReverseExecutor.closed == 1
    assert files_of(tmp_path) == files_of(tiny_run)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("threads", r"^unknown executor 'threads'; choose from process, ray, serial$"),
        (f"{__name__}:Missing", r"executor '.*:Missing' cannot be imported"),
        ("os:system", r"^executor 'os:system' has no attribute map, which every executor has$"),
    ],
)
def test_a_name_that_is_not_an_executor_is_rejected(name: str, message: str) -> None:
    with pytest.raises(SettingError, match=message), open_executor(ExecutorOptions(name)):
        pass
