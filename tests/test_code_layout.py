"""The layout of the code: scripts say how to run them, shell scripts are valid, game names stay in selfplay/games."""

import ast
import os
import subprocess

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


def test_shell_scripts_have_valid_syntax_and_are_executable():
    for script in SHELL_SCRIPTS:
        assert subprocess.run(["bash", "-n", script], check=False, capture_output=True).stderr == b""
        assert os.access(script, os.X_OK) or script.parent.name == "shell", script


def test_the_docstring_of_a_script_shows_how_to_run_it():
    for path in STAGE_SCRIPTS:
        assert f"python {path.relative_to(PROJECT)}" in ast.get_docstring(ast.parse(path.read_text()))


def test_a_script_first_makes_sure_of_its_python_environment():
    for path in SCRIPTS:
        assert ast.unparse(ast.parse(path.read_text()).body[1]) == "import project_environment", path


def test_games_are_not_compared_by_name_outside_games():
    for path in [*MODULES, *STAGE_SCRIPTS]:
        text = path.read_text()
        if path.parent == PROJECT / "selfplay" / "games" or not any(name in text for name in GAME_NAMES):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.Compare, ast.MatchValue)):
                names = {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)} & GAME_NAMES
                assert not names, f"{path}, line {node.lineno}: {ast.unparse(node)}"
            if isinstance(node, ast.ImportFrom):
                # A package may have a folder of its own for a game, such as its exact solver.
                others = {f"selfplay.games.{name}" for name in GAME_NAMES if name != path.parent.name}
                assert node.module not in others, f"{path}, line {node.lineno}"


def test_few_imports_stand_inside_functions_or_serve_only_type_checkers():
    inside, for_types = [], []
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                inside += [path for part in ast.walk(node) if isinstance(part, ast.Import | ast.ImportFrom)]
            elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                for_types.append(path)
    assert len(inside) <= 30, inside
    assert len(for_types) <= 5, for_types
