"""Runs without a last level, and what is said while a long run goes on."""

import logging

import selfplay
from selfplay import Callback
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


def test_what_later_commands_use_is_said_once(tmp_path, caplog):
    caplog.set_level(logging.INFO, "selfplay")
    selfplay.learn_levels(tiny_settings(tmp_path, "levels=2", "from_level={2:{learner.epochs:2}}"))
    assert caplog.text.count("later commands for") == 1
