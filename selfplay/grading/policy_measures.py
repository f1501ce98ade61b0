"""The policies of levels: how sure they are, and how often search agrees.

In a large game they are measured in sampled positions; RUN_DIR/comparison/policies.csv then has a row per level. In a
game that can be enumerated it has the exact grade of each way in which a level can play: by its policy alone, by its
values, by search.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.games import Game
from selfplay.games.kernels import distinct_positions
from selfplay.games.state import State
from selfplay.grading.proof import FIRST, Grade, Grader, is_unbeatable, lines_text
from selfplay.grading.tables import Row
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

    def fields(self) -> Row:
        """The row of policies.csv."""
        row: Row = {"level": self.level, "player": f"policy:{self.level}", "positions": self.positions}
        return {**row, "search_agreement": self.agreement, "policy_entropy": self.entropy}


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


SIMULATIONS_OF_WAYS = (2, 8, 32)


class WayOfPlaying(NamedTuple):
    """How a level plays in one of these ways."""

    level: int
    player: str
    """The name of the player, as in `selfplay.players.player_names`."""
    grade: Grade
    agreement: float
    """Share of all positions in which its action is that of the search with the most simulations."""
    entropy: float | None
    """Mean entropy of the policy head over all positions, in nats; None for the other ways."""

    def fields(self) -> Row:
        """The row of policies.csv, and other fields."""
        row: Row = {"level": self.level, "player": self.player, **self.grade.fields()}
        return {**row, "search_agreement": self.agreement, "policy_entropy": self.entropy}


def ways_of_playing(run_dir: Path, game: Game, levels: Sequence[int], grader: Grader) -> list[WayOfPlaying]:
    """The policy alone, the values alone, and searches of each level. Raises SettingError without a policy head."""
    return [way for level in levels for way in _ways_of_level(run_dir, game, level, grader)]


def _ways_of_level(run_dir: Path, game: Game, level: int, grader: Grader) -> Iterator[WayOfPlaying]:
    state = grader.graph.state
    entropy = float(policy_entropies(run_dir, game, level, state.select(~state.terminated)).mean())
    names = [f"policy:{level}", f"level:{level}"]
    names += [f"mcts:level:{level}?simulations={simulations}" for simulations in SIMULATIONS_OF_WAYS]
    players = [make_player(name, game, run_dir) for name in names]
    actions = [grader.policies(player)[FIRST].argmax(axis=1) for player in players]
    is_open = ~grader.graph.terminated
    for name, player, chosen in zip(names, players, actions, strict=True):
        agreement = float((chosen == actions[-1])[is_open].mean())
        yield WayOfPlaying(level, name, grader.grade(player), agreement, entropy if name == names[0] else None)


def ways_text(ways: Sequence[WayOfPlaying]) -> str:
    """A line for each way in which the newest of the levels plays; empty without any."""
    lines = [_sentence(way) for way in ways if way.level == ways[-1].level]
    return "".join(f"{line}\n" for line in lines)


def _sentence(way: WayOfPlaying) -> str:
    optimal = f"optimal in {way.grade.optimal_action_rate:.4f} of all positions"
    if is_unbeatable(way.grade.lines):
        return f"{way.player} cannot lose; {optimal}."
    first, second = map(lines_text, way.grade.lines)
    return f"{way.player} can lose {first} lines moving first and {second} moving second; {optimal}."
