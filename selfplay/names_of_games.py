"""The names of games: that of the rules, of the board, and the parameters that are not as usual."""

import re
from typing import NamedTuple

SIZE = re.compile(r"([1-9][0-9]?)x\1")
PARAMETER = re.compile(r"([a-z]+)=(-?[0-9]+(?:\.[0-9]+)?)")
"""Words of the name of a game, which are separated by underscores."""

SPIEL_NAMES = {"tic_tac_toe": "tictactoe"}
"""OpenSpiel's names of games that have another name here."""


class GameName(NamedTuple):
    """The parts of the name of a game, such as go_7x7_komi=5.5."""

    base: str
    """The name of the game without its board: go."""
    size: int | None
    """The number of squares along a side of the board: 7. None: as usual in this game."""
    parameters: dict[str, str]
    """The parameters of the game that are not as usual: komi=5.5."""


def parts_of_game_name(name: str) -> GameName:
    """The parts of the name of a game."""
    first, *words = name.split("_")
    parameters = list[tuple[str, str]]()
    while words and (found := PARAMETER.fullmatch(words[-1])):
        words.pop()
        parameters.append((found[1], found[2]))
    size = SIZE.fullmatch(words[-1]) if words else None
    base = "_".join([first, *words[:-1]] if size else [first, *words])
    return GameName(base, int(size[1]) if size else None, dict(reversed(parameters)))


def differ_in_size(name: str, other: str) -> bool:
    """Whether these are names of the same game with boards of different sizes."""
    parts, others = parts_of_game_name(name), parts_of_game_name(other)
    return parts != others and parts._replace(size=None) == others._replace(size=None)
