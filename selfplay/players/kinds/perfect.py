"""`perfect`: perfect play by exhaustive enumeration."""

from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.players.player_names import Option, PlayerKind, PlayerName

if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.players.player import Player


def _make(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.games.position_graph import positions_of
    from selfplay.players.perfect import PerfectPlayer

    return PerfectPlayer(positions_of(game.name), name.options["ties"])


KIND = PlayerKind("perfect", "perfect play, in games that can be enumerated", _make, (Option("ties", str, "random"),))
