"""Checks that several architectures share."""

from collections.abc import Sequence

from selfplay.errors import SettingError


def require_board(name: str, observation_shape: Sequence[int]) -> None:
    """Raise SettingError unless observations of this shape are boards: (planes, rows, columns)."""
    if len(observation_shape) != 3:
        shape = tuple(observation_shape)
        raise SettingError(f"architecture={name} needs a board; this game's observation is {shape}")


def require_positive_integer(option: str, number: object) -> None:
    """Raise SettingError unless the value of this option is an integer of at least 1."""
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise SettingError(f"architecture.{option}={number}: must be an integer of at least 1")
