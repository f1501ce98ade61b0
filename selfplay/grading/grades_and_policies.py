"""Measures of levels without an opponent: exact grades in games that can be enumerated, and policies.

Policies are measured by their entropy, and by how often search agrees with them. In a large game this is done in
sampled positions; policies.csv then has a row per level. In a game that can be enumerated it has the exact grade of
each way in which a level can play: by its policy alone, by its values, by search.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from selfplay.agents.agent import Agent
from selfplay.agents.network_evaluator import PolicyNetPlayer
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.games.distinct_positions import distinct_positions
from selfplay.games.game import SEATS
from selfplay.games.state import State
from selfplay.games.win_draw_loss import mean_of_seats, share_text
from selfplay.grading.compared_players import Compared, Who
from selfplay.grading.measures import Measure, Panel, Shown
from selfplay.grading.proof import FIRST, GRADE_COLUMNS, Grade, Grader, Lines, is_unbeatable, lines_text
from selfplay.matches.series import Series
from selfplay.players.exploring import EpsilonGreedyPlayer
from selfplay.players.mcts import MctsPlayer, TreeSearchParameters
from selfplay.players.player import Player, policy_of
from selfplay.tables import COUNT, ERROR, LINES, SHARE, TEXT, Columns, Row


def _lines_text(lost: int, total: int) -> str:
    return lines_text(Lines(lost, total))


def _three_decimals(share: float) -> str:
    return share_text(share, 3)


class ExactGrades(Measure):
    """How each level plays in every position, against every reply."""

    columns = GRADE_COLUMNS
    shown = (
        Shown("p(loss)", ["exact_loss_vs_random"], share_text, "p(loss): to random, exactly"),
        Shown("lost first", ["losing_lines_first", "lines_first"], _lines_text, "lost: of all lines tried"),
        Shown("lost second", ["losing_lines_second", "lines_second"], _lines_text),
        Shown("optimal", ["optimal_action_rate"], _three_decimals, "optimal: best actions"),
    )

    def __init__(self, compared: Compared, grader: Grader) -> None:
        super().__init__(compared)
        self.grader = grader
        self.grades: dict[Who, Grade] = {level: grader.grade(compared.players[level]) for level in compared.levels}

    @classmethod
    def of(cls, compared: Compared) -> Self | None:
        return None if compared.grader is None else cls(compared, compared.grader)

    @classmethod
    def of_new_level(cls, compared: Compared) -> Row | None:
        grader = compared.grader
        return None if grader is None else grader.grade(compared.players[compared.newest]).fields()

    @property
    def ceiling(self) -> float | None:
        """The largest share of matches that a player who never loses can win against the random player, if known."""
        best = np.mean(self.grader.best_versus_random(never_lose=True))
        return None if np.isnan(best) else float(best)

    def fields(self, who: Who) -> Row:
        return self.grades[who].fields()

    def sentences(self, table: pd.DataFrame) -> list[str]:
        """Whether the newest level can lose, its exact result against the random player, and a shortest lost line."""
        level = self.compared.newest
        grade = self.grades[level]
        lines = [grade.verdict(f"Level {level}"), self._versus_random_text(grade)]
        if not all(self.grader.can_hold(seat) for seat in range(2)):
            missed, total = grade.wins_given_away
            deed = f"gives the win away in {missed} of the" if missed else "plays a winning action in all"
            lines.append(f"Level {level} {deed} {total} positions that the player to move can win.")
        elif proved := [n for n in self.compared.levels if is_unbeatable(self.grades[n].lines)]:
            lines.append(f"Levels proved unbeatable: {_ranges(proved)}.")
        return [*lines, *self._lost_lines(grade)]

    def _versus_random_text(self, grade: Grade) -> str:
        win, draw, loss = mean_of_seats(*grade.versus_random)
        drawn = share_text(draw, rest=win + loss)
        text = f"Against the random player it wins exactly {share_text(win)}, draws {drawn}, loses {share_text(loss)}"
        if self.ceiling is None:
            return f"{text}."
        return f"{text};\na player who never loses can win at most {share_text(self.ceiling)}."

    def _lost_lines(self, grade: Grade) -> list[str]:
        """A shortest lost line in each seat in which perfect play does not lose."""
        lines: list[str] = []
        for seat, actions in enumerate(grade.shortest_loss):
            if actions is not None and self.grader.can_hold(seat):
                lines += [f"A shortest line that level {self.compared.newest} loses, moving {SEATS[seat]}:", ""]
                lines.append(self.compared.game.presentation.line_text(actions))
        return lines


def _ranges(numbers: Sequence[int]) -> str:
    """[1, 2, 3, 7] as "1 to 3, 7"."""
    breaks = np.flatnonzero(np.diff(numbers) != 1) + 1
    runs = [part.tolist() for part in np.split(np.array(numbers), breaks)]
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


# ---------------------------------------------------------------------- policies

POLICY_COLUMNS: Columns = {
    **{"level": COUNT, "player": TEXT, "positions": COUNT},
    **{f"{lines}_{seat}": LINES for seat in SEATS for lines in ("losing_lines", "lines")},
    **{"optimal_action_rate": SHARE, "search_agreement": SHARE, "policy_entropy": ERROR},
}
"""The columns of policies.csv."""
PolicyRow = dict[str, Any]
SIMULATIONS = 32
MATCHES, POSITIONS = 100, 500


def policy_player(agent: Agent, level: int) -> PolicyNetPlayer:
    """The most promising action by the policy head alone. Raises SettingError if the agent has none."""
    return PolicyNetPlayer(agent.game, agent.policy(), f"policy:{level}")


def search_player(agent: Agent, level: int, simulations: int) -> MctsPlayer:
    """Tree search with the agent's network, without noise."""
    name = f"mcts:level:{level}?simulations={simulations}"
    return TreeSearchParameters(simulations=simulations).search_player(agent.game, agent.evaluator(), name)


