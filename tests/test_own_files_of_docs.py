"""Pages on a game, a player and a learner of one's own: their code and commands, in a folder outside the repository."""

import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.support.doc_pages import block_with, commands, printed_after, write_module
from tests.support.runs import COMMAND, PROJECT
from tests.support.wheels import plain_environment

pytestmark = pytest.mark.slow

README, GAME, CHECKS = "../README.md", "adding_a_game.md", "game_reference.md"
PLAYER, LEARNER, NETWORK = "adding_a_player.md", "adding_a_learner.md", "architectures.md"


def stand_in(found: re.Match[str]) -> str:
    return "tictactoe" if found[0].startswith("othello") else ""


SERVER = f"import sys; sys.path.append({str(PROJECT)!r}); from tests.support.runs import serve_forks; serve_forks()"
"""With the installed package, which is found before that of the checkout."""


class Folder:
    """A folder outside the repository, in which the command `selfplay` is installed."""

    def __init__(self, path: Path, installed_command: Path) -> None:
        self.path = path
        self.variables = plain_environment()
        self.variables["PATH"] = f"{installed_command.parent}:{self.variables['PATH']}"
        self.server = subprocess.Popen(
            [installed_command.with_name("python"), "-c", SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=self.path,
            env=self.variables,
        )

    def tried(self, command: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """The result of a command, in a fork of a process that has imported the package already."""
        name, *arguments = shlex.split(command, comments=True)
        words = [str(COMMAND), *arguments] if name == "selfplay" else arguments
        print(json.dumps({"words": words, "stdin": stdin}), file=self.server.stdin, flush=True)
        return subprocess.CompletedProcess(words, *json.loads(self.server.stdout.readline()))

    def run(self, command: str, stdin: str = "") -> str:
        """The output of a command, which must succeed."""
        result = self.tried(command, stdin)
        assert (result.returncode, result.stderr) == (0, ""), command
        return re.sub(r" +$", "", result.stdout, flags=re.MULTILINE).strip()

    @contextmanager
    def served(self, command: str) -> Iterator[str]:
        """The address of the page that a command serves."""
        words = [*shlex.split(command, comments=True), "--port", "0"]
        server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=self.path, env=self.variables)
        try:
            yield next(line for line in server.stdout if "Play at" in line).split()[2]
        finally:
            server.terminate()
            server.wait(timeout=60)

    def follow(self, page: str, game: str, opponent: str) -> dict[str, str]:
        """Run the commands of a page in order, but those that learn for minutes; returns what each printed.

        Tic-tac-toe stands in for Othello, for which an environment compiles code for half a minute. Its levels are
        proved, so they do not play against reference players.
        """
        printed: dict[str, str] = {}
        for command in commands(page):
            if "levels=4" in command:
                continue
            command = re.sub(r"othello(_6x6)?| 'comparison\.references=[^']*'", stand_in, command)
            if command.startswith("selfplay web"):
                with self.served(command) as address:
                    assert f'"{opponent}"' in opponents(address, game)
            else:
                printed[command] = self.run(command, "list_commands\nquit\n" if " gtp" in command else "y\nquit\n")
        return printed


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, installed_command: Path) -> Iterator[Folder]:
    """The same for all pages, because the start of its process takes seconds."""
    folder = Folder(tmp_path_factory.mktemp("own"), installed_command)
    yield folder
    folder.server.stdin.close()
    assert folder.server.wait(timeout=60) == 0


def opponents(address: str, game: str) -> str:
    with urlopen(f"{address}/api/games/{game}/opponents", timeout=120) as answer:
        return answer.read().decode()


def test_the_game_is_checked_learned_proved_and_played(folder: Folder) -> None:
    write_module(folder.path, GAME, "class Connect3(Game)", "connect3.py")
    printed = folder.follow(GAME, "connect3:Connect3", "level-2")
    learned = printed["selfplay learn game=connect3:Connect3 levels=2 matches=20000"]
    assert printed_after(GAME, "before a table of all levels:") in learned
    folder.follow(CHECKS, "connect3:Connect3", "level-2")
    write_module(folder.path, CHECKS, "a_full_board_is_a_draw", "test_connect3.py")
    words = ["python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_connect3.py"]
    tested = subprocess.run(words, check=True, capture_output=True, text=True, cwd=folder.path, env=folder.variables)
    assert "3 passed" in tested.stdout
    write_module(folder.path, CHECKS, "from selfplay import check_game, make_game", "check.py")
    assert folder.run("python check.py") == ""


def test_the_game_of_the_readme_is_learned_and_proved(folder: Folder) -> None:
    write_module(folder.path, README, "class Take(Game)", "take.py")
    command, sentence = (
        "selfplay learn game=take:Take levels=3 matches=2000",
        "Level 3 cannot lose moving first: all 243",
    )
    page = (PROJECT / "README.md").read_text()
    assert command in page
    assert sentence in page
    assert sentence in folder.run(command)


def test_the_player_plays_is_graded_and_offered_on_the_page(folder: Folder) -> None:
    text = block_with(PLAYER, "class Careful(Player)") + block_with(PLAYER, '@player_kind("careful")')
    (folder.path / "careful.py").write_text(text)
    printed = folder.follow(PLAYER, "tictactoe", "careful:Careful")
    assert "careful:Careful" in printed["selfplay tournament players=[random,perfect,careful:Careful] matches=100"]
    write_module(folder.path, PLAYER, "import selfplay\nfrom careful", "grade.py")
    assert folder.run("python grade.py") == printed_after(PLAYER, "prints")


def test_the_learner_learns_levels_that_cannot_lose_and_the_run_resumes(folder: Folder) -> None:
    write_module(folder.path, LEARNER, "class PolicyGradient(Learner)", "policy_gradient.py")
    write_module(folder.path, LEARNER, "class SignDescent", "own_parts.py")
    printed = folder.follow(LEARNER, "tictactoe", "level-7")
    learned = printed[
        "selfplay learn learner=policy_gradient:PolicyGradient levels=6 matches=8000 run_dir=outputs/gradient"
    ]
    # How many lines there are, and whether one of them is lost, depends on the processor.
    lost = re.search(r"^ *6 .* (\d+)/\d+ +(\d+)/(\d+) ", learned, re.MULTILINE)
    assert lost[1] == "0"
    assert int(lost[2]) < 0.02 * int(lost[3])
    manifests = [folder.path / f"outputs/gradient/level_0{level}/manifest.json" for level in (6, 7)]
    trained = [json.loads(path.read_text())["training"]["settings"] for path in manifests]
    assert [settings["learner.learning_rate"] for settings in trained] == [0.003, 0.001]
    assert "set modules=[policy_gradient]" in folder.tried("selfplay learn levels=8 run_dir=outputs/gradient").stderr
    assert "already" in folder.run("selfplay learn modules=[policy_gradient] run_dir=outputs/gradient")
    write_module(folder.path, LEARNER, "learner.generate(", "rows.py")
    assert folder.run("python rows.py") == printed_after(LEARNER, "random player:")


def test_the_network_learns(folder: Folder) -> None:
    write_module(folder.path, NETWORK, "class Small(nn.Module)", "small.py")
    for command in commands(NETWORK):
        if "small:Small" in command:
            assert "level 2" in folder.run(command)


def test_the_class_on_the_page_is_short() -> None:
    assert len(block_with(LEARNER, "class PolicyGradient(Learner)").splitlines()) <= 80
