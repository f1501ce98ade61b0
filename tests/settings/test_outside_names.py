"""Games and networks from outside the package in settings, and the commands that messages tell a user to run."""

import sys
from pathlib import Path

import pytest

from selfplay import compose_settings, make_game
from selfplay.errors import SettingError
from selfplay.registry import outside_parts
from selfplay.runs.command_lines import command_line
from selfplay.runs.folders import PROJECT_FOLDER
from selfplay.settings.common import modules_in
from selfplay.settings.overrides import with_outside_names
from tests.support.wheels import install_entry_points


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("game=my_module:Game", ["game.name=my_module:Game"]),
        ("game=tictactoe,my.module:Game", ["game.name=tictactoe,my.module:Game"]),
        ("game=spiel_äö:Spiel,hex", ["game.name='spiel_äö:Spiel',hex"]),
        ('game="spiel_äö:Spiel"', ['game.name="spiel_äö:Spiel"']),
        ("game=go_7x7_komi=5.5", ["game.name='go_7x7_komi=5.5'"]),
        ("architecture=netz_ä:Netz", ["architecture=custom", "architecture.name='netz_ä:Netz'"]),
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


def test_modules_with_letters_of_any_language_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "ähnlich.py").write_text("from tests.support.pile import Pile as Äpfel\n")
    settings = compose_settings(["game=ähnlich:Äpfel"])
    assert make_game(settings.game.name).name == "ähnlich:Äpfel"
    assert list(modules_in("ähnlich:Äpfel")) == ["ähnlich"]
    assert list(outside_parts(["game=ähnlich:Äpfel"])) == ["ähnlich:Äpfel"]


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
