"""`policy:L`: the policy head of an agent of a run, without search."""

from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.players.kinds.level import level_agent, level_files
from selfplay.players.player_names import Option, PlayerKind, PlayerName

if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.players.player import Player


def _make(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.players.network_evaluator import PolicyNetPlayer

    evaluator = level_agent(name, game, run_dir).policy(symmetries=name.options["symmetries"])
    return PolicyNetPlayer(game, evaluator, name.text)


KIND = PlayerKind(
    "policy:L",
    "the most promising action by the policy head of level L, without search",
    _make,
    (Option("symmetries", bool, False), Option("run_dir")),
    files=level_files,
)
