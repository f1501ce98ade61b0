"""Observations of games that declare no shape: every field is shown, large numbers scaled."""

from typing import NamedTuple

import pytest
import torch

from selfplay import Game, Rules, Word, flag, number, numbers, position, rule, squares
from selfplay.errors import ConformanceError
from selfplay.games.conformance import check_game, check_quickly
from tests.support.amazons import Amazons
from tests.support.kalah import SmallKalah

LIMIT = 10


@position
class Position(NamedTuple):
    own: Word = squares(6)
    opp: Word = squares(6)
    walls: Word = squares(6)
    plies: int = number(5)
    left: int = number(2)
    heights: tuple[int, ...] = numbers(6, up_to=3)
    points: tuple[int, ...] = numbers(2, up_to=9)
    odd: int = flag()


@rule
def legal_actions(p):
    return 63 & ~(p.own | p.opp | p.walls) if p.plies < LIMIT else 0


@rule
def play(p, action):
    walls = p.walls | 1 << 5 if action == 4 else p.walls
    return Position(p.opp, p.own | 1 << action, walls, p.plies + 1, 3 - p.left, p.heights, p.points, 1 - p.odd)


@rule
def is_terminal(p):
    return legal_actions(p) == 0


@rule
def return_to_move(p):
    return -1


class Fields(Game):
    name = "fields"
    board = (2, 3)
    num_distinct_actions = 6
    max_game_length = 6
    rules = Rules(
        Position(0, 0, 0, 0, 2, (0, 1, 2, 3, 0, 3), (4, 9), 0), legal_actions, play, is_terminal, return_to_move
    )


class OfBits(Fields):
    """The same with a plane for each bit of each number."""

    name = "of_bits"
    observation_shape = (3 + 5 + 2 + 1 + 2 + 1, 2, 3)


@position
class Shown(NamedTuple):
    own: Word = squares(6)
    opp: Word = squares(6)
    stones: Word = squares(6)
    left: int = number(5)


@rule
def observed(p):
    return Shown(p.own, p.opp, p.own | p.opp, LIMIT - p.plies)


class Observed(Fields):
    """Shows something else than its fields."""

    name = "observed"
    rules = Fields.rules._replace(observed=observed)


class WithoutBoard(Fields):
    name = "without_board"
    board = None


def test_boards_and_small_numbers_are_planes_and_large_numbers_are_scaled():
    game = Fields()
    assert game.observation_shape == (3 + 1 + 2 + 1 + 2 + 1, 2, 3)
    seen = game.observe(game.follow([0, 4]))[0]
    opp, own, walls, plies, low, high, heights, one, other, odd = seen
    assert (own.nonzero().tolist(), opp.nonzero().tolist(), walls.nonzero().tolist()) == ([[0, 0]], [[1, 1]], [[1, 2]])
    assert torch.equal(heights, torch.tensor([[0, 1, 2], [3, 0, 3]]) / 3)
    constants = {plies: 2 / 31, low: 0, high: 1, one: 4 / 9, other: 1, odd: 0}
    assert all(torch.equal(plane, torch.full((2, 3), value)) for plane, value in constants.items())


def test_a_declared_shape_may_show_the_bits_of_numbers():
    game = OfBits()
    seen = game.observe(game.follow([0, 4]))[0]
    assert seen[3:8, 0, 0].tolist() == [0, 1, 0, 0, 0]
    assert torch.equal(seen[8:], Fields().observe(Fields().follow([0, 4]))[0][4:])


def test_a_rule_may_show_other_boards_and_numbers():
    game = Observed()
    opp, own, stones, left = game.observe(game.follow([0, 4]))[0]
    assert (own.nonzero().tolist(), opp.nonzero().tolist()) == ([[0, 0]], [[1, 1]])
    assert torch.equal(stones, own + opp)
    assert torch.equal(left, torch.full((2, 3), 8 / 31))


@pytest.mark.parametrize("game", [Fields(), OfBits(), Observed()], ids=lambda game: game.name)
def test_these_games_conform(game):
    check_game(game)


def test_other_games_have_a_default_shape():
    assert (Amazons().observation_shape, SmallKalah().observation_shape) == ((4, 5, 5), (9,))


def test_the_boards_must_have_a_shape():
    game = WithoutBoard()
    with pytest.raises(ConformanceError, match=r"the boards have 6 squares: write board = \(rows, columns\)"):
        check_quickly(game)


def test_a_shape_that_does_not_fit_is_refused_with_both_that_do():
    class Misfit(Fields):
        observation_shape = (5, 2, 3)

    with pytest.raises(ConformanceError, match=r"write \(14, rows, columns\) or \(10, rows, columns\)"):
        check_quickly(Misfit())
