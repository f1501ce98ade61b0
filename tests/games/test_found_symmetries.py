"""Symmetries that are found by trying: those that games declare, and those of games whose authors declare none."""

import numpy as np
import pytest

from selfplay import Game, Rules, Symmetries, rule
from selfplay.errors import ConformanceError
from selfplay.games import make_game
from selfplay.games.board_images import fault_of, transform_of
from selfplay.games.conformance_checks import CHECKS
from selfplay.games.conformance_matches import random_plies
from selfplay.games.random_positions import random_positions
from selfplay.games.tictactoe import TicTacToe
from tests.support.amazons import Amazons
from tests.support.clobber import Clobber, LongClobber
from tests.support.col import HEXAGON, TRIANGLE, Col
from tests.support.kalah import SmallKalah
from tests.support.posts import Posts
from tests.support.slides import Slides

DECLARED = {"tictactoe": 8, "connect_four": 2, "hex_3x3": 2, "breakthrough": 2, "dots_and_boxes": 8, "gomoku": 8}
"""The numbers of symmetries of games whose symmetries are turns and mirror images of their boards."""


def used_actions(game):
    """bool[A]: those that are legal in random positions."""
    return random_positions(game, game.max_game_length).mask.any(dim=0).numpy()


def distinct(symmetries, used):
    return {
        (actions[used].tobytes(), seen.tobytes())
        for actions, seen in zip(symmetries.actions, symmetries.observations, strict=True)
    }


@pytest.mark.parametrize("name", DECLARED)
def test_the_symmetries_that_a_game_declares_are_found(name):
    game = make_game(name)
    assert game.declares_symmetries
    used = used_actions(game)
    found = distinct(game.found_symmetries, used)
    assert found == distinct(game.symmetries, used)
    assert len(found) == DECLARED[name]


def test_the_start_of_othello_has_half_of_the_symmetries_of_its_rules():
    game = make_game("othello_4x4")
    used = used_actions(game)
    assert distinct(game.symmetries, used) < distinct(game.found_symmetries, used)
    assert len(game.found_symmetries.actions) == 8


def of_own_games(*games):
    """The games as parameters. Of those whose moves have a start and a target, all but the first are slow."""
    slow = (Amazons, LongClobber, Slides)
    return [
        pytest.param(game, *more, id=game.name, marks=[pytest.mark.slow] * isinstance(game, slow))
        for game, *more in games
    ]


@pytest.mark.parametrize(
    ("cells", "leaning", "count"),
    [
        (HEXAGON, -1, 12),
        pytest.param(HEXAGON, 0, 4, marks=pytest.mark.slow),
        (TRIANGLE, 1, 6),
        pytest.param(TRIANGLE, -1, 2, marks=pytest.mark.slow),
    ],
)
def test_hexagonal_cells_are_turned_by_sixty_degrees_where_the_rules_allow_it(cells, leaning, count):
    """On a triangle by 120 degrees; the same squares with other neighbours have the images of a square board only."""
    game = Col(cells, leaning)
    actions, seen = game.symmetries
    assert len({one.tobytes() for one in actions}) == len(actions) == len(seen) == count
    assert game.symmetries.actions[0].tolist() == list(range(25))


@pytest.mark.parametrize(
    ("game", "count"),
    of_own_games((Clobber(), 8), (Amazons(), 8), (LongClobber(), 4), (Slides(), 8), (Posts(), 8), (SmallKalah(), 1)),
)
def test_games_that_declare_no_symmetries_have_those_that_are_found(game, count):
    assert not game.declares_symmetries
    actions, seen = game.symmetries
    assert len(actions) == len(seen) == count
    assert actions[0].tolist() == list(range(game.num_distinct_actions))
    assert (np.sort(actions, axis=1) == np.arange(game.num_distinct_actions)).all()


@pytest.mark.parametrize("game", of_own_games((Amazons(),), (LongClobber(),), (Posts(),)))
def test_found_symmetries_are_a_group(game):
    maps = {one.tobytes() for one in game.symmetries.actions}
    assert {first[then].tobytes() for first in game.symmetries.actions for then in game.symmetries.actions} == maps


