"""The boards and parameters of a game, and the names with them: go_7x7_komi=5.5."""

import re
from collections.abc import Mapping
from math import isfinite, nan
from types import MappingProxyType

import numpy as np

from selfplay.checks import require
from selfplay.errors import SettingError, shortened
from selfplay.names_of_games import parts_of_game_name

FLAGS = {"true": 1, "1": 1, "false": 0, "0": 0}
"""The texts of parameters that are true or false."""
KINDS_OF_PARAMETERS = {bool: "true or false", int: "a whole number", float: "a number"}


class NamedBoards:
    """The part of a game that knows its boards and parameters by their names."""

    name: str
    sizes: tuple[int, ...] = ()
    """The boards that can be chosen, by the squares along a side; `name` alone means the first. The class is called
    with one of them, or with nothing for the first. Empty: the game has a single board."""
    other_sizes: range = range(0)
    """Further boards that can be chosen, which are not listed among the games."""
    counting_parameters: frozenset[str] = frozenset()
    """The parameters that only change which ends of matches are won, and by how many points."""

    @classmethod
    def usual_parameters(cls, size: int | None) -> dict[str, float]:
        """The parameters that the class takes by name besides the size, and their usual values on a board of this size.

        Names are small letters, values int, float or bool. A value that is not the usual one is part of the game's
        name, and so recorded in files: go_7x7_komi=5.5. `size`: None for the first of `sizes`. By default there are
        none.
        """
        return {}

    @classmethod
    def read_parameters(cls, name: str, size: int | None, given: Mapping[str, object]) -> dict[str, float]:
        """Parameters that are numbers or texts of numbers as the numbers that the class is called with.

        Raises SettingError if `name`, the name of the game without its board, has no such parameter.
        """
        usual, found = cls.usual_parameters(size), dict[str, float]()
        for parameter, value in given.items():
            if parameter not in usual:
                known = f"the parameters {', '.join(usual)}" if usual else "no parameters besides its size"
                raise SettingError(f"{shortened(parameter)}={shortened(value)}: {name} has {known}")
            kind = type(usual[parameter])
            try:
                number = FLAGS[str(value).lower()] if kind is bool else kind(str(value))
            except (KeyError, ValueError):
                number = nan
            require(parameter, value, isfinite(number), KINDS_OF_PARAMETERS[kind])
            # Without the sign of -0, which would be part of the name of another game.
            found[parameter] = kind(number + 0)
        return found

    @classmethod
    def name_with(cls, name: str, size: int | None = None, given: Mapping[str, object] = MappingProxyType({})) -> str:
        """The name of the game with another board and parameters: go, 7 and {"komi": 5.5} give go_7x7_komi=5.5.

        `name`: without them. Raises SettingError if it has no such board or parameter.
        """
        if size is not None and size not in (*cls.sizes, *cls.other_sizes):
            boards = f"the sizes {', '.join(map(str, sorted({*cls.sizes, *cls.other_sizes})))}"
            raise SettingError(f"size={size}: {name} has {boards if cls.sizes else 'a single board'}")
        usual, values = cls.usual_parameters(size), cls.read_parameters(name, size, given)
        board = "" if size is None or size == cls.sizes[0] else f"_{size}x{size}"
        others = ((parameter, values.get(parameter, value)) for parameter, value in usual.items())
        # Without an exponent, which would not be read.
        texts = (f"_{one}={np.format_float_positional(float(n), trim='-')}" for one, n in others if n != usual[one])
        return f"{name}{board}{''.join(texts)}"

    def learned_as(self, name: str | None = None) -> str:
        """The name of this game, or of this game with other parameters, without its `counting_parameters`.

        Learned agents play all games with the same such name, because what they see and do there is the same.
        """
        name = self.name if name is None else name
        for parameter in self.counting_parameters:
            name = re.sub(rf"_{parameter}=[^_]*", "", name)
        return name

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters of `usual_parameters` with their values in this game."""
        parts = parts_of_game_name(self.name)
        usual = self.usual_parameters(parts.size)
        return {name: type(value)(float(parts.parameters.get(name, value))) for name, value in usual.items()}
