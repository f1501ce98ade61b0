"""The registry of games, and the types that a game is made of."""

from collections.abc import Callable
from contextlib import suppress

from selfplay.errors import SettingError, shortened
from selfplay.games.game import Game
from selfplay.games.presentation import Presentation
from selfplay.games.rules import Rules, Symmetries
from selfplay.games.state import State
from selfplay.registry import SPIEL_NAMES, Registry, base_and_size, errors_of_outside, is_outside

GAMES: Registry[type[Game]] = Registry(
    "game",
    {
        "tictactoe": "selfplay.games.tictactoe:TicTacToe",
        "sumto100": "selfplay.games.sumto100:SumTo100",
        "connect_four": "selfplay.games.connect_four:ConnectFour",
        "othello": "selfplay.games.othello:Othello",
        "hex": "selfplay.games.hex:Hex",
        "gomoku": "selfplay.games.gomoku:Gomoku",
        "go": "selfplay.games.go:Go",
        "breakthrough": "selfplay.games.breakthrough:Breakthrough",
    },
    group="selfplay.games",
)

__all__ = [
    "GAMES",
    "Game",
    "Presentation",
    "Rules",
    "State",
    "Symmetries",
    "game_names",
    "make_game",
    "name_of_board",
    "name_of_game",
]


_checked: set[tuple[Callable[..., Game], int | None]] = set()
"""The games from outside that have passed the quick check in this process."""


def make_game(name: str | Game, size: int | None = None) -> Game:
    """The game with this name: one of `game_names`, OpenSpiel's name of it, or `module:Class`.

    Args:
        name: a game that has been made already is returned as it is.
        size: the number of squares along a side of the board, in games with several boards; None: as the name says.

    Raises:
        SettingError: there is no such game or board, or it cannot be made.
        ConformanceError: it is a game from outside this package that fails `conformance.check_quickly`.

    Examples:
        >>> selfplay.make_game("tictactoe")
        <TicTacToe tictactoe>
        >>> selfplay.make_game("othello", size=6).name
        'othello_6x6'
    """
    if isinstance(name, Game):
        return name
    if not isinstance(name, str):
        raise SettingError(f"game={shortened(repr(name))}: must be a game or its name, such as tictactoe")
    name = name_of_board(name, size)
    base, size = base_and_size(name)
    make: Callable[..., Game] = _game_class(base)
    with errors_of_outside("game", name, make.__module__):
        game = make() if size is None else make(size)
        # Files contain the name of their game, so a game from outside needs the name by which it is found again.
        game.name, game.made_as = name, (name, game.rules)
        if is_outside(make.__module__) and (make, size) not in _checked:
            from selfplay.games.conformance import check_quickly

            check_quickly(game)
            _checked.add((make, size))
    return game


def name_of_game(game: Game) -> str:
    """A name with which `make_game` makes the same game, also in another process; files contain it.

    It is the game's own name if `make_game` finds this game by it, otherwise `module:Class`.

    Raises SettingError if no name makes it, because its class cannot be imported or needs arguments.
    """
    if game.made_as == (game.name, game.rules):
        return game.name
    kind = type(game)
    by_class = f"{kind.__module__}:{kind.__qualname__}"
    boards = [kind.name_of_size(by_class, size) for size in kind.sizes] or [by_class]
    # A class of the program that was started is not found by another process.
    names: list[str] = [game.name, *(boards if kind.__module__ != "__main__" else ())]
    for name in names:
        with suppress(SettingError):
            made = make_game(name)
            if (type(made), made.rules) == (kind, game.rules):
                return name
    raise SettingError(
        f"{game!r}: no name makes this game, and files need its name; define its class in a module that can be "
        "imported, such as my_game.py, so that it can be made without arguments"
    )


def name_of_board(name: str, size: int | None) -> str:
    """The name of the game `name` on a board of this size; `name` may contain another size. Unchanged if size is None.

    Raises SettingError if there is no such game or board.
    """
    name = SPIEL_NAMES.get(name, name)
    base, said = base_and_size(name)
    if said is not None and (only := _game_class(base).name_of_size(base, said)) != name:
        raise SettingError(f"unknown game {name!r}; the name of this board is {only}")
    return name if size is None else _game_class(base).name_of_size(base, size)


def game_names() -> list[str]:
    """The names of the registered games, with one for each board of a game with several."""
    return [name for base, kind in GAMES.items() for name in [kind.name_of_size(base, n) for n in kind.sizes] or [base]]


def _game_class(name: str) -> type[Game]:
    game_class = GAMES[name]
    # Files of runs name their game, and a name must not call anything but a game.
    if not (isinstance(game_class, type) and issubclass(game_class, Game)):
        raise SettingError(f"game {name!r} is not a subclass of selfplay.games.Game")
    return game_class
