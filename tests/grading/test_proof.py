"""Exact grades, compared with known figures, with brute force over all lines, and with sampling."""

from functools import cache

import numpy as np
import pytest
import torch
from torch import nn

from selfplay.architectures import Output
from selfplay.games import Game, State, make_game
from selfplay.games.position_graph import enumerate_positions
from selfplay.grading.proof import FIRST, SECOND, Grader
from selfplay.matches.series import Series
from selfplay.players.perfect import PerfectPlayer
from selfplay.players.player import Player, RandomPlayer, one_hot_policy
from selfplay.players.value_net import ValueNetPlayer
from tests.support.dots import TwoBoxes


def keys_of(state: State) -> list[tuple[int, ...]]:
    """The packed positions as keys of a dictionary."""
    return list(map(tuple, state.position.tolist()))


class TablePlayer(Player):
    """Plays a fixed action in every position of a graph."""

    name = "table"

    def __init__(self, grader: Grader, actions: np.ndarray) -> None:
        self.game = grader.graph.game
        self.actions = dict(zip(keys_of(grader.graph.state), actions.tolist(), strict=True))

    def act(self, state: State, draws) -> torch.Tensor:
        return torch.tensor([self.actions[key] for key in keys_of(state)])

    def policy(self, state: State) -> torch.Tensor:
        return one_hot_policy(self.act(state, None), self.game.legal_action_mask(state))


@pytest.fixture(scope="module")
def tictactoe() -> Grader:
    return Grader(enumerate_positions(make_game("tictactoe")))


@pytest.fixture(scope="module")
def sumto100() -> Grader:
    return Grader(enumerate_positions(make_game("sumto100")))


def perfect_player(grader: Grader) -> TablePlayer:
    return TablePlayer(grader, grader.optimal.argmax(axis=1))


def lowest_action_player(grader: Grader) -> TablePlayer:
    return TablePlayer(grader, grader.graph.legal.argmax(axis=1))


def lines_by_brute_force(game: Game, player: Player, seat: int) -> list[tuple[int, tuple[int, ...]]]:
    """(return of the player, actions) of every line, walked one match at a time with the public methods."""
    lines = []
    stack = [(game.init(), ())]
    while stack:
        state, actions = stack.pop()
        if state.terminated.item():
            result = int(state.returns.item())
            lines.append((result if seat == 0 else -result, actions))
            continue
        if state.current_player.item() == seat:
            choices = [int(player.act(state, None))]
        else:
            choices = game.legal_action_mask(state)[0].nonzero()[:, 0].tolist()
        stack += [(game.step(state, torch.tensor([a])), (*actions, a)) for a in choices]
    return lines


def test_the_random_player_has_the_known_number_of_lines(tictactoe: Grader) -> None:
    grade = tictactoe.grade(RandomPlayer(tictactoe.graph.game))
    # 255,168 matches: 131,184 won by X, 77,904 by O, 46,080 drawn.
    assert grade.lines[FIRST] == (77_904, 255_168)
    assert grade.lines[SECOND] == (131_184, 255_168)


def test_random_against_random_has_the_known_probabilities(tictactoe: Grader) -> None:
    first, second = tictactoe.grade(RandomPlayer(tictactoe.graph.game)).versus_random
    assert first == pytest.approx((737 / 1260, 8 / 63, 121 / 420), abs=1e-12)
    assert second == pytest.approx((121 / 420, 8 / 63, 737 / 1260), abs=1e-12)


def test_the_ceiling_of_players_that_never_lose(tictactoe: Grader) -> None:
    first, second = tictactoe.best_versus_random(never_lose=True)
    assert first == pytest.approx(0.99479, abs=5e-6)
    assert second == pytest.approx(0.91640, abs=5e-6)
    assert (first + second) / 2 == pytest.approx(0.95560, abs=5e-6)


@pytest.fixture(scope="module")
def boxes() -> Grader:
    """A game in which the same player may move again."""
    return Grader(enumerate_positions(TwoBoxes()))


@pytest.mark.parametrize("seat", [FIRST, SECOND])
@pytest.mark.parametrize("name", ["tictactoe", "boxes"])
def test_lines_equal_brute_force(request: pytest.FixtureRequest, name: str, seat: int) -> None:
    grader = request.getfixturevalue(name)
    player = lowest_action_player(grader)
    lines = lines_by_brute_force(grader.graph.game, player, seat)
    grade = grader.grade(player)
    lost = [actions for result, actions in lines if result < 0]
    assert grade.lines[seat] == (len(lost), len(lines))
    assert grade.shortest_loss[seat] in lost
    assert len(grade.shortest_loss[seat]) == min(map(len, lost))


def test_a_perfect_player_cannot_lose_and_is_always_optimal(tictactoe: Grader) -> None:
    grade = tictactoe.grade(perfect_player(tictactoe))
    assert grade.lines[FIRST].lost == grade.lines[SECOND].lost == 0
    assert grade.shortest_loss == (None, None)
    assert grade.optimal_action_rate == 1.0
    assert grade.wins_given_away.lost == 0
    assert all(result.losses == 0 for result in grade.versus_random)


