"""The registry of games, and the types that a game is made of."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from selfplay.code_identity import outside_identity
from selfplay.error_places import is_outside
from selfplay.errors import SettingError, shortened
from selfplay.games.game import Game
from selfplay.games.presentation import Presentation
from selfplay.games.rules import Rules, Symmetries
from selfplay.games.state import State
from selfplay.names_of_games import SPIEL_NAMES, parts_of_game_name
from selfplay.outside_errors import errors_of_outside
from selfplay.registry import Registry

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
        "draughts": "selfplay.games.draughts:Draughts",
        "nine_mens_morris": "selfplay.games.nine_mens_morris:NineMensMorris",
        "dots_and_boxes": "selfplay.games.dots_and_boxes:DotsAndBoxes",
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


_given: dict[tuple[Callable[..., Game], str], str] = {}
"""The digests of what their classes have given to the games from outside that have passed the quick check in this
process."""


def make_game(name: str | Game, size: int | None = None, **parameters: float) -> Game:
    """The game with this name: one of `game_names`, OpenSpiel's name of it, or `module:Class`.

    Args:
        name: a game that has been made already is returned as it is.
        size: the number of squares along a side of the board, in games with several boards; None: as the name says.
        parameters: those of the game, such as `komi`; the others are as the name says, or as usual.

    Raises:
        SettingError: there is no such game, board or parameter, or it cannot be made.
        ConformanceError: it is a game from outside this package that fails `conformance.check_quickly`.

    Examples:
        >>> selfplay.make_game("tictactoe")
        <TicTacToe tictactoe>
        >>> selfplay.make_game("othello", size=6).name
        'othello_6x6'
        >>> selfplay.make_game("go", size=7, komi=5.5).name
        'go_7x7_komi=5.5'
    """
    if isinstance(name, Game):
        return name
    if not isinstance(name, str):
        raise SettingError(f"game={shortened(repr(name))}: must be a game or its name, such as tictactoe")
    name = name_of_board(name, size, parameters)
    base, size, written = parts_of_game_name(name)
    make = _game_class(base)
    with errors_of_outside("game", name, make.__module__):
        game = make(*([] if size is None else [size]), **make.read_parameters(base, size, written))
        # Files contain the name of their game, so a game from outside needs the name by which it is found again. What
        # its class lacks is said by the check.
        own_name, rules = getattr(game, "name", None), getattr(game, "rules", None)
        game.own_name, game.name, game.made_as = own_name, name, (name, rules)
    if is_outside(make.__module__):
        digest = outside_identity(game.given).digest
        if (make, name) not in _given:
            from selfplay.games.conformance import check_quickly

            check_quickly(game)
            _given[make, name] = digest
        elif _given[make, name] != digest:
            raise SettingError(
                f"game {shortened(name)!r}: a file or another value that its class reads has changed since the game "
                "was first made; start the program again"
            )
    return game


def digest_of_given(name: str) -> str:
    """The digest of what the class of the game with this name has given to it when it was first made in this process,
    such as rules that it has read from a file. Raises errors as its class does."""
    name = name_of_board(name, None, {})
    base, size, written = parts_of_game_name(name)
    make = _game_class(base)
    if (digest := _given.get((make, name))) is None:
        game = make(*([] if size is None else [size]), **make.read_parameters(base, size, written))
        digest = outside_identity(game.given).digest
    return digest


def digests_of_outside_games() -> dict[str, str]:
    """Those of `digest_of_given` of the games from outside that were made in this process, by name."""
    return {name: digest for (_, name), digest in _given.items()}


def name_of_game(game: Game) -> str:
    """A name with which `make_game` makes the same game, also in another process; files contain it.

    It is the game's own name if `make_game` finds this game by it, otherwise `module:Class`.

    Raises SettingError if no name makes it, because its class cannot be imported or needs arguments.
    """
    if game.made_as == (game.name, game.rules):
        return game.name
    kind = type(game)
    by_class = f"{kind.__module__}:{kind.__qualname__}"
    parts = parts_of_game_name(game.name)
    # A class of the program that was started is not found by another process.
    others = [] if kind.__module__ == "__main__" else [kind.name_with(by_class, *parts[1:])]
    names: list[str] = [game.name, *others]
    for name in names:
        with suppress(SettingError):
            made = make_game(name)
            if (type(made), made.rules) == (kind, game.rules):
                return name
    raise SettingError(
        f"{game!r}: no name makes this game, and files need its name; define its class in a module that can be "
        "imported, such as my_game.py, so that it can be made without arguments"
    )


def name_of_board(name: str, size: int | None, parameters: Mapping[str, Any]) -> str:
    """The one name of the game `name` with this size and these parameters; `name` may contain others, or usual ones.

    Raises SettingError if there is no such game, board or parameter.
    """
    name = SPIEL_NAMES.get(name, name)
    base, said, written = parts_of_game_name(name)
    if size is None and said is None and not written | dict(parameters):
        return name
    return _game_class(base).name_with(base, said if size is None else size, written | dict(parameters))


def game_names() -> list[str]:
    """The names of the registered games, with one for each board of a game with several."""
    return [name for base, kind in GAMES.items() for name in [kind.name_with(base, n) for n in kind.sizes] or [base]]


def _game_class(name: str) -> type[Game]:
    game_class = GAMES[name]
    # Files of runs name their game, and a name must not call anything but a game.
    if not (isinstance(game_class, type) and issubclass(game_class, Game)):
        raise SettingError(f"game {name!r} is not a subclass of selfplay.games.Game")
    return game_class
