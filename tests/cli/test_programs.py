"""The command `selfplay`: its programs, their scripts, and completion."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from selfplay.cli import programs
from selfplay.cli.main import NAMES
from selfplay.settings.command_lines import SCRIPTS
from tests.support.rejections import assert_refused
from tests.support.runs import PROJECT, files_of, run_forked

COMMAND = PROJECT / "selfplay" / "__main__.py"
FOLDER = Path(programs.__file__).parent


def test_every_module_is_a_program_and_every_script_calls_one() -> None:
    modules = {path.stem for path in FOLDER.glob("*.py")} - {"__init__"}
    assert {name.replace("-", "_") for name in NAMES} == modules
    assert len(NAMES) == len(modules)
    folders = [PROJECT / folder for folder in ("preprocessing", "train", "play")]
    scripts = [path for folder in folders for path in folder.glob("*.py") if not path.is_symlink()]
    assert sorted(SCRIPTS.values()) == sorted(str(path.relative_to(PROJECT)) for path in scripts)
    for name, script in SCRIPTS.items():
        imported = f"from selfplay.cli.programs.{name.replace('-', '_')} import main"
        assert imported in (PROJECT / script).read_text()


@pytest.mark.parametrize("name", NAMES)
def test_the_docstring_of_a_program_shows_how_to_start_it(name: str) -> None:
    path = FOLDER / f"{name.replace('-', '_')}.py"
    docstring = ast.get_docstring(ast.parse(path.read_text()))
    assert f"\nselfplay {name}" in docstring
    assert len(docstring.splitlines()[0]) <= 90


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_the_overview_has_one_line_for_each_program(arguments: list[str]) -> None:
    result = run_forked(COMMAND, *arguments)
    assert (result.returncode, result.stderr) == (0, "")
    listed = [line.split()[0] for line in result.stdout.splitlines() if line.startswith("  ")]
    assert listed == list(NAMES)


def test_an_unknown_program_is_refused_in_one_line_with_a_guess() -> None:
    assert_refused(run_forked(COMMAND, "lern"), 2, "unknown program 'lern'; did you mean learn? selfplay --help lists")
    assert_refused(run_forked(COMMAND, "levels=3"), 2, "unknown program 'levels=3'; selfplay --help lists all")


@pytest.mark.parametrize("name", ["learn", "play-matches", "train", "solve"])
def test_a_program_has_the_help_of_its_script_with_its_own_name_in_the_examples(name: str) -> None:
    by_command, script = run_forked(COMMAND, name, "--help"), PROJECT / SCRIPTS[name]
    by_script = run_forked(script, "--help")
    assert (by_command.returncode, by_command.stderr) == (0, "")
    assert f"selfplay {name}" in by_command.stdout
    assert f"python {script}" in by_script.stdout
    assert "selfplay" not in by_script.stdout.partition("Settings are given")[0]
    settings = "\nSettings (name=value)\n"
    assert by_command.stdout.partition(settings)[2] == by_script.stdout.partition(settings)[2]


def test_a_program_writes_the_files_of_its_script_and_takes_underscores_too(tmp_path: Path) -> None:
    arguments = ["--level", 0, "matches=50"]
    assert run_forked(COMMAND, "generate", *arguments, f"run_dir={tmp_path / 'command'}").returncode == 0
    assert run_forked(PROJECT / SCRIPTS["generate"], *arguments, f"run_dir={tmp_path / 'script'}").returncode == 0
    assert files_of(tmp_path / "command") == files_of(tmp_path / "script")
    matches = ["first=random", "second=random", "matches=3", f"run_dir={tmp_path}"]
    assert run_forked(COMMAND, "play_matches", *matches).returncode == 0


def test_messages_name_the_command_if_it_was_started(tmp_path: Path) -> None:
    refused = run_forked(COMMAND, "learn", "--opponent", "random", f"run_dir={tmp_path}")
    assert_refused(refused, 2, "only for a single stage, selfplay generate or selfplay train")


def completions(line: str) -> list[str]:
    """What the shell offers after `line`."""
    variables = os.environ | {"COMP_LINE": line, "COMP_POINT": str(len(line))}
    command = [sys.executable, "-m", "selfplay", "-sc", "query=bash"]
    result = subprocess.run(command, check=True, capture_output=True, text=True, env=variables, cwd=PROJECT)
    return result.stdout.split()


def test_programs_settings_and_options_are_completed() -> None:
    assert "tournament" in completions("selfplay tour")
    assert "recipe=othello" in completions("selfplay learn recipe=o")
    assert "architecture=conv" in completions("selfplay train levels=2 architecture=")
    assert "experience.exploration=" not in completions("selfplay web po")
    assert "port=" in completions("selfplay web po")


def test_the_shell_is_set_up_to_ask_the_command() -> None:
    command = [sys.executable, "-m", "selfplay", "-sc", "install=bash"]
    result = subprocess.run(command, check=True, capture_output=True, text=True, cwd=PROJECT)
    assert result.stdout.splitlines()[-1].startswith("COMP_WORDBREAKS=$COMP_WORDBREAKS complete ")
