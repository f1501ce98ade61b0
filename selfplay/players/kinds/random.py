"""`random`: the random player."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.players.offers import OfferedPlayer, OfferLimits
from selfplay.players.player_names import PlayerKind, PlayerName

if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.players.player import Player


def _make(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.players.random import RandomPlayer

    return RandomPlayer(game)


def _offers(game: "Game", run_dir: Path, limits: OfferLimits) -> "Iterator[OfferedPlayer]":
    from selfplay.players.random import RandomPlayer

    yield OfferedPlayer("random", "random", "Random", f"plays {KIND.meaning}", partial(RandomPlayer, game))


KIND = PlayerKind("random", "every legal action with the same probability", _make, offers=_offers, place=3)
