"""What players of all protocols of engines with lines have in common: faults, engines that cannot play, and our own
engine as a player. Files of their own test what each protocol says."""

import sys
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from selfplay import play_matches
from selfplay.errors import ForfeitError, SettingError, StageError
from selfplay.games import make_game
from selfplay.games.match import Match
from selfplay.named_players.make import make_player
from selfplay.players.capabilities import chosen_action
from selfplay.players.player import RandomPlayer
from selfplay.protocols.engine_player import EnginePlayer
from selfplay.protocols.gomocup.player import GomocupPlayer
from selfplay.protocols.gtp.engine import GtpEngine
from selfplay.protocols.nboard import NBoardPlayer
from selfplay.protocols.uci.player import UciPlayer
from selfplay.search.deadline import LEAST_SECONDS, Deadline
from tests.support.runs import PROJECT
from tests.support.stub_players import FirstLegal


class Protocol(NamedTuple):
    player: Any
    game: str
    move: str
    """A first move."""
    reply: str
    """That of the engine in tests/support."""


PROTOCOLS = {
    "gomocup": Protocol(GomocupPlayer, "gomoku_15x15", "a15", "b14"),
    "nboard": Protocol(NBoardPlayer, "othello", "d3", "e3"),
    "uci": Protocol(UciPlayer, "tictactoe", "0,0", "0,1"),
}


def engine_of(protocol: str) -> str:
    return f"{sys.executable} {PROJECT / 'tests' / 'support' / f'{protocol}_engine.py'}"


@pytest.mark.parametrize(
    ("protocol", "fault", "reason"),
    [
        ("gomocup", "crash", "it ended with exit code 3"),
        ("gomocup", "error", "it answered 'TURN 0,0' with 'ERROR no idea'"),
        ("gomocup", "unknown", "it answered 'TURN 0,0' with 'UNKNOWN'"),
        ("gomocup", "taken", "it played 0,0, which is not legal"),
        ("gomocup", "outside", "'15,3' is not a crossing of a board of 15x15"),
        ("gomocup", "babble", "'OK' is not a crossing of a board of 15x15"),
        ("nboard", "crash", "it ended with exit code 3"),
        ("nboard", "taken", "it played D4, which is not legal"),
        ("nboard", "outside", "'K9' is not a move"),
        ("nboard", "babble", "'nothing' is not a move"),
        ("uci", "crash", "it ended with exit code 3"),
        ("uci", "taken", "it played P@a3, which is not legal"),
        ("uci", "none", "it played (none), which is not legal"),
        ("uci", "babble", "it played nothing, which is not legal"),
    ],
)
def test_a_fault_loses_the_match_and_no_other(tmp_path: Path, protocol: str, fault: str, reason: str) -> None:
    kind, name, move, reply = PROTOCOLS[protocol]
    game = make_game(name)
    player: EnginePlayer = kind(game, f"{engine_of(protocol)} {tmp_path} {fault}")
    action = game.string_to_action(move)

    def answer() -> str:
        return game.action_to_string(chosen_action(player, Match(game).play(action), None))

    with pytest.raises(ForfeitError) as caught:
        answer()
    assert str(caught.value).startswith(f"{player.name} forfeits: {reason}")
    assert answer() == reply
    player.close()


@pytest.mark.parametrize(
    ("name", "game", "message"),
    [
        (
            "gomocup:ENGINE FOLDER small",
            "gomoku_15x15",
            "'START 15' with 'ERROR too large'; .* on 15x15 crossings$",
        ),
        ("gomocup:ENGINE", "othello", "the Gomocup protocol is for Gomoku"),
        ("gomocup:ENGINE?turn=90", "gomoku_15x15", "turn=90: must be seconds from 0 to time_limit=60"),
        ("nboard:true", "othello", "it ended with exit code 0; .* must speak the NBoard protocol$"),
        ("nboard:ENGINE", "gomoku", "game=gomoku: the NBoard protocol is for Othello"),
        ("nboard:ENGINE?depth=0", "othello", "depth=0: must be at least 1"),
        ("uci:true", "tictactoe", "it ended with exit code 0; .* must speak UCI$"),
        ("uci:ENGINE FOLDER board", "tictactoe", "its variant begins with 3/3/3/3, but tictactoe with 3/3/3; "),
        ("uci:ENGINE FOLDER chess", "tictactoe", "it does not offer tictactoe as UCI_Variant; .* by variant=, or "),
        ("uci:ENGINE", "sumto100", "game=sumto100: UCI is for games on boards"),
        ("uci:ENGINE?movetime=0", "tictactoe", "movetime=0: must be at least 1"),
    ],
)
def test_an_engine_that_cannot_play_is_an_error(tmp_path: Path, name: str, game: str, message: str) -> None:
    command = name.replace("ENGINE", engine_of(name.partition(":")[0])).replace("FOLDER", str(tmp_path))
    with pytest.raises((SettingError, StageError), match=message):
        make_player(command, make_game(game))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protocol", "name", "options"),
    [("gomocup", "gomoku_15x15", "?turn=0"), ("nboard", "othello_4x4", ""), ("uci", "breakthrough_8x8", "")],
)
def test_our_engine_plays_the_same_match_as_its_player(protocol: str, name: str, options: str) -> None:
    """The player draws no random numbers, because the two processes have other keys."""
    game, player = make_game(name), "player=tests.support.stub_players:FirstLegal"
    own = f"{sys.executable} -m selfplay {protocol} game={name} {player}"
    players = (make_player(f"{protocol}:{own}{options}", game), FirstLegal(game))
    played = [list(play_matches(game, (one, RandomPlayer(game)), range(2), 5, batch_size=1)) for one in players]
    through, direct = ([record.action_sequences()[0].tolist() for record in records] for records in played)
    assert through == direct


def test_searches_end_earlier_by_what_moves_have_taken_beyond_them(monkeypatch: pytest.MonkeyPatch) -> None:
    game = make_game("tictactoe")
    engine = GtpEngine(game, FirstLegal, 0)
    assert (engine.search_seconds(10.0), engine.search_seconds(None)) == (10.0, None)
    # A move takes five seconds in place of one; a fifth of what is too long counts at once.
    monkeypatch.setattr("selfplay.protocols.line_engine.monotonic", partial(next, count(0.0, 5.0)))
    monkeypatch.setattr("selfplay.search.deadline.monotonic", lambda: 0.0)
    assert engine.choice(Match(game), 1.0) == 0
    assert engine.search_seconds(10.0) == pytest.approx(9.2)
    assert engine.search_seconds(0.1) == LEAST_SECONDS


def test_moves_whose_deadline_is_set_around_them_are_measured_too(monkeypatch: pytest.MonkeyPatch) -> None:
    game = make_game("tictactoe")
    engine = GtpEngine(game, FirstLegal, 0)
    monkeypatch.setattr("selfplay.protocols.line_engine.monotonic", partial(next, count(0.0, 5000.0)))
    monkeypatch.setattr("selfplay.search.deadline.monotonic", lambda: 0.0)
    with Deadline(1000.0).applied():
        assert engine.choice(Match(game)) == 0
    assert engine.lag == pytest.approx(800.0)
