"""The judge: results that can be forced are exact, and the move of a match is compared with the best one."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from selfplay.games import make_game
from selfplay.playing.hints import hint, judge_of
from selfplay.playing.judge import Judge
from selfplay.playing.session import Session

BREAKTHROUGH = make_game("breakthrough")


@pytest.fixture(scope="module")
def judge() -> Judge:
    return judge_of(BREAKTHROUGH)


def late_positions(count):
    """Positions shortly before the end of random matches."""
    generator, found = np.random.default_rng(5), []
    while len(found) < count:
        states = [BREAKTHROUGH.init()]
        while not bool(states[-1].terminated):
            legal = BREAKTHROUGH.legal_action_mask(states[-1])[0].nonzero()[:, 0].numpy()
            states.append(BREAKTHROUGH.step(states[-1], torch.tensor([generator.choice(legal)])))
        found.append(states[-4])
    return found


@cache
def forced(key, depth):
    """The result that the player to move can force in this number of plies: 1, -1, or 0 for none."""
    state = BREAKTHROUGH.state_at(torch.tensor([key]))
    if bool(state.terminated):
        return int(state.returns_to(state.current_player))
    if depth == 0:
        return 0
    legal = BREAKTHROUGH.legal_action_mask(state)[0].nonzero()[:, 0]
    after = BREAKTHROUGH.step_unchecked(state.select(torch.zeros_like(legal)), legal)
    return max(-forced(tuple(position), depth - 1) for position in after.position.tolist())


@pytest.mark.slow
def test_results_that_can_be_forced_are_exact_and_a_move_that_gives_them_away_is_a_blunder(judge):
    number = 0
    for state in late_positions(3):
        estimate = judge.estimate(state)
        for action in BREAKTHROUGH.legal_action_mask(state)[0].nonzero()[:, 0].tolist():
            after = BREAKTHROUGH.step(state, torch.tensor([action]))
            if result := -forced(tuple(after.position[0].tolist()), 2):
                number += 1
                assert estimate.knows(action)
                assert (estimate.value(action), estimate.words(action)) == (result, "wins" if result > 0 else "loses")
                if result < 0 and estimate.value(estimate.best) == 1:
                    assert estimate.grade(action) == "blunder"
                elif result > 0:
                    assert estimate.grade(action) is None
    assert number > 10


@pytest.mark.slow
def test_any_move_is_valued_if_it_is_to_be_compared_with_the_best_one():
    game = make_game("gomoku")
    judge, state = judge_of(game), game.init()
    alone, moves = judge.estimate(state), game.legal_action_mask(state)[0].nonzero()[:, 0].tolist()
    others = [action for action in moves if action != alone.best]
    assert {alone.value(action) for action in others} == {None}
    every = judge.estimate(state, values_all=True)
    assert (every.best, every.value(every.best)) == (alone.best, alone.value(alone.best))
    for action in others[:3]:
        estimate = judge.estimate(state, action)
        assert -1 <= estimate.value(action) <= estimate.value(estimate.best)
        # Its search is the same, but the best of many values is not preferred.
        assert every.value(action) == pytest.approx(min(estimate.value(action), alone.value(alone.best)), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("moves", "winning", "losing"),
    [("d3 b3 b2 e5 e1 c4", "c3 d4", ""), ("a5 c1 c3 d1 e1 c2", "a4 d2", ""), ("e2 a2 c5 e1 e5 d3", "d2", "d1 c3")],
)
def test_moves_that_win_have_no_label_and_moves_that_lose_are_blunders_long_before_the_end(moves, winning, losing):
    judge, game = judge_of(make_game("hex_5x5")), make_game("hex_5x5")
    state = game.position_after(moves)
    for text in [*winning.split(), *losing.split()]:
        action = next(one for one in range(game.num_distinct_actions) if game.action_to_string(one) == text)
        estimate = judge.estimate(state, action)
        assert estimate.grade(action) == (None if text in winning else "blunder")
        assert estimate.words(estimate.best) == "wins"


@pytest.mark.slow
def test_hints_do_not_depend_on_the_random_numbers_of_the_match(judge):
    hints = [hint(Session(BREAKTHROUGH, (None, None), key), judge) for key in (1, 2, 3)]
    assert len({(one.action, one.estimate.value(one.action), tuple(one.line[:1])) for one in hints}) == 1


@pytest.mark.slow
def test_an_action_that_is_proved_to_lose_is_not_the_best_while_another_is_open():
    """The search likes d1, which loses; nothing is proved of d2, which wins."""
    game = make_game("hex_5x5")
    judge, state = judge_of(game), game.position_after("e2 a2 c5 e1 e5 d3")
    d1 = game.string_to_action("d1")
    judge.prover = SimpleNamespace(proofs=lambda state: KnownLoss(game, state, d1))
    plain = judge.estimate(state)
    assert plain.best != d1
    assert plain.value(plain.best) > -1
    played = judge.estimate(state, d1)
    assert (played.best == d1, played.value(d1), played.grade(d1)) == (False, -1, None)


class KnownLoss:
    """Proofs that never find more than that one action loses."""

    are_all = False

    def __init__(self, game, state, action):
        self.actions = game.legal_action_mask(state)[0].nonzero()[:, 0].tolist()
        self.results = np.full(game.num_distinct_actions, np.nan, dtype=np.float32)
        self.results[action] = -1

    def prove_best(self, most_visited):
        pass

    def prove(self, actions, most_visited):
        pass
