"""Engines of the Gomocup protocol as players: the commands sent, faults, and a match against our own engine."""

import sys
from pathlib import Path

import pytest

from selfplay import play_matches
from selfplay.errors import ForfeitError, SettingError, StageError
from selfplay.games import make_game
from selfplay.named_players.make import make_player
from selfplay.players.gomocup import GomocupPlayer
from selfplay.players.random import RandomPlayer
from tests.support.gtp_tools import told
from tests.support.runs import PROJECT
from tests.support.stub_players import FirstLegal

GAME = make_game("gomoku_15x15")
ENGINE = f"{sys.executable} {PROJECT / 'tests' / 'support' / 'gomocup_engine.py'}"
INFORMATION = ["INFO timeout_turn 5000", "INFO timeout_match 0", "INFO max_memory 0", "INFO rule 0"]


def act(player: GomocupPlayer, *crossings: str) -> str:
    actions = list(map(GAME.string_to_action, crossings))
    player.follow(actions)
    (action,) = player.act(GAME.follow(actions), None).tolist()
    return GAME.action_to_string(action)


def test_an_engine_is_told_each_move_once(tmp_path: Path) -> None:
    player = GomocupPlayer(GAME, f"{ENGINE} {tmp_path}")
    # The middle of 15x15 is h8; a15 is the crossing 0,0.
    assert act(player) == "h8"
    second = act(player, "h8", "a15")
    assert told(tmp_path) == ["START 15", *INFORMATION, "BEGIN", "TURN 0,0"]
    # Another match, of which it plays white.
    act(player, "h8", second, "i8")
    assert told(tmp_path)[-10:-5] == ["START 15", *INFORMATION]
    x, y = GAME.action_to_string(GAME.string_to_action(second))[:1], second[1:]
    assert told(tmp_path)[-5:] == [
        *("BOARD", "7,7,2", f"{'abcdefghijklmno'.index(x)},{15 - int(y)},1", "8,7,2", "DONE"),
    ]
    player.close()
    assert told(tmp_path)[-1] == "END"


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("crash", "it ended with exit code 3"),
        ("error", "it answered 'TURN 0,0' with 'ERROR no idea'"),
        ("unknown", "it answered 'TURN 0,0' with 'UNKNOWN'"),
        ("taken", "it played 0,0, which is not legal"),
        ("outside", "'15,3' is not a crossing of a board of 15x15"),
        ("babble", "'OK' is not a crossing of a board of 15x15"),
    ],
)
def test_a_fault_loses_the_match_and_no_other(tmp_path: Path, fault: str, reason: str) -> None:
    player = GomocupPlayer(GAME, f"{ENGINE} {tmp_path} {fault}")
    with pytest.raises(ForfeitError) as caught:
        act(player, "a15")
    assert str(caught.value) == f"{player.name} forfeits: {reason}"
    assert act(player, "a15") == "b14"
    player.close()


def test_an_engine_that_cannot_play_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StageError, match=r"'START 15' with 'ERROR too large'; .* play on 15x15 crossings$"):
        GomocupPlayer(GAME, f"{ENGINE} {tmp_path} small")
    with pytest.raises(SettingError, match="the Gomocup protocol is for Gomoku"):
        GomocupPlayer(make_game("othello"), ENGINE)
    with pytest.raises(SettingError, match=r"turn=90: must be seconds from 0 to time_limit=60"):
        make_player(f"gomocup:{ENGINE}?turn=90", GAME)


def test_an_engine_is_told_whether_longer_lines_win(tmp_path: Path) -> None:
    GomocupPlayer(make_game("gomoku", exact=True), f"{ENGINE} {tmp_path}").close()
    assert told(tmp_path)[-2] == "INFO rule 1"


def test_an_engine_wins_against_random_play(tmp_path: Path) -> None:
    player = make_player(f"gomocup:{ENGINE}", GAME)
    (record,) = play_matches(GAME, (player, RandomPlayer(GAME)), range(1), 5)
    assert float(record.returns()) == 1.0
    assert not record.forfeits


@pytest.mark.slow
def test_our_engine_plays_the_same_match_as_its_player() -> None:
    """The player draws no random numbers, because the two processes have other keys."""
    own = f"{sys.executable} -m selfplay gomocup player=tests.support.stub_players:FirstLegal"
    engine = make_player(f"gomocup:{own}?turn=0", GAME)
    records = [
        list(play_matches(GAME, (one, RandomPlayer(GAME)), range(2), 5, batch_size=1))
        for one in (engine, FirstLegal(GAME))
    ]
    through, direct = ([one.action_sequences()[0].tolist() for one in kind] for kind in records)
    assert through == direct
