"""Matches that begin in another position than the game, such as with handicap stones: an engine gets the board that
people see, in every protocol, both ways."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from selfplay.errors import NotNowError
from selfplay.games import make_game
from selfplay.games.match import Match
from selfplay.named_players.make import make_player
from selfplay.playing.session import Session
from selfplay.protocols import engine_player
from selfplay.protocols.gomocup.engine import GomocupEngine
from selfplay.protocols.gomocup.player import GomocupPlayer
from selfplay.protocols.gtp.engine import GtpEngine
from selfplay.protocols.gtp.notation import Vertices, ask_gtp
from selfplay.protocols.gtp.player import GtpPlayer
from selfplay.protocols.line_engine import LineEngine, answer_lines
from selfplay.protocols.nboard import NBoardEngine, NBoardPlayer
from selfplay.protocols.process import FOLDERS
from selfplay.protocols.uci.engine import UciEngine
from selfplay.protocols.uci.player import UciPlayer
from tests.support.gtp_tools import fake, told
from tests.support.stub_players import FirstLegal

PROTOCOLS: dict[str, tuple[Any, Any]] = {
    "gtp": (GtpPlayer, GtpEngine),
    "gomocup": (GomocupPlayer, GomocupEngine),
    "nboard": (NBoardPlayer, NBoardEngine),
    "uci": (UciPlayer, UciEngine),
}
PLACES = os.pathsep.join([os.environ["PATH"], *FOLDERS])


def needs(program: str) -> Any:
    return pytest.mark.skipif(shutil.which(program, path=PLACES) is None, reason=f"{program} is not installed")


def set_up(name: str, black: str, white: str, to_move: int) -> Match:
    """A match that begins with stones on the squares of these actions."""
    game = make_game(name)
    stones = [0] * (game.num_squares or 0)
    for text, stone in ((black, 1), (white, -1)):
        for square in map(game.string_to_action, text.split()):
            stones[square] = stone
    return Match(game, game.set_up(stones, to_move))


OTHELLO = ("othello", "e4 d5 c3 d3", "d4 e5 e3", 0)
STARTS = {
    "handicap": ("gtp", ("go", "G7 C3 C7 G3", "", 1)),
    "stones of Go": ("gtp", ("go", "E5 D4", "D5 E4 F5", 0)),
    "tic-tac-toe by GTP": ("gtp", ("tictactoe", "1,1", "0,0", 0)),
    "Gomoku by GTP": ("gtp", ("gomoku", "h8 h7", "g8", 1)),
    "Othello by GTP": ("gtp", OTHELLO),
    "Othello by GTP, white first": ("gtp", (*OTHELLO[:3], 1)),
    "Gomocup, white": ("gomocup", ("gomoku", "h8 h7", "g8", 1)),
    "Gomocup, black": ("gomocup", ("gomoku", "h8 h7", "g8 a1", 0)),
    "NBoard": ("nboard", OTHELLO),
    "NBoard, white first": ("nboard", (*OTHELLO[:3], 1)),
    "UCI": ("uci", ("tictactoe", "1,1", "0,0", 0)),
    "UCI, white": ("uci", ("tictactoe", "1,1", "", 1)),
}


class InThisProcess:
    """Our engine in place of a process."""

    engine: LineEngine

    def __init__(self, words: list[str], farewell: str) -> None:
        pass

    def send(self, command: str) -> None:
        answer_lines(self.engine, command.split("\n"), lambda text: None)

    def lines(self, command: str, time_limit: float) -> Iterator[str]:
        said: list[str] = []
        answer_lines(self.engine, command.split("\n"), said.append)
        yield from "".join(said).splitlines()

    def end(self) -> None:
        pass


@pytest.mark.parametrize("start", STARTS)
def test_our_engine_has_the_board_that_our_player_of_engines_shows(start: str, monkeypatch: pytest.MonkeyPatch) -> None:
    protocol, position = STARTS[start]
    match = set_up(*position)
    player_class, engine_class = PROTOCOLS[protocol]
    engine = engine_class(match.game, FirstLegal, 0)
    monkeypatch.setattr(InThisProcess, "engine", engine, raising=False)
    monkeypatch.setattr(engine_player, "EngineProcess", InThisProcess)
    session = Session(match.game, (player_class(match.game, "true"), None), 0, first_player=match.to_move)
    session.resume(match)
    for _ in range(2):
        session.advance()
        # By GTP and Gomocup the engine has played its move; by the others the controller tells it with the next one.
        assert engine.match.state.key() in {session.match.state.key(), session.match.undo().state.key()}
        session.play(session.match.legal_actions()[-1])
    # Another match, from the start of the game.
    session.new_match(first_player=0)
    session.advance()
    assert engine.match.start.key() == match.game.init().key()


def test_stones_are_played_one_by_one_where_an_engine_knows_no_other_command(tmp_path: Path) -> None:
    match, player = set_up("tictactoe", "1,1", "0,0", 0), fake(tmp_path)
    player.follow(match)
    assert player.act(match.state, None).tolist() == [1]
    assert told(tmp_path)[-4:] == ["clear_board", "play B B2", "play W A1", "genmove B"]
    player.close()


def test_a_position_that_cannot_be_told_is_refused_in_one_line(tmp_path: Path) -> None:
    match = set_up(*OTHELLO)
    player = GtpPlayer(match.game, fake(tmp_path).command)
    player.follow(match)
    with pytest.raises(NotNowError) as caught:
        player.act(match.state, None)
    unknown = "it does not know the commands gogui-setup and gogui-setup_player"
    assert str(caught.value) == f"{player.name} cannot play a match that begins in this position: {unknown}"
    player.close()


@needs("gnugo")
@pytest.mark.parametrize("start", ["handicap", "stones of Go"])
def test_gnu_go_has_the_stones_of_the_match(start: str) -> None:
    match = set_up(*STARTS[start][1])
    player = make_player("gtp:gnugo --mode gtp --level 1", match.game)
    session = Session(match.game, (player, None), 0, first_player=match.to_move)
    session.resume(match)
    session.advance()
    session.play(session.match.legal_actions()[0])
    session.advance()
    vertices = Vertices(match.game)
    assert isinstance(player, GtpPlayer)
    assert player._engine is not None
    squares = match.game.squares(session.match.state)[0].tolist()
    for colour, stone in (("black", 1), ("white", -1)):
        shown = ask_gtp(player._engine, f"list_stones {colour}", 10.0).split()
        assert {*shown} == {vertices.text(square) for square, one in enumerate(squares) if one == stone}
    player.close()


@needs("gtp-rhino")
def test_rhino_is_not_asked_to_play_what_it_cannot_be_told() -> None:
    match = set_up(*OTHELLO)
    player = make_player("gtp:gtp-rhino -l 1", match.game)
    session = Session(match.game, (player, None), 0)
    session.resume(match)
    with pytest.raises(NotNowError, match="cannot play a match that begins in this position"):
        session.advance()


@needs("fairy-stockfish")
def test_fairy_stockfish_moves_in_the_position_of_the_match(tmp_path: Path) -> None:
    """It takes the only square that wins, for which it has to know the stones and whose turn it is."""
    variants = tmp_path / "variants.ini"
    variants.write_text(
        f"[tictactoe]\nmaxRank = 3\nmaxFile = 3\nstartFen = 3/3/3[{'P' * 5}{'p' * 5}] w - - 0 1\nimmobile = p\n"
        "pieceDrops = true\ndoubleStep = false\ncastling = false\nstalemateValue = draw\nimmobilityIllegal = false\n"
        "connectN = 3\n"
    )
    match = set_up("tictactoe", "0,0 2,2 1,0", "1,1 0,1", 1)
    player = make_player(f"uci:fairy-stockfish?depth=4&variants={variants}", match.game)
    session = Session(match.game, (None, player), 0)
    session.resume(match)
    assert session.advance().text == "2,1"
