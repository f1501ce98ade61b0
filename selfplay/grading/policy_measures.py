"""The policies of levels: their entropy, and how often search agrees with them.

In a large game they are measured in sampled positions; RUN_DIR/comparison/policies.csv then has a row per level. In a
game that can be enumerated it has the exact grade of each way in which a level can play: by its policy alone, by its
values, by search.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.games import Game
from selfplay.games.kernels import distinct_positions
from selfplay.games.state import State
from selfplay.grading.proof import FIRST, Grader, Lines, is_unbeatable, lines_text
from selfplay.matches.arena import play_matches
from selfplay.players.agent import Agent
from selfplay.players.capabilities import policy_of
from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer
from selfplay.players.player_names import make_player
from selfplay.runs.run_folder import RunContext
from selfplay.settings.matches import SEATS
from selfplay.settings.run import Settings

SIMULATIONS = 32
MATCHES, POSITIONS = 100, 500


Row = dict[str, Any]


def measure_policies(context: RunContext[Settings], levels: Sequence[int]) -> list[Row]:
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


def _measure(run_dir: Path, game: Game, level: int, state: State) -> Row:
    policy, search = (
        policy_of(make_player(name, game, run_dir), state).argmax(dim=1)
        for name in (f"policy:{level}", f"mcts:level:{level}?simulations={SIMULATIONS}")
    )
    entropy = float(policy_entropies(run_dir, game, level, state).mean())
    agreement = float((policy == search).double().mean())
    row = {"level": level, "player": f"policy:{level}", "positions": state.batch_size}
    return {**row, "search_agreement": agreement, "policy_entropy": entropy}


def policy_entropies(run_dir: Path, game: Game, level: int, state: State) -> Tensor:
    """float64[B]: the entropy of the policy head in unfinished positions, in nats."""
    logits = Agent.of_level(run_dir, level, game).policy().evaluate(state).logits.double()
    logits = logits.masked_fill(~game.legal_action_mask(state), -torch.inf)
    entropies: Tensor = torch.special.entr(torch.softmax(logits, dim=1)).sum(dim=1)
    return entropies


def policy_text(measures: Sequence[Row]) -> list[str]:
    """A sentence about the policy of the newest level; none without policies."""
    if not measures:
        return []
    row = measures[-1]
    return [
        f"In {row['search_agreement']:.3f} of {row['positions']} positions the policy of level {row['level']} chooses "
        f"the action of a search with {SIMULATIONS} simulations; its entropy is {row['policy_entropy']:.2f} nats."
    ]


SIMULATIONS_OF_WAYS = (2, 8, 32)


def ways_of_playing(run_dir: Path, game: Game, levels: Sequence[int], grader: Grader) -> list[Row]:
    """The policy alone, the values alone, and searches of each level. Raises SettingError without a policy head."""
    state, is_open = grader.graph.state, ~grader.graph.terminated
    rows: list[Row] = []
    for level in levels:
        entropy = float(policy_entropies(run_dir, game, level, state.select(~state.terminated)).mean())
        names = [f"policy:{level}", f"level:{level}"]
        names += [f"mcts:level:{level}?simulations={simulations}" for simulations in SIMULATIONS_OF_WAYS]
        players = [make_player(name, game, run_dir) for name in names]
        actions = [grader.policies(player)[FIRST].argmax(axis=1) for player in players]
        for name, player, chosen in zip(names, players, actions, strict=True):
            agreement = float((chosen == actions[-1])[is_open].mean())
            row = {"level": level, "player": name, **grader.grade(player).fields(), "search_agreement": agreement}
            rows.append({**row, "policy_entropy": entropy if name == names[0] else None})
    return rows


def ways_text(ways: Sequence[Row]) -> str:
    """A line for each way in which the newest of the levels plays; empty without any."""
    return "\n".join(_sentence(way) for way in ways if way["level"] == ways[-1]["level"])


def _sentence(way: Row) -> str:
    optimal = f"optimal in {way['optimal_action_rate']:.4f} of all positions"
    first, second = (Lines(way[f"losing_lines_{seat}"], way[f"lines_{seat}"]) for seat in SEATS)
    if is_unbeatable((first, second)):
        return f"{way['player']} cannot lose; {optimal}."
    lines = f"{lines_text(first)} lines moving first and {lines_text(second)} moving second"
    return f"{way['player']} can lose {lines}; {optimal}."
