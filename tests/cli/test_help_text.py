"""The help text of the scripts."""

import re

import pytest

from selfplay.cli import programs
from selfplay.cli.command import Program
from selfplay.cli.entry import program_named
from selfplay.cli.help_text import help_text, short_help_text
from selfplay.settings.common import CommonSettings
from tests.settings.test_defaults import PROGRAMS
from tests.support.rejections import assert_refused
from tests.support.runs import TRAIN, run_forked


def test_help_shows_the_settings_and_the_groups():
    result = run_forked(TRAIN, "--help-all")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("Stage 2: train a level")
    assert "recipe: alphazero, alphazero_connect_four, alphazero_connect_four_large," in result.stdout
    described = "  learner.level_decay=0.8\n      Factor applied to the learning rate at each level.\n"
    assert described in result.stdout
    assert "\nNames of players\n" in result.stdout


@pytest.mark.parametrize("name", programs.MODULES)
def test_help_fits_one_screen_and_shows_examples(name: str):
    program = program_named(name)
    lines = short_help_text(program, []).splitlines()
    assert len(lines) <= 50
    assert sum(f"selfplay {name}" in line for line in lines) >= 2
    shown = [line.strip().partition("=")[0] for line in lines if re.match(r"  [a-z_.]+=", line)]
    assert 2 <= len(shown) == len(set(shown)) <= 10
    assert "run_dir" in shown


@pytest.mark.parametrize("config", PROGRAMS)
def test_help_describes_every_setting_with_its_value(config: str):
    kind: type[CommonSettings] = PROGRAMS[config]
    text = help_text(Program(print, kind, config), ["game.name=sumto100"])
    settings = text.partition("Settings (name=value)\n")[2].partition("\n\n")[0]
    assert "  game.name=sumto100\n" in settings
    lines = settings.splitlines()
    names = [number for number, line in enumerate(lines) if line[2] != " "]
    assert len(names) >= 5
    for number in names:
        assert lines[number + 1].startswith("      "), f"{lines[number]} has no description"


def test_a_setting_that_a_program_declares_anew_has_the_meaning_that_it_has_there():
    text = short_help_text(program_named("compete"), [])
    assert "  matches=1000\n      Number of matches; the policy of the first player always moves first.\n" in text


def test_help_refuses_a_wrong_setting():
    assert_refused(run_forked(TRAIN, "--help", "learner.gamma=2"), 2, "learner.gamma=2.0")
