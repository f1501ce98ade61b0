"""Engines of the NBoard protocol as players: the commands sent, and matches."""

import sys
from pathlib import Path

from selfplay import play_matches
from selfplay.games import make_game
from selfplay.games.match import Match
from selfplay.named_players.make import make_player
from selfplay.players.capabilities import chosen_action
from selfplay.players.player import RandomPlayer
from selfplay.protocols.nboard import NBoardPlayer
from tests.support.gtp_tools import told
from tests.support.runs import PROJECT

GAME = make_game("othello")
ENGINE = f"{sys.executable} {PROJECT / 'tests' / 'support' / 'nboard_engine.py'}"


def act(player: NBoardPlayer, *squares: str) -> str:
    return GAME.action_to_string(chosen_action(player, Match(GAME).play_all(squares), None))


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


def test_matches_with_passes_are_played_to_their_end() -> None:
    game = make_game("othello_4x4")
    player = make_player(f"nboard:{ENGINE}", game)
    records = list(play_matches(game, (player, RandomPlayer(game)), range(20), 5))
    assert not any(record.forfeits for record in records)
    assert any(game.pass_action in record.action_sequences()[0].tolist()[:-1] for record in records)
