"""The policies of levels of a large game in sampled positions: how sure they are, and how often search agrees.

RUN_DIR/comparison/policies.csv then has a row per level.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.games import Game
from selfplay.games.kernels import distinct_positions
from selfplay.games.state import State
from selfplay.grading.table_columns import Column
from selfplay.matches.arena import play_matches
from selfplay.players.agent import Agent
from selfplay.players.capabilities import policy_of
from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer
from selfplay.players.player_names import make_player
from selfplay.runs.run_folder import RunContext
from selfplay.settings.run import Settings

SIMULATIONS = 32
MATCHES, POSITIONS = 100, 500


class PolicyMeasure(NamedTuple):
    """The policy of a level in a number of positions."""

    level: int
    positions: int
    entropy: float
    """Mean entropy of the policy head, in nats."""
    agreement: float
    """Share of the positions in which its most probable action is that of the search."""


POLICY_COLUMNS: Sequence[Column[PolicyMeasure]] = (
    Column("level", "the level", lambda measure: measure.level, int),
    Column("player", "the player's name", lambda measure: f"policy:{measure.level}", str),
    Column("positions", "number of sampled positions, the same for all levels", lambda measure: measure.positions, int),
    Column(
        "search_agreement",
        f"share of the positions in which its action is that of the search with {SIMULATIONS} simulations",
        lambda measure: measure.agreement,
    ),
    Column("policy_entropy", "mean entropy of the policy head, in nats", lambda measure: measure.entropy, decimals=4),
)


def measure_policies(context: RunContext[Settings], levels: Sequence[int]) -> list[PolicyMeasure]:
    """The policies of these levels, in positions of matches that the policy of the last one plays against itself.

    Both players explore with `settings.comparison.epsilons`. Raises SettingError if a level has no policy head.
    """
    run_dir, game = context.run.path, context.game
    state = sampled_positions(context, levels[-1])
    return [_measure(run_dir, game, level, state) for level in levels]


def sampled_positions(context: RunContext[Settings], level: int) -> State:
    """Up to POSITIONS distinct unfinished positions, spread evenly over the plies of MATCHES matches."""
    settings, game = context.settings, context.game
    player = make_player(f"policy:{level}", game, context.run.path)
    exploring = EpsilonGreedyPlayer(game, player, settings.comparison.epsilons)
    key = stream_key(settings.seed, level, Activity.POLICY_POSITIONS)
    (record,) = play_matches(game, (exploring, exploring), range(MATCHES), key, batch_size=MATCHES)
    every = State(*(torch.cat(fields) for fields in zip(*record.states, strict=True)))
    unfinished = every.select(~every.terminated)
    found = unfinished.select(distinct_positions(unfinished)[0])
    count = min(POSITIONS, found.batch_size)
    return found.select(torch.linspace(0, found.batch_size - 1, count).long())


def _measure(run_dir: Path, game: Game, level: int, state: State) -> PolicyMeasure:
    policy, search = (
        policy_of(make_player(name, game, run_dir), state).argmax(dim=1)
        for name in (f"policy:{level}", f"mcts:level:{level}?simulations={SIMULATIONS}")
    )
    entropy = float(policy_entropies(run_dir, game, level, state).mean())
    return PolicyMeasure(level, state.batch_size, entropy, float((policy == search).double().mean()))


def policy_entropies(run_dir: Path, game: Game, level: int, state: State) -> Tensor:
    """float64[B]: the entropy of the policy head in unfinished positions, in nats."""
    logits = Agent.of_level(run_dir, level, game).policy().evaluate(state).logits.double()
    logits = logits.masked_fill(~game.legal_action_mask(state), -torch.inf)
    entropies: Tensor = torch.special.entr(torch.softmax(logits, dim=1)).sum(dim=1)
    return entropies


def policy_text(measures: Sequence[PolicyMeasure]) -> list[str]:
    """A sentence about the policy of the newest level; none without policies."""
    if not measures:
        return []
    level, positions, entropy, agreement = measures[-1]
    return [
        f"In {agreement:.3f} of {positions} positions the policy of level {level} chooses the action of a search with "
        f"{SIMULATIONS} simulations; its entropy is {entropy:.2f} nats."
    ]
