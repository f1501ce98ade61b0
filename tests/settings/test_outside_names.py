"""Games and networks from outside the package in settings, and the commands that messages tell a user to run."""

import shlex
import sys
from pathlib import Path

import pytest

from selfplay import compose_settings
from selfplay.cli.command import overrides_first
from selfplay.errors import SettingError
from selfplay.runs.command_lines import command_line, learn_command
from selfplay.runs.folders import PROJECT_FOLDER
from selfplay.settings.overrides import with_outside_names
from tests.support.wheels import install_entry_points


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("game=my_module:Game", ["game.name=my_module:Game"]),
        ("game=tictactoe,my.module:Game", ["game.name=tictactoe,my.module:Game"]),
        ("architecture=my_module:Net", ["architecture=custom", "architecture.name=my_module:Net"]),
    ],
)
def test_names_from_outside_are_set_where_they_belong(override: str, expected: list[str]) -> None:
    assert with_outside_names([override]) == expected
    assert with_outside_names(expected) == expected


def test_settings_hold_the_names() -> None:
    settings = compose_settings(["game=tests.support.pile:Pile", "architecture=my_module:Net", "+architecture.width=8"])
    assert settings.game.name == "tests.support.pile:Pile"
    assert settings.architecture == {"name": "my_module:Net", "width": 8}


def test_a_name_that_an_installed_package_offers_needs_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingError, match="game=connect3: choose from"):
        compose_settings(["game=connect3"])
    monkeypatch.syspath_prepend(tmp_path)
    install_entry_points(tmp_path, "[selfplay.games]\nconnect3 = a:B\n[selfplay.architectures]\ntiny = a:C\n")
    settings = compose_settings(["game=connect3", "architecture=tiny"])
    assert (settings.game.name, settings.architecture) == ("connect3", {"name": "tiny"})


@pytest.mark.parametrize(
    ("folder", "environment", "command"),
    [
        (PROJECT_FOLDER, PROJECT_FOLDER / ".venv", ".venv/bin/selfplay compare"),
        (PROJECT_FOLDER / "docs", PROJECT_FOLDER / ".venv", "../.venv/bin/selfplay compare"),
        (PROJECT_FOLDER, Path("/elsewhere"), "selfplay compare"),
    ],
)
def test_the_projects_own_environment_is_named_because_it_may_not_be_active(
    monkeypatch: pytest.MonkeyPatch, folder: Path, environment: Path, command: str
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "prefix", str(environment))
    assert command_line("compare") == command


def test_commands_in_messages_can_be_typed_in_a_shell() -> None:
    words = shlex.split(learn_command("othello_6x6", "bob's runs/1.50"))
    given, _ = overrides_first(words[2:])
    settings = compose_settings(given)
    assert (settings.game.name, settings.run_dir) == ("othello_6x6", "bob's runs/1.50")


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
    assert learn_command("tictactoe", "x") == command
