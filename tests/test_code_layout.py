"""The layout of the code: scripts are short, shell scripts are valid, and games are named only in selfplay/games."""

import ast
import os
import subprocess

import pytest

from selfplay.games import GAMES
from tests.support.runs import PROJECT

SHELL_SCRIPTS = [*sorted(PROJECT.glob("*.sh")), *sorted(PROJECT.glob("shell/*.sh")), PROJECT / ".ci" / "run"]
SCRIPTS = [
    path
    for folder in ("preprocessing", "train", "play", "benchmarks")
    for path in (PROJECT / folder).glob("*.py")
    if not path.is_symlink()
]
STAGE_SCRIPTS = [path for path in SCRIPTS if path.parent.name != "benchmarks"]
GAME_NAMES = frozenset(GAMES)
MODULES = [path for folder in ("selfplay", "architectures") for path in (PROJECT / folder).rglob("*.py")]


@pytest.mark.parametrize("script", SHELL_SCRIPTS, ids=lambda path: path.name)
def test_shell_scripts_have_valid_syntax_and_are_executable(script):
    assert subprocess.run(["bash", "-n", script], check=False, capture_output=True).stderr == b""
    assert os.access(script, os.X_OK) or script.parent.name == "shell"


def dotted(path):
    return ".".join(path.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("path", STAGE_SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_short_and_its_docstring_shows_how_to_run_it(path):
    assert len(path.read_text().splitlines()) <= 40
    assert f"python {path.relative_to(PROJECT)}" in ast.get_docstring(ast.parse(path.read_text()))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_first_makes_sure_of_its_python_environment(path):
    first = next(node for node in ast.parse(path.read_text()).body[1:])
    assert ast.unparse(first) == "import project_environment"


@pytest.mark.parametrize(
    "path", [path for path in [*MODULES, *STAGE_SCRIPTS] if path.parent != PROJECT / "selfplay" / "games"], ids=dotted
)
def test_games_are_not_compared_by_name_outside_games(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.Compare, ast.MatchValue)):
            names = {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)} & GAME_NAMES
            assert not names, f"line {node.lineno}: {ast.unparse(node)}"
        if isinstance(node, ast.ImportFrom):
            # A room may have a folder of its own for a game, such as its exact solver.
            others = {f"selfplay.games.{name}" for name in GAME_NAMES if name != path.parent.name}
            assert node.module not in others, f"line {node.lineno}"
