"""The command `selfplay`: its programs, their scripts, and completion."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from selfplay.cli import programs
from selfplay.cli.command import Program
from selfplay.cli.main import NAMES
from tests.support.rejections import assert_refused
from tests.support.runs import COMMAND, GENERATE, PROJECT, files_of, run_forked


def test_every_program_is_listed_and_every_script_calls_one() -> None:
    for module, names in programs.NAMES.items():
        defined = vars(import_module(f"selfplay.cli.programs.{module}"))
        functions = {f"{name.replace('-', '_')}_program" for name in names}
        assert {name for name, value in defined.items() if isinstance(value, Program)} <= functions <= set(defined)
    folders = [PROJECT / folder for folder in ("preprocessing", "train", "play")]
    scripts = [path for folder in folders for path in folder.glob("*.py") if not path.is_symlink()]
    assert len(scripts) == 7
    for script in scripts:
        program = re.search(r'run\("(.+)"\)', script.read_text())[1]
        assert f"(the same as selfplay {program})" in script.read_text()


def test_the_overview_has_one_line_for_each_program() -> None:
    results = [run_forked(COMMAND, *arguments) for arguments in ([], ["--help"], ["-h"])]
    assert results[0].stdout == results[1].stdout == results[2].stdout
    assert (results[0].returncode, results[0].stderr) == (0, "")
    listed = [line.split()[0] for line in results[0].stdout.splitlines() if line.startswith("  ")]
    assert listed == list(NAMES)


def test_an_unknown_program_is_refused_in_one_line_with_a_guess() -> None:
    assert_refused(run_forked(COMMAND, "lern"), 2, "unknown program 'lern'; did you mean learn? selfplay --help lists")
    assert_refused(run_forked(COMMAND, "levels=3"), 2, "unknown program 'levels=3'; selfplay --help lists all")


def test_a_program_writes_the_files_of_its_script_and_takes_underscores_too(tmp_path: Path) -> None:
    arguments = ["--level", 0, "matches=50"]
    assert run_forked(COMMAND, "generate", *arguments, f"run_dir={tmp_path / 'command'}").returncode == 0
    assert run_forked(GENERATE, *arguments, f"run_dir={tmp_path / 'script'}").returncode == 0
    assert files_of(tmp_path / "command") == files_of(tmp_path / "script")
    assert_refused(run_forked(COMMAND, "play_matches", "foo=1"), 2, "unknown setting 'foo'")


def test_programs_settings_and_options_are_completed(monkeypatch: pytest.MonkeyPatch) -> None:
    for line, offered, not_offered in (
        ("selfplay tour", "tournament", "recipe=othello"),
        ("selfplay learn recipe=o", "recipe=othello", "recipe=article"),
        ("selfplay train levels=2 architecture=", "architecture=conv", "recipe=othello"),
        ("selfplay play first=random opponent=le", "opponent=level", "recipe=othello"),
        ("selfplay learn comparison.references=[random,", "comparison.references=[random,perfect", "recipe=othello"),
        ("selfplay solve raw", "raw_discs=", "error:"),
    ):
        monkeypatch.setenv("COMP_LINE", line)
        monkeypatch.setenv("COMP_POINT", str(len(line)))
        words = run_forked(COMMAND, "-sc", "query=bash").stdout.split()
        assert (offered in words, not_offered in words) == (True, False), line


def test_a_completion_without_a_line_lists_the_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COMP_LINE", raising=False)
    assert "tournament" in run_forked(COMMAND, "learn", "-sc", "query=bash").stdout.split()


def test_the_shell_is_set_up_to_ask_the_command() -> None:
    result = run_forked(COMMAND, "-sc", "install=bash")
    assert result.stdout.splitlines()[-1].startswith("COMP_WORDBREAKS=$COMP_WORDBREAKS complete ")