def test_a_move_becomes_the_move_between_the_images_of_its_squares():
    game, board = Clobber(), np.arange(25).reshape(5, 5)
    for actions, seen in zip(*game.symmetries, strict=True):
        goes_to = np.argsort(seen[:25])
        for square, way in ((7, 0), (12, 2), (23, 1)):
            down, right = ((-1, 0), (0, -1), (0, 1), (1, 0))[way]
            target = board[square // 5 + down, square % 5 + right]
            image = int(actions[4 * square + way])
            there, way_there = ((-5, -1, 1, 5)[image % 4], image // 4)
            assert (way_there, way_there + there) == (goes_to[square], goes_to[target])


def test_a_board_between_the_squares_is_moved_within_its_part():
    """Post 9 is on the upper left of 2x2 crossings, so the mirror of columns makes it post 10."""
    game = Posts()
    mirrored = [actions for actions in game.symmetries.actions if actions[:3].tolist() == [2, 1, 0]]
    assert [actions[9:].tolist() for actions in mirrored] == [[10, 9, 12, 11]]


RULES = TicTacToe().rules
legal_of, play_of = RULES.legal_actions, RULES.play


@rule
def twice(p):
    """Actions 9 to 17 place a stone as 0 to 8 do."""
    legal = legal_of(p)
    return legal | legal << 9


@rule
def placed(p, action):
    return play_of(p, action % 9)


class Doubled(Game):
    """Tic-tac-toe with two actions for every square."""

    name = "doubled"
    num_distinct_actions = 18
    observation_shape = (2, 3, 3)
    max_game_length = 9
    rules = Rules(RULES.initial, twice, placed, RULES.is_terminal, RULES.return_to_move)


def test_actions_that_lead_to_the_same_positions_become_images_in_their_order():
    once, found = TicTacToe().symmetries, Doubled().symmetries
    maps = {(*actions.tolist(), *(actions + 9).tolist()) for actions in once.actions}
    assert {tuple(actions.tolist()) for actions in found.actions} == maps


LEFT_COLUMN = 0b001001001


@rule
def left_first(p):
    """Square 1 is only legal when the left column is full."""
    legal = legal_of(p)
    return legal if (p.own | p.opp) & LEFT_COLUMN == LEFT_COLUMN else legal & ~2


@rule
def full(p):
    return left_first(p) == 0


class OneSided(Doubled):
    name = "one_sided"
    num_distinct_actions = 9
    rules = Rules(RULES.initial, left_first, RULES.play, full, RULES.return_to_move)


def test_images_that_the_rules_treat_differently_are_no_symmetries():
    assert len(OneSided().symmetries.actions) == 1


# ---------------------------------------------------------------------- declared symmetries


class Declared(Clobber):
    """Declares what is given."""

    given: Symmetries

    @property
    def symmetries(self):
        return self.given


def test_declared_symmetries_need_not_keep_the_start():
    class OfAmazons(Amazons):
        @property
        def symmetries(self):
            return self.found_symmetries

    game = OfAmazons()
    CHECKS["symmetries"](game, random_plies(game))


def test_a_declared_symmetry_with_which_the_rules_do_not_commute_is_refused():
    game = Declared()
    actions, seen = game.found_symmetries
    wrong = actions[1].copy()
    wrong[[28, 29]] = wrong[[29, 28]]
    game.given = Symmetries(np.stack([actions[0], wrong]), seen[:2])
    with pytest.raises(ConformanceError, match=r"^symmetry 1 does not map (legal actions|the positions)"):
        CHECKS["symmetries"](game, random_plies(game))


def test_images_of_positions_are_those_of_what_is_seen():
    game = make_game("breakthrough")
    positions = random_positions(game, game.max_game_length)
    for actions, seen in zip(*game.found_symmetries, strict=True):
        assert fault_of(game, positions, transform_of(game, seen), Symmetries(actions, seen)) is None