def test_one_wrong_action_is_found(tictactoe: Grader) -> None:
    """A perfect player that answers X in a corner on an edge instead of in the centre loses some line."""
    game = tictactoe.graph.game
    player = perfect_player(tictactoe)
    corner = game.state_after(["0,0"])
    player.actions[keys_of(corner)[0]] = game.string_to_action("0,1")
    grade = tictactoe.grade(player)
    assert not grade.can_lose(FIRST)
    assert grade.can_lose(SECOND)
    assert grade.shortest_loss[SECOND][:2] == (0, 1)
    assert grade.optimal_action_rate == pytest.approx(1 - 1 / 4520)


class PerfectNetwork(nn.Module):
    """Looks up the perfect value of the position that an observation shows, to the player who is not to move."""

    def __init__(self, grader: Grader) -> None:
        super().__init__()
        observations = grader.graph.game.observation_bits(grader.graph.state).tolist()
        self.values = {tuple(o): -v for o, v in zip(observations, grader.perfect, strict=True)}

    def forward(self, observations: torch.Tensor) -> Output:
        values = [self.values.get(tuple(o), 0.0) for o in observations.flatten(1).int().tolist()]
        return Output(torch.tensor(values, dtype=torch.float32))


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("name", ["tictactoe", "boxes"])
def test_values_equal_to_perfect_ones_have_no_error(request: pytest.FixtureRequest, name: str, depth: int) -> None:
    grader = request.getfixturevalue(name)
    grade = grader.grade(ValueNetPlayer(grader.graph.game, PerfectNetwork(grader), depth))
    assert grade.value_error == 0
    assert grade.optimal_action_rate == 1


def test_chances_against_the_random_player_are_those_of_played_matches(boxes: Grader) -> None:
    perfect = PerfectPlayer(boxes.graph, ties="lowest")
    chances = boxes.grade(perfect).versus_random
    for seat, chance in enumerate(chances):
        players = (perfect, RandomPlayer(perfect.game))
        series = Series(range(4000), 5, alternate=False).play(perfect.game, players[:: 1 - 2 * seat]).results
        played = series if seat == FIRST else series.reversed()
        assert played.rates == pytest.approx(chance, abs=0.03)
    best = boxes.best_versus_random(never_lose=True)
    assert all(chance.wins <= most for chance, most in zip(chances, best, strict=True))


def test_in_sumto100_only_the_second_player_cannot_hold_its_seat(sumto100: Grader) -> None:
    assert sumto100.can_hold(FIRST)
    assert not sumto100.can_hold(SECOND)
    grade = sumto100.grade(perfect_player(sumto100))
    assert grade.lines[FIRST] == (0, 10**9)
    assert grade.wins_given_away == (0, 91)


def test_a_player_that_depends_on_its_seat_is_graded_by_seat(sumto100: Grader) -> None:
    """In SumTo100 both players meet the same positions; this one plays perfectly only when it moves first."""
    perfect, poor = perfect_player(sumto100), lowest_action_player(sumto100)

    class PerfectMovingFirst(Player):
        name = "perfect moving first"

        def act(self, state: State, draws) -> torch.Tensor:
            return torch.where(state.current_player == FIRST, perfect.act(state, draws), poor.act(state, draws))

        def policy(self, state: State) -> torch.Tensor:
            return torch.where((state.current_player == FIRST)[:, None], perfect.policy(state), poor.policy(state))

    grade, good, bad = map(sumto100.grade, (PerfectMovingFirst(), perfect, poor))
    assert grade.versus_random == (good.versus_random[FIRST], bad.versus_random[SECOND])
    assert grade.lines == (good.lines[FIRST], bad.lines[SECOND])
    assert grade.shortest_loss == (good.shortest_loss[FIRST], bad.shortest_loss[SECOND])
    assert bad.optimal_action_rate < grade.optimal_action_rate < good.optimal_action_rate
    assert grade.wins_given_away == bad.wins_given_away


def test_losses_to_the_best_replies_are_those_of_an_opponent_that_knows_the_policy():
    lines = [{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}]

    @cache
    def loses(random_player: frozenset[int], other: frozenset[int], is_random: bool) -> float:
        if any(line <= random_player for line in lines):
            return 0.0
        if any(line <= other for line in lines):
            return 1.0
        empty = [square for square in range(9) if square not in random_player | other]
        if not empty:
            return 0.0
        if is_random:
            return sum(loses(random_player | {square}, other, False) for square in empty) / len(empty)
        return max(loses(random_player, other | {square}, True) for square in empty)

    nothing: frozenset[int] = frozenset()
    expected = loses(nothing, nothing, True), loses(nothing, nothing, False)
    grader = Grader("tictactoe")
    assert grader.losses_to_best_replies(RandomPlayer(grader.graph.game)) == pytest.approx(expected)
    assert grader.losses_to_best_replies(PerfectPlayer(grader.graph)) == (0.0, 0.0)
