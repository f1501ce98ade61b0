"""Dead stones of Go in known positions."""

import pytest

from selfplay.games import make_game
from selfplay.games.dead_stones import dead_stones

GAME = make_game("go", 7)


def board(text: str) -> list[int]:
    return ["O.X".index(sign) - 1 for sign in "".join(text.split())]


INVADED = """
    . . X O . . .
    . . X O . . .
    . O X O O . .
    . . X X O . .
    X X . X O X .
    . X X X O O .
    . . . X O . .
"""
"""Each side has a territory with a stone of the other that cannot live there."""
LONE = {2 * 7 + 1, 4 * 7 + 5}

ONE_EYE = """
    . O X . X . X
    O O X X X X .
    X X X . . X X
    . . . X X . .
    . . . . . . .
    . . . . . . .
    . . . . . . .
"""
"""White in the corner has one eye and no room for another; black has two in the row at the top."""

TWO_EYES = """
    . O . O X . .
    O O O O X . .
    X X X X X . .
    . . . . . . .
    . . . . . . .
    . . . . . . .
    . . . . . . .
"""
"""White in the corner has two eyes, whatever black does; black has room everywhere."""


@pytest.mark.parametrize(
    ("text", "dead"),
    [(INVADED, LONE), (ONE_EYE, {1, 7, 8}), (TWO_EYES, set()), ("." * 49, set())],
    ids=["stones in territories", "one eye", "two eyes", "empty"],
)
@pytest.mark.parametrize("to_move", [0, 1])
def test_stones_that_cannot_live_are_dead(text: str, dead: set[int], to_move: int) -> None:
    assert dead_stones(GAME, GAME.set_up(board(text), to_move), key=3) == sorted(dead)


def test_the_same_key_gives_the_same_stones_after_two_passes() -> None:
    state = GAME.follow([49, 49], GAME.set_up(board(INVADED), 0))
    assert bool(state.terminated)
    assert dead_stones(GAME, state, key=3) == dead_stones(GAME, state, key=3) == sorted(LONE)


def test_chains_with_two_vital_regions_are_safe_whatever_happens() -> None:
    def safe(text: str) -> set[int]:
        one, other = GAME.rules.safe(GAME.positions(GAME.set_up(board(text), 0))[0])
        return {crossing for crossing in range(49) if (one | other) >> crossing & 1}

    assert safe(TWO_EYES) == {1, 3, 7, 8, 9, 10}
    # Black's row at the top has two eyes; those of the rest of its chains are open.
    assert {2, 4, 9, 10, 11, 12, 14, 15, 16} <= safe(ONE_EYE)
    assert safe(INVADED) == set()


def test_real_eyes_are_not_filled_and_the_pass_is_kept() -> None:
    state = GAME.set_up(board(TWO_EYES), 1)
    left_out = GAME.legal_action_mask(state) & ~GAME.sensible_action_mask(state)
    assert left_out[0].nonzero()[:, 0].tolist() == [0, 2]
