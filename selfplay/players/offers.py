"""How a kind of players is offered as an opponent, for example on the page in the browser."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple


class OfferLimits(NamedTuple):
    """Limits of the opponents that are offered."""

    search_seconds: float
    """Time limit of a search for one reply."""
    deepest_search: int
    """Depth in plies of the deepest search."""


def _described(default: object, description: str) -> Any:
    """A field that the page is sent, with this description in the schema that pydantic makes."""
    return field(default=default, metadata={"description": description})


_NOT_SENT = {"exclude": True}
"""Marks the fields that pydantic leaves out of what the page is sent."""


@dataclass(frozen=True)
class OfferedPlayer:
    """A player that a person can choose as the opponent."""

    id: str
    kind: str = field(metadata={"description": "The kind of player: level, table, search, random, perfect, ..."})
    label: str
    about: str
    make: Callable[[], Any] = field(metadata=_NOT_SENT)
    """Makes the player."""
    file: Path | None = field(default=None, metadata=_NOT_SENT)
    """The file from which the player is loaded, if there is one."""
    level: int | None = field(default=None, metadata=_NOT_SENT)
    """The number of the level, if it is a level of the run."""
    has_fixed_values: bool = field(default=False, metadata=_NOT_SENT)
    """Whether it always takes its best action, by values that depend only on the position and can be cached."""
    group: str | None = _described(None, "The name of the group of numbered opponents that it belongs to.")
    number: int | None = _described(None, "Its number in the group: the level, or the depth of a search.")
    is_default: bool = _described(False, "Whether it is selected at first in its group.")
    is_recommended: bool = _described(False, "Whether it is among the strongest.")
    neutral: float = _described(0.0, "The value of an even match.")
    span: float | None = _described(1.0, "The largest difference from the neutral value; null: unlimited.")
    estimates: bool = _described(True, "Whether it estimates the value of each action.")
    values_hold: str = _described("an equally strong player", "Against whom its values are expected.")
    is_slow: bool = _described(False, "Whether it may take seconds to reply.")
    learns: bool = _described(False, "Whether it learns from its matches.")


LAST = 100
"""The place of kinds of other packages in the list."""
