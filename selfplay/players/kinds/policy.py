"""`policy:L`: the policy head of an agent of a run, without search."""

from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.players.player_names import Option, PlayerKind, PlayerName, whole_number

if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.players.player import Player


def _make(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.players.network_evaluator import level_policy
    from selfplay.players.policy_net import PolicyNetPlayer

    level = whole_number(name.text, name.argument, "the level")
    return PolicyNetPlayer(game, level_policy(name.options["run_dir"] or run_dir, level, game), name.text)


KIND = PlayerKind(
    "policy:L",
    "the most promising action by the policy head of level L, without search",
    _make,
    (Option("run_dir"),),
)
