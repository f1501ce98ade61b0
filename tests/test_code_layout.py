"""The layout of the code: scripts say how to run them, shell scripts are valid, game names stay in selfplay/games."""

import ast
import os
import re
import subprocess

import yaml

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
MAY_IMPORT_INSIDE = re.compile(r"^ +(import \w|from [\w.]+ import )|TYPE_CHECKING", re.MULTILINE)
"""In a source in which a function has an import, or types are checked only."""
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
        if not MAY_IMPORT_INSIDE.search(text := path.read_text()):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                inside += [path for part in ast.walk(node) if isinstance(part, ast.Import | ast.ImportFrom)]
            elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                for_types.append(path)
    assert len(inside) <= 30, inside
    assert len(for_types) <= 5, for_types


def test_the_workflow_uses_fixed_versions_of_actions_and_keeps_no_credentials():
    for path in (PROJECT / ".github" / "workflows").glob("*.yml"):
        steps = [step for job in yaml.safe_load(path.read_text())["jobs"].values() for step in job["steps"]]
        used = [step for step in steps if "uses" in step]
        assert used
        for step in used:
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", step["uses"]), step
            if step["uses"].startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False


def test_no_public_class_or_function_has_the_name_of_another():
    definitions = [node for path in MODULES for node in ast.parse(path.read_text()).body]
    for kind in (ast.ClassDef, ast.FunctionDef | ast.AsyncFunctionDef):
        names = [node.name for node in definitions if isinstance(node, kind)]
        assert sorted({name for name in names if names.count(name) > 1 and name[0] != "_"}) == []
