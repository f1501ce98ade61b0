"""The wheel, installed in an empty environment: `selfplay` works in an empty folder, without the checkout."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from urllib.request import urlopen

import pytest

from selfplay import __version__
from tests.support.rejections import assert_refused
from tests.support.runs import PROJECT
from tests.support.wheels import plain_environment

pytestmark = pytest.mark.slow

SMALL = ("levels=2", "matches=50", "learner.epochs=2", "comparison.matches=20")

Selfplay = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("empty").resolve()


@pytest.fixture(scope="module")
def selfplay(installed_command: Path, folder: Path) -> Selfplay:
    """Runs the command in the empty folder."""

    def run(*arguments: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [installed_command, *arguments],
            check=False,
            capture_output=True,
            text=True,
            cwd=folder,
            input=stdin,
            env=plain_environment(),
        )

    return run


@pytest.fixture(scope="module")
def learned(selfplay: Selfplay) -> "subprocess.CompletedProcess[str]":
    return selfplay("learn", "game=tictactoe", *SMALL)


def test_a_run_is_written_below_the_current_folder(
    learned: "subprocess.CompletedProcess[str]", folder: Path, installed_command: Path
) -> None:
    assert (learned.returncode, learned.stderr) == (0, "")
    assert learned.stdout.endswith("\nPlay against it: selfplay play   or in a browser: selfplay web\n")
    assert (folder / "outputs" / "tictactoe" / "comparison" / "levels.csv").exists()
    packages = installed_command.parents[1].glob("lib/python*/site-packages/*")
    assert {path.name for path in packages if "selfplay" in path.name} == {
        "selfplay",
        f"selfplay_boards-{__version__}.dist-info",
    }


@pytest.mark.usefixtures("learned")
def test_the_other_programs_find_the_run(selfplay: Selfplay) -> None:
    played = selfplay("play", "opponent=level:2", stdin="y\n1,1\nquit\n")
    assert (played.returncode, played.stderr) == (0, "")
    assert "What level 2 expects" in played.stdout
    assert "wins in" in selfplay("solve", "game=connect_four", "moves=445345").stdout
    # tests/test_own_files_of_docs.py uses the other programs of this environment.


@pytest.mark.usefixtures("learned")
def test_the_page_is_served(installed_command: Path, folder: Path) -> None:
    server = subprocess.Popen(
        [installed_command, "web", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=plain_environment(),
    )
    try:
        address = server.stdout.readline().split()[2]
        with urlopen(f"{address}/api/games/tictactoe/opponents", timeout=60) as answer:
            assert b'"level-2"' in answer.read()
        with urlopen(f"{address}/api/games/connect_four/story", timeout=60) as answer:
            story = json.load(answer)
        assert (story["comes_with_program"], story["comparison"][-1]["level"]) == (True, 15)
        assert len(story["losses"]) == 15
        with urlopen(address, timeout=60) as answer:
            assert b"<html" in answer.read()
    finally:
        server.terminate()
        server.wait(timeout=60)
    assert str(PROJECT) not in address


def test_a_missing_extra_is_named_with_the_command_that_installs_it(installed_command: Path, folder: Path) -> None:
    python = installed_command.with_name("python")
    without = (
        "import sys, importlib.util as util; find = util.find_spec; "
        "util.find_spec = lambda name, *rest: None if name == 'fastapi' else find(name, *rest); "
        f"sys.argv = [{str(installed_command)!r}, 'web']; from selfplay.cli.main import main; main()"
    )
    result = subprocess.run(
        [python, "-c", without], check=False, capture_output=True, text=True, cwd=folder, env=plain_environment()
    )
    assert_refused(result, 2, "the page needs the package fastapi", "pip install 'selfplay-boards[page]'")
