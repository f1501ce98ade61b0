"""Runs without a last level, and what is said while a long run goes on."""

import logging

import selfplay
from selfplay import Callback
from selfplay.stages import loop
from tests.support.runs import tiny_settings


class StopsAfter(Callback):
    def __init__(self, level):
        self.level = level

    def on_level(self, level, row):
        return level == self.level


def test_a_run_without_a_last_level_goes_on_until_it_is_stopped_and_resumes(tmp_path, caplog):
    caplog.set_level(logging.INFO, "selfplay")
    settings = tiny_settings(tmp_path, "levels=null")
    assert selfplay.learn_levels(settings, callbacks=[StopsAfter(2)]).levels == (1, 2)
    assert "level 1: levels without an end; interrupt it at any time and play: " in caplog.text
    assert selfplay.learn_levels(settings, callbacks=[StopsAfter(3)]).levels == (1, 2, 3)
    assert "level 2: already trained, skipped" in caplog.text


def test_a_short_run_forecasts_nothing(tmp_path, caplog):
    caplog.set_level(logging.INFO, "selfplay")
    selfplay.learn_levels(tiny_settings(tmp_path, "levels=2"))
    assert "interrupt it at any time" not in caplog.text


def test_the_time_that_is_left_is_said_from_the_second_level_that_a_command_learns(tmp_path, caplog, monkeypatch):
    """The first waits for compilers, and its matches may be quicker or slower than those of later levels."""
    monkeypatch.setattr(loop, "FORECAST", 0)
    caplog.set_level(logging.INFO, "selfplay")
    for levels in (3, 5):
        selfplay.learn_levels(tiny_settings(tmp_path, f"levels={levels}"))
    said = [line.partition("interrupt it")[0] for line in caplog.messages if "interrupt it at any time" in line]
    about = "about 0 minutes for"
    assert said == ["level 1: ", f"level 2: {about} 3; ", f"level 3: {about} 3; ", "level 4: ", f"level 5: {about} 5; "]


def test_what_later_commands_use_is_said_once(tmp_path, caplog):
    caplog.set_level(logging.INFO, "selfplay")
    selfplay.learn_levels(tiny_settings(tmp_path, "levels=2", "from_level={2:{learner.epochs:2}}"))
    assert caplog.text.count("later commands for") == 1
