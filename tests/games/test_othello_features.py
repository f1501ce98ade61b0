"""The features of Othello positions, counted by hand on drawn boards and compared with slow implementations."""

import numpy as np
import pytest
import torch
from scipy.ndimage import label

from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.errors import SettingError
from selfplay.games import GAMES, make_game, othello_edges, othello_features
from selfplay.games.feature_kernels import feature_values

BOARDS = ["othello", "othello_6x6", "othello_4x4"]
MATCHES = 60


def features_of(drawing):
    """The features of a board drawn in rows: X the player to move, O the opponent, - empty."""
    rows = drawing.split()
    game = make_game({8: "othello", 6: "othello_6x6", 4: "othello_4x4"}[len(rows)])
    values = feature_values(game, game.read_board("".join(rows), "X"))[0].tolist()
    return dict(zip(game.features.names, values, strict=True))


@pytest.fixture(scope="module", params=BOARDS)
def played(request):
    """A board size, and every position of some random matches on it."""
    game = make_game(request.param)
    key, match = stream_key(0, 0, Activity.GENERATION), torch.arange(MATCHES)
    states = [game.init(MATCHES)]
    while not bool(states[-1].terminated.all()):
        actions = game.kernels.random_actions(states[-1], Draws(key, match, len(states)))
        states.append(game.step_unchecked(states[-1], actions))
    own, opp = (torch.cat([getattr(state, word) for state in states]) for word in ("own", "opp"))
    return game, game.state_at(own, opp), states


# ---------------------------------------------------------------------- counted by hand

START = """
    --------
    --------
    --------
    ---OX---
    ---XO---
    --------
    --------
    --------
"""


def test_at_the_start_everything_is_equal_and_the_opponent_has_the_last_move():
    # One region of 60 squares.
    assert features_of(START) == {
        "discs": 0,
        "corners": 0,
        "stable": 0,
        "mobility": 0,
        "frontier": 0,
        "parity": -1,
        "patterns": 0,
        "x_squares": 0,
        "c_squares": 0,
    }


@pytest.mark.parametrize(
    ("drawing", "expected"),
    [
        # Two discs in and beside a corner of one's own, against the bare corner of the opponent.
        (
            """
            XX-----O
            --------
            --------
            ---OX---
            ---XO---
            --------
            --------
            --------
            """,
            {"discs": 1, "corners": 0, "stable": 1},
        ),
        # After 1. d3 c3. X can play b3, c4, f5 and e6; O could play d2, e3, f4, c5 and d6.
        (
            """
            --------
            --------
            --OX----
            ---OX---
            ---XO---
            --------
            --------
            --------
            """,
            {"discs": 0, "mobility": -1},
        ),
        # Of the nine only the one in the middle, X's, touches no empty square.
        (
            """
            --------
            --------
            --OOO---
            --XXO---
            --XOO---
            --------
            --------
            --------
            """,
            {"discs": -3, "frontier": -4},
        ),
        # All corners are X's or O's: three to one.
        (
            """
            X------X
            --------
            --------
            --------
            --------
            --------
            --------
            X------O
            """,
            {"corners": 2, "stable": 2, "discs": 2},
        ),
    ],
)
def test_discs_corners_stable_mobility_and_frontier(drawing, expected):
    found = features_of(drawing)
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("drawing", "stable"),
    [
        # The edge disc c1 is joined to the corner, e1 is not.
        (
            """
            XXX-X---
            --------
            --------
            ---OX---
            ---XO---
            --------
            --------
            --------
            """,
            3,
        ),
        # a1 to c1, a2, a3, then b2: it leans on a2 in its row, on b1 in its column, on a1 and on c1 in its diagonals.
        # c2 would need b3 or d1.
        (
            """
            XXX-----
            XXX-----
            X-------
            ---OX---
            ---XO---
            --------
            --------
            --------
            """,
            6,
        ),
        # No corner is held, but rows 2 to 7, columns b to g and all diagonals but the two long ones are full.
        (
            """
            -XXXXXX-
            XXXXXXXX
            XXXXXXXX
            XXXXXXXX
            XXXXXXXX
            XXXXXXXX
            XXXXXXXX
            -XXXXXX-
            """,
            36 - 12,
        ),
        # A full edge is held whoever has its discs; so are O's.
        (
            """
            XOXOOXOO
            --------
            --------
            ---XX---
            ---XX---
            --------
            --------
            --------
            """,
            -2,
        ),
    ],
)
def test_stable_discs(drawing, stable):
    assert features_of(drawing)["stable"] == stable


