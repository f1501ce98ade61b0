"""`random`: the random player."""

from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.players.player_names import PlayerKind, PlayerName

if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.players.player import Player


def _make(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.players.random import RandomPlayer

    return RandomPlayer(game)


KIND = PlayerKind("random", "every legal action with the same probability", _make)
