"""`perfect`: perfect play, by exhaustive enumeration or by an exact solver."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.players.offers import OfferedPlayer, OfferLimits
from selfplay.players.player_names import Option, PlayerKind, PlayerName

if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.players.player import Player


def _make(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.games.position_graph import positions_of
    from selfplay.players.perfect import PerfectPlayer, whole_game_solver_player

    ties = name.options["ties"]
    return whole_game_solver_player(game, ties) or PerfectPlayer(positions_of(game.name), ties)


def _offers(game: "Game", run_dir: Path, limits: OfferLimits) -> Iterator[OfferedPlayer]:
    from selfplay.players.perfect import perfect_player_of

    player = perfect_player_of(game)
    if player is not None:
        has_results = player.value_kind == "results"
        yield OfferedPlayer(
            "perfect",
            "perfect",
            "Perfect play",
            "knows the exact value of every move",
            partial(player.with_time_limit, limits.search_seconds),
            span=1.0 if has_results else None,
            is_slow=not has_results,
        )


KIND = PlayerKind(
    "perfect",
    "perfect play, in games that can be enumerated or solved",
    _make,
    (Option("ties", str, "random"),),
    offers=_offers,
    place=7,
    needs_solution=True,
)
