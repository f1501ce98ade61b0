"""The registry of games, and the types that a game is made of."""

from selfplay.errors import SettingError
from selfplay.games.game import Game
from selfplay.games.presentation import Presentation
from selfplay.games.rules import Rules, Symmetries
from selfplay.games.state import State
from selfplay.registry import Registry

GAMES: Registry[type[Game]] = Registry(
    "game",
    {
        "tictactoe": "selfplay.games.tictactoe:TicTacToe",
        "sumto100": "selfplay.games.sumto100:SumTo100",
        "connect_four": "selfplay.games.connect_four:ConnectFour",
        "othello": "selfplay.games.othello:Othello",
        "othello_6x6": "selfplay.games.othello:Othello6x6",
        "othello_4x4": "selfplay.games.othello:Othello4x4",
    },
    group="selfplay.games",
)

__all__ = ["GAMES", "Game", "Presentation", "Rules", "State", "Symmetries", "make_game"]


def make_game(name: str) -> Game:
    """The game with this name: one of `GAMES`, or `module:Class`. Raises SettingError if there is none."""
    game_class = GAMES[name]
    # Files of runs name their game, and a name must not call anything but a game.
    if not (isinstance(game_class, type) and issubclass(game_class, Game)):
        raise SettingError(f"game {name!r} is not a subclass of selfplay.games.Game")
    game = game_class()
    # Files name the game they belong to, so a game from outside must carry the name that finds it again.
    game.name = name
    return game
