"""Engines of the NBoard protocol as players: the commands sent, faults, and a match against our own engine."""

import sys
from pathlib import Path

import pytest

from selfplay import play_matches
from selfplay.errors import ForfeitError, SettingError, StageError
from selfplay.games import make_game
from selfplay.named_players.make import make_player
from selfplay.players.nboard import NBoardPlayer
from selfplay.players.random import RandomPlayer
from tests.support.gtp_tools import told
from tests.support.runs import PROJECT
from tests.support.stub_players import FirstLegal

GAME = make_game("othello")
ENGINE = f"{sys.executable} {PROJECT / 'tests' / 'support' / 'nboard_engine.py'}"


def act(player: NBoardPlayer, *squares: str) -> str:
    actions = list(map(GAME.string_to_action, squares))
    player.follow(actions)
    (action,) = player.act(GAME.follow(actions), None).tolist()
    return GAME.action_to_string(action)


def test_an_engine_is_told_the_match_before_each_move(tmp_path: Path) -> None:
    player = NBoardPlayer(GAME, f"{ENGINE} {tmp_path}", depth=5)
    assert act(player, "d3") == "e3"
    *begun, match, go = told(tmp_path)
    assert begun == ["nboard 2", "set depth 5", "ping 1"]
    assert match.startswith("set game (;GM[Othello]")
    assert match.endswith("BO[8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *]B[d3];)")
    assert go == "go"
    player.close()
    assert told(tmp_path)[-1] == "quit"


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("crash", "it ended with exit code 3"),
        ("taken", "it played D4, which is not legal"),
        ("outside", "'K9' is not a move"),
        ("babble", "'nothing' is not a move"),
    ],
)
def test_a_fault_loses_the_match_and_no_other(tmp_path: Path, fault: str, reason: str) -> None:
    player = NBoardPlayer(GAME, f"{ENGINE} {tmp_path} {fault}")
    with pytest.raises(ForfeitError) as caught:
        act(player, "d3")
    assert str(caught.value).startswith(f"{player.name} forfeits: {reason}")
    assert act(player, "d3") == "e3"
    player.close()


def test_an_engine_that_cannot_play_is_an_error() -> None:
    with pytest.raises(StageError, match=r"it ended with exit code 0; .* must speak the NBoard protocol$"):
        NBoardPlayer(GAME, "true")
    with pytest.raises(SettingError, match="game=gomoku: the NBoard protocol is for Othello"):
        NBoardPlayer(make_game("gomoku"), ENGINE)
    with pytest.raises(SettingError, match=r"depth=0: must be at least 1"):
        make_player(f"nboard:{ENGINE}?depth=0", GAME)


def test_matches_with_passes_are_played_to_their_end() -> None:
    game = make_game("othello_4x4")
    player = make_player(f"nboard:{ENGINE}", game)
    records = list(play_matches(game, (player, RandomPlayer(game)), range(20), 5))
    assert not any(record.forfeits for record in records)
    assert any(game.pass_action in record.action_sequences()[0].tolist()[:-1] for record in records)


@pytest.mark.slow
def test_our_engine_plays_the_same_match_as_its_player() -> None:
    """The player draws no random numbers, because the two processes have other keys."""
    game = make_game("othello_4x4")
    own = f"{sys.executable} -m selfplay nboard game=othello_4x4 player=tests.support.stub_players:FirstLegal"
    players = (make_player(f"nboard:{own}", game), FirstLegal(game))
    played = [list(play_matches(game, (one, RandomPlayer(game)), range(4), 5, batch_size=1)) for one in players]
    through, direct = ([record.action_sequences()[0].tolist() for record in records] for records in played)
    assert through == direct
