"""Opening a session from settings: the seats, settings that are rejected, the match number and the key."""

import re
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from selfplay.errors import SettingError, StageError
from selfplay.games import make_game
from selfplay.named_players.strengths import judge_name
from selfplay.players.capabilities import LearnsFromMatches
from selfplay.players.exploring import EpsilonGreedyPlayer
from selfplay.playing.console import play_at_console
from selfplay.playing.open_session import open_session, usual_player
from selfplay.playing.session import Session
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.classical import TabularSettings
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.playing import PlaySettings
from selfplay.settings.run import Run
from selfplay.stages.train_tabular import train_tabular


def settings_with(run_dir: Path, *overrides: str) -> PlaySettings:
    return compose_settings_of(PlaySettings, "play", [f"run_dir={run_dir}", *overrides])


common_settings = cache(partial(settings_with, Path("run")))


def seated(run_dir: Path, *overrides: str) -> Session:
    return open_session(Run.of(settings_with(run_dir, *overrides)))


@pytest.mark.parametrize(
    ("who", "names"),
    [
        ({}, ("human", "level 3")),
        ({"level": 2}, ("human", "level 2")),
        ({"opponent": "perfect"}, ("human", "perfect")),
        ({"second": "human"}, ("level 3", "human")),
        ({"first": "random", "second": "level:2"}, ("random", "level 2")),
    ],
    ids=str,
)
def test_settings_determine_who_holds_each_seat(tiny_run: Path, who: dict[str, Any], names: tuple[str, str]) -> None:
    assert open_session(Run.of(replace(common_settings(), run_dir=str(tiny_run), **who))).names == names


def test_the_settings_of_a_levels_player_are_used(tiny_run: Path) -> None:
    opponent = seated(tiny_run, "player.depth=2").players[1]
    assert getattr(opponent, "depth", None) == 2


@pytest.mark.parametrize(
    ("overrides", "reason"),
    [
        (["first=random", "second=human", "level=3"], "already say who has each seat"),
        # The other seat is that of a person, so first and second do not name two players.
        (["second=perfect", "opponent=random"], "already say who has each seat"),
        (["level=1", "opponent=perfect"], "opponent=perfect and level=1: set only one of them"),
        (["swap=true"], "swap=true: set first= or second= too"),
        (
            ["opponent=nobody"],
            "unknown player 'nobody' in opponent; choose from beginner, easy, medium, hard, strongest, level, ",
        ),
        (["first='human?epsilon=0.1'"], "a person can only play with"),
    ],
    ids=" ".join,
)
def test_settings_that_contradict_each_other_are_rejected(tmp_path: Path, overrides: list[str], reason: str) -> None:
    with pytest.raises(SettingError) as caught:
        seated(tmp_path, *overrides)
    assert reason in str(caught.value)


def test_a_missing_level_is_reported_and_not_replaced_by_the_random_player(tmp_path: Path) -> None:
    with pytest.raises(StageError, match=r"has no level 17; it has no trained level yet"):
        seated(tmp_path, "level=17")


@pytest.mark.parametrize(
    ("who", "learns"),
    [
        (["opponent=tabular:backward_value"], True),
        (["first=tabular:backward_value"], True),
        (["second=tabular:backward_value"], True),
        (["first=human", "second=tabular:backward_value"], True),
        (["first=tabular:backward_value", "second=random"], False),
    ],
    ids=str,
)
def test_a_table_explores_and_learns_against_a_person_however_it_was_asked_for(
    tmp_path: Path, who: list[str], learns: bool
) -> None:
    settings = ["agent=backward_value", "episodes=50", "epsilon=0.3", f"run_dir={tmp_path}"]
    train_tabular(Run.of(compose_settings_of(TabularSettings, "tabular", settings)))
    (table,) = (player for player in seated(tmp_path, *who).players if player is not None and player.name != "random")
    explores = isinstance(table, EpsilonGreedyPlayer)
    assert (isinstance(table.unwrapped, LearnsFromMatches), explores) == (learns, learns)


def test_levels_played_by_tree_search_stand_in_their_best_way_of_playing(tmp_path: Path) -> None:
    game, level = make_game("tests.support.kalah:Kalah"), tmp_path / "level_01"
    assert usual_player(game, RunFolder(tmp_path)).startswith("mcts:rollouts?")
    level.mkdir()
    (level / "versus_rollouts.csv").write_text("level,simulations,rollouts,score\n1,150,1400,0.6\n")
    assert usual_player(game, RunFolder(tmp_path)) == "strongest"
    player, label = judge_name(game, tmp_path)
    assert re.fullmatch(r"mcts:level:1\?simulations=\d+", player)
    assert label == f"level 1, {int(player.partition('=')[2]):,} simulations"
    assert judge_name(game) == ("mcts:rollouts?simulations=4000", "tree search, 4,000 random matches")


def test_match_numbers_continue_after_those_a_learner_has_seen(tmp_path: Path) -> None:
    for expected in range(2):
        session = seated(tmp_path, "first=random", "second=experience")
        assert session.number == expected
        while not session.is_over:
            session.advance()


def played(settings: PlaySettings, *answers: str) -> list[str]:
    """What the console writes when the person answers so."""
    written: list[str] = []
    remaining = iter(answers)

    def read(_: str) -> str:
        try:
            return next(remaining)
        except StopIteration:
            raise EOFError from None

    play_at_console(Run.of(settings), read, written.append)
    return written


@pytest.mark.parametrize("game", ["sumto100", "othello_4x4"])
def test_every_game_can_be_played(tmp_path: Path, game: str) -> None:
    written = played(settings_with(tmp_path, f"game={game}", "first=random", "second=perfect"), "n")
    assert written[-1].startswith("match 1: ")
