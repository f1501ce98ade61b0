"""The tree searches that are offered as opponents."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.players.offers import Offer, OfferLimits

# The kinds of players import this, and --help reads them without torch.
if TYPE_CHECKING:
    from selfplay.games import Game

ROLLOUTS, WITH_NETWORK = 1000, 200
"""Simulations for each action: random matches take microseconds each, networks milliseconds."""


def mcts_offers(game: "Game", run_dir: Path, limits: OfferLimits) -> Iterator[Offer]:
    """A search with random matches, and one with the newest level of the run."""
    from selfplay.players.registry import make_player
    from selfplay.runs.run_folder import RunFolder

    rollouts = f"mcts:rollouts?simulations={ROLLOUTS}"
    yield Offer(
        "mcts-rollouts",
        "mcts",
        "Tree search, random matches",
        f"tries its moves in {ROLLOUTS:,} random matches and prefers those that win",
        partial(make_player, rollouts, game, run_dir),
        is_slow=True,
    )
    run = RunFolder(run_dir)
    for level in run.trained_levels()[-1:]:
        name = f"mcts:level:{level}?simulations={WITH_NETWORK}"
        yield Offer(
            "mcts-level",
            "mcts",
            f"Tree search, level {level}",
            f"looks ahead with the newest level, in {WITH_NETWORK} simulations",
            partial(make_player, name, game, run_dir),
            file=run.agent(level),
            is_recommended=True,
            is_slow=True,
        )
