"""How a kind of players is offered as an opponent, for example on the page in the browser."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

# --help reads the kinds of players, so importing this must not load torch.
if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.players.player import Player


class OfferLimits(NamedTuple):
    """Limits of the opponents that are offered."""

    search_seconds: float
    """Time limit of a search for one reply."""
    deepest_search: int
    """Depth in plies of the deepest search."""


class Offer(NamedTuple):
    """A player that a person can choose as the opponent."""

    id: str
    kind: str
    label: str
    about: str
    make: "Callable[[], Player]"
    file: Path | None = None
    """The file from which the player is loaded, if there is one."""
    level: int | None = None
    """The number of the level, if it is a level of the run."""
    has_fixed_values: bool = False
    """Whether it always takes its best action, by values that depend only on the position and can be cached."""
    group: str | None = None
    """The name of the group of numbered opponents that it belongs to."""
    number: int | None = None
    is_default: bool = False
    """Whether it is selected at first in its group."""
    is_recommended: bool = False
    """Whether it is selected at first: one of the strongest players of a large game."""
    neutral: float = 0.0
    """The value of an even match."""
    span: float | None = 1.0
    """The largest difference from the neutral value; None: unlimited."""
    is_slow: bool = False
    """Whether it may take seconds to reply."""
    learns: bool = False
    """Whether it learns from its matches."""


class Offering(NamedTuple):
    """What a kind of players offers, and where its offers stand in the list."""

    make: Callable[["Game", Path, OfferLimits], Iterator[Offer]]
    """(game, run_dir, limits) to the opponents. `run_dir` is the folder of the run the game is played in."""
    place: int
    """Kinds with lower places come first; those of other packages have the place LAST."""
    needs_solution: bool = False
    """Whether it is offered only in games that can be solved at once, which takes seconds to find out."""


LAST = 100


def _nothing(game: "Game", run_dir: Path, limits: OfferLimits) -> Iterator[Offer]:
    yield from ()


NOT_OFFERED = Offering(_nothing, LAST)
