"""Players with few lines: `random`, `human`, `perfect`, engines by their commands, and `openspiel:BOT`."""

from importlib import import_module
from typing import Any

from selfplay.errors import GameTooLargeError, SettingError
from selfplay.games import Game
from selfplay.games.position_graph import positions_of
from selfplay.installation import require_package
from selfplay.named_players.names import PlayerName, options_of, player_kind
from selfplay.players.perfect import PerfectPlayer, whole_game_solver_player
from selfplay.players.player import Player, RandomPlayer
from selfplay.protocols.gomocup.player import GomocupPlayer
from selfplay.protocols.gtp.player import GtpPlayer
from selfplay.protocols.nboard import NBoardPlayer
from selfplay.protocols.uci.player import UciPlayer
from selfplay.runs.command_lines import command_line


@player_kind("random")
def random(game: Game, name: PlayerName) -> Player:
    """every legal action with the same probability"""
    return RandomPlayer(game)


@player_kind("human")
def human(game: Game, name: PlayerName) -> Player:
    """a person, at the console only"""
    raise SettingError(f"player {name.text!r}: a person can only play with {command_line('play')}")


@player_kind("perfect")
def perfect(game: Game, name: PlayerName, *, ties: str = "random") -> Player:
    """perfect play, in games that can be enumerated or solved

    Args:
        ties: of equally good actions, random: one at random; lowest: the one with the lowest number
    """
    try:
        return whole_game_solver_player(game, ties) or PerfectPlayer(positions_of(game), ties)
    except GameTooLargeError as error:
        raise GameTooLargeError(f"player {name.text!r}: {error}, or another player") from error


@player_kind("gtp:COMMAND", is_command=True)
def gtp(game: Game, name: PlayerName, *, time_limit: float = 60.0, rows: str = "board", passes: str = "skip") -> Player:
    """a program that speaks the Go Text Protocol, started by this command

    Args:
        time_limit: seconds for each answer; those at the start of the program at least 30
        rows: where the engine has row 1: top, bottom, or board: where the board shows it
        passes: skip: the engine is not told of passes; send: it is
    """
    return GtpPlayer(game, name.argument, time_limit=time_limit, rows=rows, passes=passes)


@player_kind("gomocup:COMMAND", is_command=True)
def gomocup(game: Game, name: PlayerName, *, time_limit: float = 60.0, turn: float = 5.0) -> Player:
    """a program that speaks the protocol of the Gomocup tournament, for Gomoku, started by this command

    Args:
        time_limit: seconds for each answer; those at the start of the program at least 30
        turn: seconds that the program is told to take for each move
    """
    return GomocupPlayer(game, name.argument, time_limit=time_limit, turn=turn)


@player_kind("nboard:COMMAND", is_command=True)
def nboard(game: Game, name: PlayerName, *, time_limit: float = 60.0, depth: int = 8) -> Player:
    """a program that speaks the protocol of NBoard, for Othello, started by this command

    Args:
        time_limit: seconds for each answer; those at the start of the program at least 30
        depth: plies that the program is told to look ahead in the middle of a match
    """
    return NBoardPlayer(game, name.argument, time_limit=time_limit, depth=depth)


@player_kind("uci:COMMAND", is_command=True, more=options_of(UciPlayer))
def uci(game: Game, name: PlayerName, **options: Any) -> Player:
    """a program that speaks the Universal Chess Interface, such as Fairy-Stockfish, started by this command"""
    return UciPlayer(game, name.argument, **options)


@player_kind("openspiel:BOT")
def openspiel(game: Game, name: PlayerName, *, simulations: int = 100) -> Player:
    """a bot of OpenSpiel, mcts or random, if the package is installed

    Args:
        simulations: simulations for each action of the bot mcts
    """
    require_package(f"player {name.text!r}", "pyspiel", "openspiel")
    # By its name, because adapters stand above players.
    adapter = import_module("selfplay.adapters.open_spiel")
    made: Player = adapter.SpielPlayer(game, name.argument, simulations)
    return made
