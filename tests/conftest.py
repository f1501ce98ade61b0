"""Settings and fixtures of all tests."""

import gc
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from selfplay.compute.process import tune_process
from tests.support.written_files import files_of_user

# What takes long to import is imported in the fixtures: the process that only distributes the tests goes without.

# The same examples on every computer, however slow it is.
settings.register_profile("selfplay", deadline=None, derandomize=True, database=None)
settings.load_profile("selfplay")


def pytest_configure() -> None:
    tune_process()
    # Where colorama is installed, numba colours each of the thousands of errors that it catches while it compiles.
    os.environ["NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING"] = "1"


FILES_BEFORE = pytest.StashKey[dict[Path, object]]()
"""The files that no test may change, as they were before the first test."""


def pytest_sessionstart(session: pytest.Session) -> None:
    # Of several processes, the one that distributes the tests compares, when all others have ended.
    if not hasattr(session.config, "workerinput"):
        session.config.stash[FILES_BEFORE] = files_of_user()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    # What has been imported is never freed, so the full collections that pytest makes at the end can skip it.
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    before = session.config.stash.get(FILES_BEFORE, None)
    changed = () if before is None else sorted(path for path, _ in before.items() ^ files_of_user().items())
    if changed:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        print(f"\nFAILED: files outside tmp_path were changed while the tests ran: {', '.join(map(str, changed[:5]))}")


@pytest.fixture(scope="session", autouse=True)
def _forks_only_on_linux() -> Iterator[None]:
    """Skip tests that fork this process on other systems: there a fork of a process that uses torch may crash."""

    def skip(*_: object, **__: object) -> None:
        pytest.skip("forks the process of the tests, which only Linux allows after torch has been used")

    with pytest.MonkeyPatch.context() as patch:
        if sys.platform != "linux":
            for name in ("fork", "forkpty", "memfd_create"):
                patch.setattr(os, name, skip, raising=False)
        yield


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    import torch

    torch.set_num_threads(1)


@pytest.fixture(scope="session", autouse=True)
def _general_tier() -> Iterator[None]:
    """Nothing is compiled for one game because all tests together have searched much in it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("selfplay.games.tiers.STEPS_BEFORE_SPECIAL", sys.maxsize)
        yield


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of three levels, not to be changed: see `run_copy`."""
    from selfplay import learn_levels
    from tests.support.runs import tiny_settings

    run_dir = tmp_path_factory.mktemp("tiny") / "run"
    learn_levels(tiny_settings(run_dir))
    return run_dir


@pytest.fixture
def run_copy(tiny_run: Path, tmp_path: Path) -> Path:
    """A copy of `tiny_run`."""
    return Path(shutil.copytree(tiny_run, tmp_path / "run"))


@pytest.fixture
def forget_modules(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """No module is named from which files may name objects, as in a new process; called, it forgets them again."""

    def forget() -> None:
        monkeypatch.setattr("selfplay.registry._named_modules", set())

    forget()
    return forget


@pytest.fixture
def default_sigint() -> Iterator[None]:
    """SIGINT raises KeyboardInterrupt even if the tests run in the background, where shells ignore SIGINT."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, handler)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the project."""
    from tests.support.wheels import built_wheel

    return built_wheel(tmp_path_factory.mktemp("wheel").resolve())


@pytest.fixture(scope="session")
def installed_command(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command `selfplay` of an environment in which the wheel is installed, apart from the checkout."""
    from tests.support.wheels import installed_wheel

    return installed_wheel(wheel, tmp_path_factory.mktemp("installed").resolve())
