"""What several architectures refuse, each in one line."""

from collections.abc import Sequence

from selfplay.errors import SettingError


def require_board(name: str, observation_shape: Sequence[int]) -> None:
    """Raises SettingError unless observations of this shape are boards: (planes, rows, columns)."""
    if len(observation_shape) != 3:
        shape = tuple(observation_shape)
        raise SettingError(f"architecture={name} needs a board; this game's observation is {shape}")


def require_whole_number(option: str, number: object) -> None:
    """Raises SettingError unless the option's value is a whole number from 1."""
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise SettingError(f"architecture.{option}={number}: give a whole number from 1")
