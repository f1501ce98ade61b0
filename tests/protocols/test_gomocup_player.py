"""Engines of the Gomocup protocol as players: the commands sent, and matches."""

import sys
from pathlib import Path

from selfplay import play_matches
from selfplay.games import make_game
from selfplay.games.match import Match
from selfplay.named_players.make import make_player
from selfplay.players.capabilities import chosen_action
from selfplay.players.player import RandomPlayer
from selfplay.protocols.gomocup.player import GomocupPlayer
from tests.support.gtp_tools import told
from tests.support.runs import PROJECT

GAME = make_game("gomoku_15x15")
ENGINE = f"{sys.executable} {PROJECT / 'tests' / 'support' / 'gomocup_engine.py'}"
INFORMATION = ["INFO timeout_turn 5000", "INFO timeout_match 0", "INFO max_memory 0", "INFO rule 0"]


def act(player: GomocupPlayer, *crossings: str) -> str:
    return GAME.action_to_string(chosen_action(player, Match(GAME).play_all(crossings), None))


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


def test_an_engine_is_told_whether_longer_lines_win(tmp_path: Path) -> None:
    GomocupPlayer(make_game("gomoku", exact=True), f"{ENGINE} {tmp_path}").close()
    assert told(tmp_path)[-2] == "INFO rule 1"


def test_an_engine_wins_against_random_play(tmp_path: Path) -> None:
    player = make_player(f"gomocup:{ENGINE}", GAME)
    (record,) = play_matches(GAME, (player, RandomPlayer(GAME)), range(1), 5)
    assert float(record.returns()) == 1.0
    assert not record.forfeits


def test_an_engine_that_does_not_know_info_plays(tmp_path: Path) -> None:
    player = GomocupPlayer(GAME, f"{ENGINE} {tmp_path} uninformed")
    assert act(player) == "h8"
    assert act(player, "h8", "a15") != "h8"
    player.close()
