"""The games, by name."""

from selfplay.errors import SettingError
from selfplay.games.connect_four import ConnectFour
from selfplay.games.game import Game
from selfplay.games.othello import Othello, Othello4x4, Othello6x6
from selfplay.games.rules import Rules, Symmetries
from selfplay.games.state import State
from selfplay.games.sumto100 import SumTo100
from selfplay.games.tictactoe import TicTacToe

GAMES: dict[str, type[Game]] = {
    game.name: game for game in (TicTacToe, SumTo100, ConnectFour, Othello, Othello6x6, Othello4x4)
}

__all__ = ["GAMES", "Game", "Rules", "State", "Symmetries", "make_game"]


def make_game(name: str) -> Game:
    """The game of that name. Raises SettingError if there is none."""
    if name not in GAMES:
        raise SettingError(f"unknown game {name!r}; there are {', '.join(sorted(GAMES))}")
    return GAMES[name]()
