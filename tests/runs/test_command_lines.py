"""The commands that messages print: complete, and accepted by a shell as they are printed."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from shutil import which
from types import SimpleNamespace

import pytest

from selfplay.cli.command import overrides_first, settings_of
from selfplay.cli.entry import program_named
from selfplay.cli.programs import MODULES
from selfplay.cli.programs.tools import export_page_program
from selfplay.runs.command_lines import command_for, command_line
from selfplay.runs.folders import PROJECT_FOLDER
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.playing import ExportPageSettings
from tests.support.runs import COMMAND, TINY_TRAINING, run_script

OWN_OUTCOME = """
from selfplay.games.outcomes import EndValues


def half(game):
    return EndValues(win=0.5, point=0.0)
"""


@pytest.mark.parametrize(
    ("name", "game", "run_dir"),
    [
        *((name, "tests.support.pile:Pile", "bob's runs/1.50") for name in MODULES),
        ("play", "othello_6x6", "$x"),
    ],
)
def test_a_command_selects_the_game_and_the_folder_of_its_run(
    name: str, game: str, run_dir: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("selfplay.runs.command_lines.IS_CHECKOUT", False)
    program = program_named(name)
    words = shlex.split(command_for(name, game, run_dir, modules=["tests.support.runs"]))
    settings, _ = settings_of(program, overrides_first(words[2:], program.kind)[0])
    found = settings.game.name, settings.run_dir, settings.modules
    assert found == (game, run_dir, ["tests.support.runs"]), words


@pytest.mark.parametrize(
    ("is_checkout", "folder", "command"),
    [
        (True, PROJECT_FOLDER, "./learn_tictactoe.sh run_dir=x"),
        (True, PROJECT_FOLDER / "docs", "../learn_tictactoe.sh run_dir=x"),
        (False, PROJECT_FOLDER, f"{command_line('learn')} run_dir=x"),
    ],
)
def test_only_a_checkout_has_scripts_and_they_are_named_from_the_current_folder(
    monkeypatch: pytest.MonkeyPatch, is_checkout: bool, folder: Path, command: str
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr("selfplay.runs.command_lines.IS_CHECKOUT", is_checkout)
    assert command_for("learn", "tictactoe", "x") == command


def test_the_folder_of_an_exported_page_is_quoted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = SimpleNamespace(folder=Path("site quoridor"), agent="level 1", size=2, weights_size=1)
    monkeypatch.setattr("selfplay.web.export_page.export_page", lambda settings: page)
    export_page_program.body(compose_settings_of(ExportPageSettings, "export_page"))
    words = shlex.split(capsys.readouterr().out.rpartition(": ")[2])
    assert words[-2:] == ["--directory", "site quoridor"]
    assert which(words[0]) is not None


@pytest.mark.slow
def test_printed_commands_run_in_the_folder_where_they_were_printed(tmp_path: Path) -> None:
    folder = tmp_path / "my games"
    folder.mkdir()
    (folder / "own.py").write_text(OWN_OUTCOME)

    def in_shell(command: str) -> "subprocess.CompletedProcess[str]":
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        variables = os.environ | {"PATH": path}
        return subprocess.run(
            ["bash", "-c", command],
            check=False,
            capture_output=True,
            text=True,
            cwd=folder,
            env=variables,
            stdin=subprocess.DEVNULL,
        )

    words = ["levels=1", "matches=200", "comparison.matches=4", *TINY_TRAINING, "run_dir=first run"]
    learned = run_script(COMMAND, "learn", "learner.outcome=own:half", *words, cwd=folder)
    play = re.search(r"Play against it: (.*)   or in a browser: (.*)", learned.stdout)
    assert play is not None, learned.stderr
    console = in_shell(f"{play[1]} first=random second=level:1")
    assert (console.returncode, console.stderr) == (0, "")
    assert shlex.split(play[2])[2:] == shlex.split(play[1])[2:]
    again = run_script(COMMAND, "learn", "modules=[own]", *words, cwd=folder)
    compare = re.search(r"; (.*) compares them again", again.stdout)
    assert compare is not None, again.stdout + again.stderr
    compared = in_shell(compare[1])
    assert (compared.returncode, compared.stderr) == (0, "")
