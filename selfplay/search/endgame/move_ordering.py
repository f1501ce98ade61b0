"""Move ordering of the endgame search: the sooner it tries a good move, the fewer positions it visits.

A move is promising if it leaves the opponent few moves ("fastest first": the subtree is small, and having few moves is
bad for the opponent anyway), in particular no corner, and if few of the player's discs are next to empty squares.
"""

from typing import NamedTuple

from selfplay.compute.bit_algebra import Word, bit_count
from selfplay.compute.compilation import part_of_compiled
from selfplay.games.rules import Rules, TurningRules
from selfplay.search.endgame.last_squares import Part

# Weights, chosen for the fewest positions visited in 50 positions with 16 to 21 empty squares.
MOVE, CORNER_TO_TAKE, EXPOSED_DISC, ODD_QUARTER = 16, 40, 4, 4
"""Weights of `at_a_glance`: for each move of the opponent, additionally for each move into a corner, for each disc next
to an empty square, and subtracted for a move in a quarter with an odd number of empty squares."""
FORESEEN_MOVE, FORESEEN_CORNER_TO_TAKE, FORESEEN_EXPOSED_DISC, CORNER = 16, 40, 5, 48
"""Weights of `after_a_reply`: the first three as above, and one for corners taken."""

LOST_FOR_CERTAIN = 1 << 20


class MoveOrdering(NamedTuple):
    """Functions that rate a move by the position after it, seen by the opponent. Lower ratings are tried first."""

    at_a_glance: Part
    """(own, opp, whether the move was in a quarter with an odd number of empty squares)."""
    after_a_reply: Part
    """(own, opp), after the best reply of the opponent; ten times as slow."""


def move_ordering(rules: Rules, turning: TurningRules) -> MoveOrdering:
    """The ordering for a game with these rules."""
    legal_actions, margin = rules.legal_actions, rules.margin
    flips, neighbours, board, corners, _ = turning
    assert margin is not None

    def at_a_glance(own: int, opp: int, is_odd: bool) -> Word:
        moves = legal_actions(own, opp)
        exposed = neighbours(opp) & board & ~(own | opp)
        rating = MOVE * bit_count(moves) + CORNER_TO_TAKE * bit_count(moves & corners)
        return rating + EXPOSED_DISC * bit_count(exposed) - ODD_QUARTER * is_odd

    def prospects(own: int, opp: int) -> Word:
        """How good the position is for the player to move."""
        empty = board & ~(own | opp)
        mine, others = legal_actions(own, opp), legal_actions(opp, own)
        moves = bit_count(mine) - bit_count(others)
        to_take = bit_count(mine & corners) - bit_count(others & corners)
        exposed = bit_count(neighbours(opp) & empty) - bit_count(neighbours(own) & empty)
        taken = bit_count(own & corners) - bit_count(opp & corners)
        return (
            FORESEEN_MOVE * moves + FORESEEN_CORNER_TO_TAKE * to_take + FORESEEN_EXPOSED_DISC * exposed + CORNER * taken
        )

    prospects = part_of_compiled(prospects)

    def after_a_reply(own: int, opp: int) -> Word:
        moves = legal_actions(own, opp)
        if moves == 0:
            if legal_actions(opp, own) == 0:
                return LOST_FOR_CERTAIN * margin(own, opp)
            return -prospects(opp, own)
        best = -LOST_FOR_CERTAIN
        while moves != 0:
            move = moves & -moves
            moves ^= move
            turned = flips(own, opp, move)
            best = max(best, -prospects(opp ^ turned, own | move | turned))
        return best

    return MoveOrdering(part_of_compiled(at_a_glance), part_of_compiled(after_a_reply))
