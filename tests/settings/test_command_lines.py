"""The commands that messages tell a user to run."""

import sys
from pathlib import Path

import pytest

from selfplay.settings.command_lines import command_line
from selfplay.settings.folders import PROJECT_FOLDER


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
