"""`openspiel:BOT`: a bot of OpenSpiel."""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.players.player_names import Option, PlayerKind, PlayerName
from selfplay.settings.checks import require_package

if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.players.player import Player


def _make(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    require_package(f"player {name.text!r}", "pyspiel", "openspiel")
    # By its name, because adapters stand above players.
    adapter = import_module("selfplay.adapters.open_spiel")
    made: Player = adapter.SpielPlayer(game, name.argument, name.options["simulations"])
    return made


KIND = PlayerKind(
    "openspiel:BOT",
    "a bot of OpenSpiel, mcts or random, if the package is installed",
    _make,
    (Option("simulations", int, 100),),
)