@pytest.mark.parametrize(
    ("drawing", "parity"),
    [
        # One square (a1), two (c1 d1), three (f1 h1 g2, joined at corners): two odd regions, one even.
        (
            """
            -X--O-X-
            XXXXXX-X
            XXXXXXXX
            XXXXXXXX
            XXXXXXXX
            OOOOOOOO
            OOOOOOOO
            OOOOOOOO
            """,
            1,
        ),
        # The right and the left edge do not touch: h1, a2 and h8 are three regions.
        (
            """
            XXXXXXX-
            -XXXXXXX
            XXXXXXXX
            XXXXXXXX
            XXXXXXXX
            OOOOOOOO
            OOOOOOOO
            OOOOOOO-
            """,
            3,
        ),
        ("OOOOOOOO " * 8, 0),
    ],
)
def test_parity_counts_regions(drawing, parity):
    assert features_of(drawing)["parity"] == parity


@pytest.mark.parametrize(
    ("drawing", "patterns"),
    [
        # X plays d1 and turns b1 c1 and e1 f1 g1: one wedge. The corners are X's, so no square is dangerous.
        (
            """
            XOO-OOOX
            --------
            --------
            ---OX---
            ---XO---
            --------
            --------
            --------
            """,
            1,
        ),
        # X plays h3 and turns h2 and h4 to h7, down to h8. O turns nothing at d8 to the right, where e8 has no end.
        (
            """
            -------X
            -------O
            --------
            -------O
            -------O
            -------O
            -------O
            -XX-X-OX
            """,
            1 - 1,
        ),
        # No wedge, because X ends one run only: at d1 that to the right, at h4 that downwards. O's b1 is a C-square.
        (
            """
            -OO-OOOX
            --------
            --------
            --------
            -------O
            -------O
            -------O
            -------X
            """,
            1,
        ),
        # X's b2 is an X-square, which counts twice, a7 and b8 are C-squares, as is O's b1; h8 beside g7 is held.
        (
            """
            -O-----X
            -X------
            --------
            ---OX---
            ---XO---
            --------
            X-----X-
            -X-----O
            """,
            -2 - 1 - 1 + 1,
        ),
    ],
)
def test_patterns_of_edges_and_corners(drawing, patterns):
    assert features_of(drawing)["patterns"] == patterns


@pytest.mark.parametrize(
    ("drawing", "x_squares", "c_squares"),
    [
        # X holds b2 and g2, O holds b7; a corner that is taken makes its neighbours harmless: g7 beside h8.
        (
            """
            --------
            -X----X-
            --------
            ---OX---
            ---XO---
            --------
            -O----X-
            -------O
            """,
            2 - 1,
            0,
        ),
        # X holds a7 and b8 beside a8, O holds b1; g1 is beside X's own corner.
        (
            """
            -O----XX
            --------
            --------
            ---OX---
            ---XO---
            --------
            X-------
            -X------
            """,
            0,
            2 - 1,
        ),
    ],
)
def test_x_and_c_squares_count_beside_empty_corners(drawing, x_squares, c_squares):
    found = features_of(drawing)
    assert (found["x_squares"], found["c_squares"]) == (x_squares, c_squares)
    assert found["patterns"] == -2 * x_squares - c_squares  # none of these boards has a wedge


def test_the_basic_features_are_the_first_of_all():
    features = make_game("othello").features
    assert features.names == (*features.basic.names, "x_squares", "c_squares")
    own, opp = np.int64(0x0000001008000000), np.int64(0x0000000810000000)
    with np.errstate(over="ignore"):
        assert features.values(own, opp)[: len(features.basic.names)] == features.basic.values(own, opp)


def test_six_squares_are_enough_for_a_wedge_and_four_are_not():
    assert features_of("XO-OOX" + " ------" * 5)["patterns"] == 1
    assert features_of("X-OX OXXO XOOX XXXX")["patterns"] == 0


# ---------------------------------------------------------------------- held against other ways


def test_the_eight_images_of_a_board_have_the_same_features(played):
    game, state, _ = played
    width = game.width
    squares = game.squares(state).reshape(-1, width, width)
    powers = torch.tensor([1 << i for i in range(63)] + [-(1 << 63)])[: width * width]
    expected = feature_values(game, state)
    for turns in range(4):
        for image in (torch.rot90(squares, turns, (1, 2)), torch.rot90(squares, turns, (1, 2)).transpose(1, 2)):
            own, opp = ((image.reshape(len(image), -1) == player).long() @ powers for player in (1, -1))
            assert torch.equal(feature_values(game, game.state_at(own, opp)), expected)


