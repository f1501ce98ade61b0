"""The help text of the scripts."""

import pytest

from tests.support.rejections import assert_refused
from tests.support.runs import (
    CONSOLE,
    PROJECT,
    TRAIN,
    run_forked,
)

SCRIPTS = [
    path
    for folder in ("preprocessing", "train", "play")
    for path in sorted((PROJECT / folder).glob("*.py"))
    if not path.is_symlink()
]
SCRIPTS = [path for path in SCRIPTS if path.name != "solve.py"]


def test_help_shows_the_settings_and_the_flags():
    result = run_forked(TRAIN, "--help")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("Stage 2: train a level")
    assert "flags: --game --recipe --run_dir --seed --level" in result.stdout
    assert (
        "recipe: alphazero, alphazero_connect_four, alphazero_connect_four_large, alphazero_othello,\n" in result.stdout
    )
    described = "  training.optimizer.level_decay=0.8\n      Factor applied to the learning rate at each level.\n"
    assert described in result.stdout
    assert "Names of players" in result.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_help_describes_every_setting_with_its_value(script):
    result = run_forked(script, "--help", "--seed", 5)
    assert (result.returncode, result.stderr) == (0, "")
    settings = result.stdout.partition("\nSettings (name=value)\n")[2].partition("\n\n")[0]
    assert "  seed=5\n" in settings
    lines = settings.splitlines()
    names = [line for line in lines if line.startswith("  ") and line[2] != " "]
    assert len(names) > 5
    for line in names:
        assert lines[lines.index(line) + 1].startswith("      "), f"{line} has no description"


def test_help_lists_the_names_of_players_where_a_setting_takes_them():
    assert "\nNames of players\n" in run_forked(CONSOLE, "--help").stdout


def test_help_refuses_a_wrong_setting():
    assert_refused(run_forked(TRAIN, "--help", "gamma=2"), 2, "gamma=2.0")
