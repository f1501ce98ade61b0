"""`perfect`: perfect play by exhaustive enumeration."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.players.offers import Offer, Offering, OfferLimits
from selfplay.players.player_names import Option, PlayerKind, PlayerName

if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.players.player import Player


def _make(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.games.position_graph import positions_of
    from selfplay.players.perfect import PerfectPlayer

    return PerfectPlayer(positions_of(game.name), name.options["ties"])


def _offers(game: "Game", run_dir: Path, limits: OfferLimits) -> Iterator[Offer]:
    from selfplay.players.perfect import perfect_player_of

    player = perfect_player_of(game)
    if player is not None:
        yield Offer("perfect", "perfect", "Perfect play", "knows every position", lambda: player)


KIND = PlayerKind(
    "perfect",
    "perfect play, in games that can be enumerated",
    _make,
    (Option("ties", str, "random"),),
    offering=Offering(_offers, 7, needs_solution=True),
)