def test_all_features_but_parity_change_sign_with_the_player(played):
    game, state, _ = played
    expected = -feature_values(game, state)
    expected[:, game.features.names.index("parity")] *= -1
    assert torch.equal(feature_values(game, game.state_at(state.opp, state.own)), expected)


def test_parity_counts_the_regions_that_scipy_finds(played):
    game, state, _ = played
    empty = (game.squares(state) == 0).numpy().reshape(-1, game.width, game.width)
    expected = []
    for board in empty:
        regions, _ = label(board, np.ones((3, 3)))
        expected.append(sum(1 if size % 2 else -1 for size in np.bincount(regions[regions > 0]) if size))
    found = feature_values(game, state)[:, game.features.names.index("parity")]
    assert found.tolist() == expected


def slow_stable(board):
    """The stable discs of player 1, found square by square and direction by direction."""
    width = len(board)

    def on_board(row, column):
        return 0 <= row < width and 0 <= column < width

    def is_full(row, column, down, right):
        return all(
            board[row + k * down, column + k * right] != 0
            for k in range(-width, width + 1)
            if on_board(row + k * down, column + k * right)
        )

    def is_held(row, column, down, right):
        sides = [(row + down, column + right), (row - down, column - right)]
        return is_full(row, column, down, right) or any(not on_board(*s) or s in found for s in sides)

    found, before = set(), None
    while before != len(found):
        before = len(found)
        for row, column in zip(*np.nonzero(board == 1), strict=True):
            if all(is_held(row, column, *line) for line in ((0, 1), (1, 0), (1, 1), (1, -1))):
                found.add((row, column))
    return found


def test_stable_discs_equal_those_of_a_slow_fixpoint(played):
    game, state, _ = played
    some = state.select(torch.arange(0, state.batch_size, 11))
    boards = game.squares(some).numpy().reshape(-1, game.width, game.width)
    expected = [len(slow_stable(board)) - len(slow_stable(-board)) for board in boards]
    found = feature_values(game, some)[:, game.features.names.index("stable")]
    assert found.tolist() == expected
    assert max(expected) > 5


def test_a_stable_disc_is_never_turned(played):
    game, _, states = played
    boards = torch.stack([game.squares(state) for state in states[::3] + states[-1:]]).numpy()
    for match in range(0, MATCHES, 6):
        for board in boards[:, match]:
            for colour in (1, -1):
                held = slow_stable(colour * board.reshape(game.width, game.width))
                assert all(boards[-1, match][game.width * row + column] == colour for row, column in held)


# ---------------------------------------------------------------------- the same rules in three ways


def bit_algebra(width, legal_actions):
    return {
        "discs": othello_features.discs,
        "corners": othello_features.corners(width),
        "mobility": othello_features.mobility(legal_actions),
        "frontier": othello_features.frontier(width),
        "patterns": othello_edges.patterns(width),
        "x_squares": lambda own, opp: othello_edges.discs_beside_corners(width)(own, opp)[0],
        "c_squares": lambda own, opp: othello_edges.discs_beside_corners(width)(own, opp)[1],
    }


def test_bit_algebra_gives_the_same_on_tensors_on_arrays_and_compiled(played):
    game, state, _ = played
    compiled = feature_values(game, state)
    for name, feature in bit_algebra(game.width, game.rules.legal_actions).items():
        expected = compiled[:, game.features.names.index(name)].long()
        assert torch.equal(feature(state.own, state.opp), expected), name
        assert (feature(state.own.numpy(), state.opp.numpy()) == expected.numpy()).all(), name


def test_the_features_run_on_single_numbers_too():
    game = make_game("othello")
    state = game.read_board("X------X" * 7 + "XXX--O-O", "X")
    with np.errstate(over="ignore"):
        values = game.features.values(np.int64(state.own[0]), np.int64(state.opp[0]))
    assert [int(value) for value in values] == feature_values(game, state)[0].tolist()


def test_a_game_without_features_is_named():
    assert [name for name in GAMES if make_game(name).features is not None] == BOARDS
    with pytest.raises(SettingError, match=r"^game=tictactoe: its positions have no features$"):
        feature_values(make_game("tictactoe"), make_game("tictactoe").init())
