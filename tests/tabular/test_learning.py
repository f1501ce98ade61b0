"""Tabular learning: the compiled loop against plain Python, and how well its tables play."""

import numpy as np
import pytest
import torch

from selfplay.compute.random_numbers import Activity, Draws, Purpose, below, stream_key
from selfplay.games import Game, State
from selfplay.games.position_graph import positions_of
from selfplay.grading.proof import FIRST, SECOND, Grader
from selfplay.matches.series import Series
from selfplay.players.tabular import TabularPlayer
from selfplay.tabular.learning import (
    BACKWARD_VALUE,
    TEMPORAL_DIFFERENCE,
    UpdateRule,
    initial_values,
    learn_matches,
)
from tests.support.dots import TwoBoxes

KEY = stream_key(3, 0, Activity.TABULAR_TRAINING)


Board = tuple[int, ...]
"""The packed position and the player to move."""


class Learner:
    """One of two players that learn, one match at a time, with a dictionary for its table."""

    def __init__(self, game: Game, number: int, rule: UpdateRule, step_size: float, epsilon: float) -> None:
        self.game, self.number, self.rule = game, number, rule
        self.step_size, self.epsilon = step_size, epsilon
        self.table: dict[Board, float] = {}

    def value(self, state: State) -> float:
        return self.table.setdefault(board_of(state), self.initial_value(state))

    def initial_value(self, state: State) -> float:
        if not bool(state.terminated):
            return 0.5
        result = float(state.returns_to(torch.tensor([self.number])))
        return {1.0: 1.0, 0.0: 0.5 if self.rule is TEMPORAL_DIFFERENCE else 0.0, -1.0: 0.0}[result]

    def choose(self, state: State, draws: Draws) -> tuple[int, bool]:
        """The action, and whether it is exploratory."""
        legal = self.game.legal_action_mask(state)[0].nonzero()[:, 0].tolist()
        if float(draws.uniforms(Purpose.EXPLORE)) < self.epsilon:
            return legal[int(below(draws.bits(Purpose.RANDOM_ACTION), torch.tensor(len(legal))))], True
        values = [self.value(self.game.step(state, torch.tensor([action]))) for action in legal]
        best = [action for action, value in zip(legal, values, strict=True) if value == max(values)]
        if self.rule is BACKWARD_VALUE:
            return best[0], False
        return best[int(below(draws.bits(Purpose.TIE_BREAK), torch.tensor(len(best))))], False

    def learn(self, states: list[State], own_exploration: list[bool]) -> None:
        if self.rule is BACKWARD_VALUE:
            target = 1.0 if float(states[-1].returns_to(torch.tensor([self.number]))) == 1 else 0.0
            for state in reversed(states[1:]):
                target = self.value(state) + self.step_size * (target - self.value(state))
                self.table[board_of(state)] = target
            return
        for t in reversed(range(len(states) - 1)):
            greedy = 0 if own_exploration[t] else 1
            error = greedy * (self.value(states[t + 1]) - self.value(states[t]))
            self.table[board_of(states[t])] = self.value(states[t]) + self.step_size * error


def board_of(state: State) -> Board:
    return state.key()


def learn_in_plain_python(
    game: Game, rule: UpdateRule, matches: int, step_size: float, epsilon: float
) -> list[Learner]:
    learners = [Learner(game, number, rule, step_size, epsilon) for number in range(2)]
    for match in range(matches):
        states, explorers = [game.init()], []
        while not bool(states[-1].terminated):
            mover = int(states[-1].current_player)
            action, explored = learners[mover].choose(states[-1], Draws(KEY, torch.tensor([match]), len(explorers)))
            explorers.append(mover if explored else None)
            states.append(game.step(states[-1], torch.tensor([action])))
        for learner in learners:
            learner.learn(states, [explorer == learner.number for explorer in explorers])
    return learners


@pytest.mark.parametrize("rule", [BACKWARD_VALUE, TEMPORAL_DIFFERENCE], ids=lambda rule: rule.name)
@pytest.mark.parametrize(("name", "matches"), [("tictactoe", 20), ("sumto100", 6), (TwoBoxes(), 60)])
def test_the_compiled_loop_gives_the_tables_of_plain_python(rule: UpdateRule, name: Game | str, matches: int) -> None:
    graph = positions_of(name)
    values = initial_values(graph, rule)
    for _ in learn_matches(graph, values, rule, matches=matches, step_size=0.3, epsilon=0.2, key=KEY, every=7):
        pass
    learners = learn_in_plain_python(graph.game, rule, matches, 0.3, 0.2)
    numbers = {tuple(position): number for number, position in enumerate(graph.state.position.tolist())}
    expected = initial_values(graph, rule)
    for player, learner in enumerate(learners):
        for (*position, to_move), value in learner.table.items():
            expected[player, to_move, numbers[tuple(position)]] = value
    assert np.array_equal(values, expected)
    assert (values != initial_values(graph, rule)).sum() > 100


def learned(rule: UpdateRule, matches: int, seed: int = 0) -> TabularPlayer:
    graph = positions_of("tictactoe")
    values = initial_values(graph, rule)
    step_size, epsilon = (0.5, 0.1) if rule is BACKWARD_VALUE else (0.1, 0.01)
    key = stream_key(seed, 0, Activity.TABULAR_TRAINING)
    for _ in learn_matches(graph, values, rule, matches=matches, step_size=step_size, epsilon=epsilon, key=key):
        pass
    return TabularPlayer(graph, values, rule.ties, rule.name)


@pytest.mark.parametrize("seed", range(2))
def test_two_policies_of_temporal_differences_draw_all_their_matches(seed: int) -> None:
    player = learned(TEMPORAL_DIFFERENCE, 100_000, seed)
    result = Series(range(1000), stream_key(seed, 0, Activity.NAMED_PLAYERS)).play(player.game, (player, player))
    assert result.results == (0, 1000, 0)


def test_backward_values_beat_the_random_player_and_lose_nothing_moving_first() -> None:
    """Moving second they lose some lines: to them a draw is worth no more than a loss."""
    grade = Grader(positions_of("tictactoe")).grade(learned(BACKWARD_VALUE, 20_000, 0))
    assert not grade.can_lose(FIRST)
    assert grade.versus_random[FIRST].wins > 0.95
    assert grade.versus_random[SECOND].wins > 0.7
