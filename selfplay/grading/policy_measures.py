"""The policies of levels: their entropy, and how often search agrees with them.

In a large game they are measured in sampled positions; RUN_DIR/comparison/policies.csv then has a row per level. In a
game that can be enumerated it has the exact grade of each way in which a level can play: by its policy alone, by its
values, by search.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import pandas as pd
import torch
from torch import Tensor

from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.games import Game
from selfplay.games.game import SEATS
from selfplay.games.kernels import distinct_positions
from selfplay.games.state import State
from selfplay.grading.measures import Compared, Measure, Panel
from selfplay.grading.proof import FIRST, Grader, Lines, is_unbeatable, lines_text
from selfplay.grading.tables import POLICY_COLUMNS, Columns
from selfplay.matches.arena import play_matches
from selfplay.named_players.names import make_player
from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer
from selfplay.players.player import policy_of
from selfplay.runs.levels import agent_of_level
from selfplay.settings.context import RunContext
from selfplay.settings.run import Settings

SIMULATIONS = 32
MATCHES, POSITIONS = 100, 500


Row = dict[str, Any]


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


def policy_row(run_dir: Path, game: Game, level: int, state: State) -> Row:
    """The row of policies.csv of a level. Raises SettingError if it has no policy head."""
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
    logits = agent_of_level(run_dir, level, game).policy().evaluate(state).logits.double()
    logits = logits.masked_fill(~game.legal_action_mask(state), -torch.inf)
    entropies: Tensor = torch.special.entr(torch.softmax(logits, dim=1)).sum(dim=1)
    return entropies


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


def _sentence(way: Row) -> str:
    optimal = f"optimal in {way['optimal_action_rate']:.4f} of all positions"
    first, second = (Lines(way[f"losing_lines_{seat}"], way[f"lines_{seat}"]) for seat in SEATS)
    if is_unbeatable((first, second)):
        return f"{way['player']} cannot lose; {optimal}."
    lines = f"{lines_text(first)} lines moving first and {lines_text(second)} moving second"
    return f"{way['player']} can lose {lines}; {optimal}."


# ---------------------------------------------------------------------- the measures


class Policies(Measure):
    """The policies of the levels in sampled positions, in a game too large to enumerate."""

    def __init__(self, compared: Compared) -> None:
        super().__init__(compared)
        self.rows = self.measured()

    @classmethod
    def of(cls, compared: Compared) -> Self | None:
        return cls(compared) if compared.settings.has_policies and compared.grader is None else None

    def measured(self) -> list[Row]:
        """The rows of policies.csv, in positions of matches that the policy of the newest level plays against itself.

        Both players explore with `comparison.epsilons`. Raises SettingError if a level has no policy head.
        """
        context, levels = self.compared.context, self.compared.trained
        state = sampled_positions(context, levels[-1])
        return [policy_row(context.run.path, context.game, level, state) for level in levels]

    def tables(self) -> dict[Path, tuple[Columns, Sequence[Row]]]:
        return {self.compared.context.run.policies: (POLICY_COLUMNS, self.rows)}

    def sentences(self, table: pd.DataFrame) -> list[str]:
        row = self.rows[-1]
        return [
            f"In {row['search_agreement']:.3f} of {row['positions']} positions the policy of level {row['level']} "
            f"chooses the action of a search with {SIMULATIONS} simulations; its entropy is "
            f"{row['policy_entropy']:.2f} nats."
        ]

    def panels(self) -> dict[str, list[Panel]]:
        rows = [row for row in self.rows if row["policy_entropy"] is not None]
        columns = ("level", "policy_entropy", "search_agreement")
        levels, entropies, agreements = ([row[name] for row in rows] for name in columns)
        undecided = Panel("How undecided the policy is", "mean entropy (nats)", levels, entropies)
        shares = "share of positions"
        agreeing = Panel("How often the search chooses its action", shares, levels, agreements, top=1.05)
        return {"policies.png": [undecided, agreeing]}


class WaysOfPlaying(Policies):
    """The exact grade of each way in which levels with policies play, in a game that can be enumerated."""

    @classmethod
    def of(cls, compared: Compared) -> Self | None:
        return cls(compared) if compared.settings.has_policies and compared.grader is not None else None

    def measured(self) -> list[Row]:
        compared, grader = self.compared, self.compared.grader
        assert grader is not None, "the game can be enumerated"
        return ways_of_playing(compared.context.run.path, compared.game, compared.trained, grader)

    def sentences(self, table: pd.DataFrame) -> list[str]:
        """A paragraph, with a line for each way in which the newest level plays."""
        return ["", *(_sentence(way) for way in self.rows if way["level"] == self.compared.newest)]
