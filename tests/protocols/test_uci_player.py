"""Engines of the Universal Chess Interface as players: the commands sent, positions, and Fairy-Stockfish."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest
import torch

from selfplay import play_matches
from selfplay.errors import IllegalActionError, SettingError, StageError
from selfplay.games import make_game
from selfplay.games.match import Match
from selfplay.games.state import State
from selfplay.named_players.make import make_player
from selfplay.players.capabilities import chosen_action
from selfplay.players.player import RandomPlayer
from selfplay.protocols.process import FOLDERS, EngineProcess, command_words
from selfplay.protocols.uci.notation import UciMoves, lines_until
from selfplay.protocols.uci.player import UciPlayer
from tests.support.gtp_tools import told
from tests.support.runs import PROJECT

TICTACTOE, BREAKTHROUGH = make_game("tictactoe"), make_game("breakthrough_8x8")
ENGINE = f"{sys.executable} {PROJECT / 'tests' / 'support' / 'uci_engine.py'}"
FISH = "fairy-stockfish"
needs_fish = pytest.mark.skipif(
    shutil.which(FISH, path=os.pathsep.join([os.environ["PATH"], *FOLDERS])) is None,
    reason="Fairy-Stockfish is not installed (Debian's package fairy-stockfish)",
)
DROPS = """
immobile = p
pieceDrops = true
doubleStep = false
castling = false
stalemateValue = draw
immobilityIllegal = false
"""
VARIANTS = f"""[tictactoe]
maxRank = 3
maxFile = 3
startFen = 3/3/3[PPPPPppppp] w - - 0 1
connectN = 3{DROPS}
[cfour]
maxRank = 6
maxFile = 7
startFen = 7/7/7/7/7/7[{"P" * 21}{"p" * 21}] w - - 0 1
dropOnTop = true
connectN = 4{DROPS}"""


def act(player: UciPlayer, *actions: int) -> int:
    return chosen_action(player, Match(player.game).play_all(actions), None)


def test_an_engine_is_told_the_whole_match_before_each_move(tmp_path: Path) -> None:
    player = UciPlayer(TICTACTOE, f"{ENGINE} {tmp_path}", depth=5, nodes=100)
    assert (act(player), act(player, 0, 4), act(player, 8)) == (0, 1, 0)
    begun = ["uci", "setoption name UCI_Variant value tictactoe", "isready"]
    new, go = ["ucinewgame", "isready"], "go depth 5 nodes 100"
    first = ["position startpos", go, "position startpos moves P@a3 P@b2", go]
    assert told(tmp_path) == [*begun, *new, *first, *new, "position startpos moves P@c1", go]
    player.close()
    assert told(tmp_path)[-1] == "quit"


def test_the_usual_depth_is_eight_unless_a_time_or_a_number_of_positions_is_given() -> None:
    made = [make_player(f"uci:{ENGINE}{options}", TICTACTOE) for options in ("", "?movetime=200", "?depth=3")]
    assert [player.go for player in made] == ["go depth 8", "go movetime 200", "go depth 3"]


def test_a_match_that_begins_elsewhere_is_told_as_a_position(tmp_path: Path) -> None:
    player = UciPlayer(TICTACTOE, f"{ENGINE} {tmp_path}")
    match = Match(TICTACTOE, TICTACTOE.set_up([0, 0, 0, 0, 1, 0, 0, 0, -1], 0))
    assert chosen_action(player, match.play(2).play(0), None) == 1
    assert told(tmp_path)[-2] == "position fen 3/1P1/2p[P] w - - 0 1 moves P@c3 P@a3"


def test_positions_are_read_as_they_are_written() -> None:
    breakthrough = BREAKTHROUGH.state_after(["b2c3", "a7b6", "c3d4"])
    assert UciMoves(BREAKTHROUGH).fen(breakthrough) == "pppppppp/1ppppppp/1p6/8/3P4/8/P1PPPPPP/PPPPPPPP b - - 0 1"
    for fen in ("3/1P1/2p w - - 0 1", "P2/1p1/2P b - - 0 1"):
        read = UciMoves(TICTACTOE).read_fen(fen.replace("P", "X").replace("p", "o"))
        assert UciMoves(TICTACTOE).fen(read) == fen


@pytest.mark.parametrize("fen", ["", "3/3 w", "3/3/4 w", "3/3/3", "3/3/3 x", "PP1/3/3 w", "3/3/99999999999999999999 w"])
def test_what_is_not_a_position_is_refused(fen: str) -> None:
    with pytest.raises(IllegalActionError):
        UciMoves(TICTACTOE).read_fen(fen)


def test_moves_that_only_remove_a_stone_are_refused() -> None:
    game = make_game("nine_mens_morris")
    # After a row of three, a stone of the opponent is removed.
    with pytest.raises(SettingError, match="game=nine_mens_morris: UCI cannot write moves that change the board"):
        UciMoves(game).actions(game.follow(game.read_transcript("a7 g7 a4 g4 a1")))


# ---------------------------------------------------------------------- Fairy-Stockfish


def random_positions(count: int) -> list[State]:
    """Positions of Breakthrough before the end of random matches."""
    (record,) = play_matches(BREAKTHROUGH, ("random", "random"), range(count), 3)
    lengths = [len(record.actions_of(row)) for row in range(count)]
    return [
        record.states[length * (row % 5 + 1) // 6].select(torch.tensor([row])) for row, length in enumerate(lengths)
    ]


@needs_fish
def test_fairy_stockfish_finds_the_same_moves_and_positions() -> None:
    engine, moves = EngineProcess(command_words(FISH, "")), UciMoves(BREAKTHROUGH)
    engine.send("setoption name UCI_Variant value breakthrough")
    for state in random_positions(20):
        lines = lines_until(engine, f"position fen {moves.fen(state)}\ngo perft 2", "Nodes", 30)
        found = {line.partition(":")[0]: int(line.split()[1]) for line in lines if re.match(r"\w\d\w\d: ", line)}
        legal = moves.actions(state)
        after = (BREAKTHROUGH.step(state, action) for action in legal.values())
        assert found == {text: len(moves.actions(following)) for text, following in zip(legal, after, strict=True)}
    engine.end()


@needs_fish
def test_fairy_stockfish_plays_breakthrough_and_wins_every_match() -> None:
    fish = make_player(f"uci:{FISH}?variant=breakthrough&depth=3", BREAKTHROUGH)
    records = list(play_matches(BREAKTHROUGH, (fish, RandomPlayer(BREAKTHROUGH)), range(2), 5))
    assert [(record.returns().item(), record.forfeits) for record in records] == [(1.0, ()), (1.0, ())]


@needs_fish
def test_a_board_of_another_size_than_the_variant_is_refused() -> None:
    with pytest.raises(StageError, match=r"begins with pppppppp/.*, but breakthrough with ppppp/ppppp/5/PPPPP/PPPPP; "):
        make_player(f"uci:{FISH}?variant=breakthrough", "breakthrough")


@needs_fish
@pytest.mark.parametrize("name", ["tictactoe", "connect_four"])
def test_fairy_stockfish_plays_games_of_a_file_of_variants(name: str, tmp_path: Path) -> None:
    (tmp_path / "variants.ini").write_text(VARIANTS)
    game = make_game(name)
    fish = make_player(f"uci:{FISH}?depth=4&variants={tmp_path / 'variants.ini'}", game)
    records = list(play_matches(game, (fish, RandomPlayer(game)), range(2), 5))
    assert [record.forfeits for record in records] == [(), ()]
    assert sum(record.returns().item() for record in records) > 0
