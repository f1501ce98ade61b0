"""What the stage prints: how to play against the newest level."""

import os
import shlex
import sys
from pathlib import Path

import pytest

from selfplay.cli.arguments import overrides_first
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.folders import PROJECT_FOLDER
from selfplay.settings.playing import PlaySettings
from selfplay.settings.run import compose_settings
from selfplay.stages.compare import how_to_play


@pytest.mark.parametrize(
    ("overrides", "command"),
    [
        ([], "python play/console.py"),
        (["recipe=article", "levels=3"], "python play/console.py"),
        (["recipe=sumto100"], "python play/console.py game=sumto100"),
        (["run_dir=outputs/try"], "python play/console.py run_dir=outputs/try"),
        (
            ["game=sumto100", "run_dir='my runs/seed=1'"],
            "python play/console.py game=sumto100 'run_dir=my runs/seed=1'",
        ),
        (["run_dir=outputs/tictactoe"], "python play/console.py"),
    ],
)
def test_who_has_learned_is_told_how_to_play(
    monkeypatch: pytest.MonkeyPatch, overrides: list[str], command: str
) -> None:
    monkeypatch.chdir(PROJECT_FOLDER)
    monkeypatch.setattr(sys, "prefix", "elsewhere")
    settings = compose_settings(overrides)
    page = command.replace("console.py", "web.py")
    assert how_to_play(settings) == f"Play against it: {command}   or in a browser: {page}"
    # What it says is what the console reads.
    words = shlex.split(command)
    assert Path(words[1]).exists()
    read = compose_settings_of(PlaySettings, "play", overrides_first(words[2:]))
    assert (read.game, Path(read.run_dir).resolve()) == (settings.game, Path(settings.run_dir).resolve())


def test_the_command_to_play_holds_in_another_folder_and_without_an_active_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "prefix", str(PROJECT_FOLDER / ".venv"))
    project = os.path.relpath(PROJECT_FOLDER)
    text = how_to_play(compose_settings())
    python = f"{project}/.venv/bin/python {project}/play"
    assert text == f"Play against it: {python}/console.py   or in a browser: {python}/web.py"
