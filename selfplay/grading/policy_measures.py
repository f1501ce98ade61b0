"""The policies of levels: their entropy, and how often search agrees with them.

In a large game they are measured in sampled positions; policies.csv then has a row per level. In a game that can be
enumerated it has the exact grade of each way in which a level can play: by its policy alone, by its values, by search.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import pandas as pd
import torch
from torch import Tensor

from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.games.game import SEATS
from selfplay.games.kernels import distinct_positions
from selfplay.games.state import State
from selfplay.grading.measures import Compared, Measure, Panel
from selfplay.grading.proof import FIRST, Grader, Lines, is_unbeatable, lines_text
from selfplay.grading.tables import POLICY_COLUMNS, Columns
from selfplay.matches.arena import play_matches
from selfplay.players.agent import Agent
from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer
from selfplay.players.mcts import MctsPlayer
from selfplay.players.network_evaluator import PolicyNetPlayer
from selfplay.players.player import Player, policy_of
from selfplay.search.mcts.puct import puct
from selfplay.search.mcts.tree_search import TreeSearch

SIMULATIONS = 32
MATCHES, POSITIONS = 100, 500


Row = dict[str, Any]


def policy_player(agent: Agent, level: int) -> PolicyNetPlayer:
    """The most promising action by the policy head alone. Raises SettingError if the agent has none."""
    return PolicyNetPlayer(agent.game, agent.policy(), f"policy:{level}")


def search_player(agent: Agent, level: int, simulations: int) -> MctsPlayer:
    """Tree search with the agent's network, without noise."""
    search = TreeSearch(agent.game, agent.evaluator(), puct(), simulations)
    return MctsPlayer(search, name=f"mcts:level:{level}?simulations={simulations}")


def sampled_positions(agent: Agent, level: int, epsilons: Sequence[float], seed: int) -> State:
    """Up to POSITIONS distinct unfinished positions, spread evenly over the plies of MATCHES matches.

    The policy of the agent plays them against itself, with these exploration rates by ply.
    """
    game = agent.game
    exploring = EpsilonGreedyPlayer(game, policy_player(agent, level), epsilons)
    key = stream_key(seed, level, Activity.POLICY_POSITIONS)
    (record,) = play_matches(game, (exploring, exploring), range(MATCHES), key, batch_size=MATCHES)
    every = State(*(torch.cat(fields) for fields in zip(*record.states, strict=True)))
    unfinished = every.select(~every.terminated)
    found = unfinished.select(distinct_positions(unfinished)[0])
    count = min(POSITIONS, found.batch_size)
    return found.select(torch.linspace(0, found.batch_size - 1, count).long())


def policy_row(agent: Agent, level: int, state: State) -> Row:
    """The row of policies.csv of a level. Raises SettingError if it has no policy head."""
    policy, search = (
        policy_of(player, state).argmax(dim=1)
        for player in (policy_player(agent, level), search_player(agent, level, SIMULATIONS))
    )
    entropy = float(policy_entropies(agent, state).mean())
    agreement = float((policy == search).double().mean())
    row = {"level": level, "player": f"policy:{level}", "positions": state.batch_size}
    return {**row, "search_agreement": agreement, "policy_entropy": entropy}


def policy_entropies(agent: Agent, state: State) -> Tensor:
    """float64[B]: the entropy of the policy head in unfinished positions, in nats."""
    logits = agent.policy().evaluate(state).logits.double()
    logits = logits.masked_fill(~agent.game.legal_action_mask(state), -torch.inf)
    entropies: Tensor = torch.special.entr(torch.softmax(logits, dim=1)).sum(dim=1)
    return entropies


SIMULATIONS_OF_WAYS = (2, 8, 32)


def ways_of_playing(agents: Mapping[int, Agent], grader: Grader) -> list[Row]:
    """The policy alone, the values alone, and searches of each level. Raises SettingError without a policy head."""
    state, is_open = grader.graph.state, ~grader.graph.terminated
    rows: list[Row] = []
    for level, agent in agents.items():
        entropy = float(policy_entropies(agent, state.select(~state.terminated)).mean())
        players: dict[str, Player] = {f"policy:{level}": policy_player(agent, level), f"level:{level}": agent.player()}
        searches = [search_player(agent, level, simulations) for simulations in SIMULATIONS_OF_WAYS]
        players |= {search.name: search for search in searches}
        actions = [grader.policies(player)[FIRST].argmax(axis=1) for player in players.values()]
        for number, (name, player) in enumerate(players.items()):
            agreement = float((actions[number] == actions[-1])[is_open].mean())
            row = {"level": level, "player": name, **grader.grade(player).fields(), "search_agreement": agreement}
            rows.append({**row, "policy_entropy": None if number else entropy})
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
        return cls(compared) if compared.agents and compared.grader is None else None

    def measured(self) -> list[Row]:
        """The rows of policies.csv, in positions of matches that the policy of the newest level plays against itself.

        Both players explore with the `epsilons` of the comparison. Raises SettingError if a level has no policy head.
        """
        agents, newest = self.compared.agents, self.compared.newest
        state = sampled_positions(agents[newest], newest, self.compared.parameters.epsilons, self.compared.seed)
        return [policy_row(agent, level, state) for level, agent in agents.items()]

    def tables(self) -> dict[str, tuple[Columns, Sequence[Row]]]:
        return {"policies.csv": (POLICY_COLUMNS, self.rows)}

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
        return cls(compared) if compared.agents and compared.grader is not None else None

    def measured(self) -> list[Row]:
        assert self.compared.grader is not None, "the game can be enumerated"
        return ways_of_playing(self.compared.agents, self.compared.grader)

    def sentences(self, table: pd.DataFrame) -> list[str]:
        """A paragraph, with a line for each way in which the newest level plays."""
        return ["", *(_sentence(way) for way in self.rows if way["level"] == self.compared.newest)]