def policy_positions(agent: Agent, level: int, epsilons: Sequence[float], seed: int) -> State:
    """Up to POSITIONS distinct unfinished positions, spread evenly over the plies of MATCHES matches.

    The policy of the agent plays them against itself, with these exploration rates by ply.
    """
    game = agent.game
    exploring = EpsilonGreedyPlayer(game, policy_player(agent, level), epsilons)
    key = stream_key(seed, level, Activity.POLICY_POSITIONS)
    (record,) = Series(range(MATCHES), key, batch_size=MATCHES).records(game, (exploring, exploring))
    every = State(*(torch.cat(fields) for fields in zip(*record.states, strict=True)))
    unfinished = every.select(~every.terminated)
    found = unfinished.select(distinct_positions(unfinished.position)[0])
    count = min(POSITIONS, found.batch_size)
    return found.select(torch.linspace(0, found.batch_size - 1, count).long())


def policy_row(agent: Agent, level: int, state: State) -> PolicyRow:
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


def ways_of_playing(agents: Mapping[int, Agent], grader: Grader) -> list[PolicyRow]:
    """The policy alone, the values alone, and searches of each level. Raises SettingError without a policy head."""
    state, is_open = grader.graph.state, ~grader.graph.terminated
    rows: list[PolicyRow] = []
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


def _sentence(way: PolicyRow) -> str:
    optimal = f"optimal in {share_text(way['optimal_action_rate'])} of all positions"
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

    def measured(self) -> list[PolicyRow]:
        """The rows of policies.csv, in positions of matches that the policy of the newest level plays against itself.

        Both players explore with the `epsilons` of the comparison. Raises SettingError if a level has no policy head.
        """
        agents, newest = self.compared.agents, self.compared.newest
        state = policy_positions(agents[newest], newest, self.compared.parameters.epsilons, self.compared.seed)
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

    def measured(self) -> list[PolicyRow]:
        assert self.compared.grader is not None, "the game can be enumerated"
        return ways_of_playing(self.compared.agents, self.compared.grader)

    def sentences(self, table: pd.DataFrame) -> list[str]:
        """A paragraph, with a line for each way in which the newest level plays."""
        return ["", *(_sentence(way) for way in self.rows if way["level"] == self.compared.newest)]
