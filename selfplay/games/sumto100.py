"""SumTo100: two players add 1 to 10 in turn to a common sum that starts at 0; whoever reaches 100 wins.

The sum is the same whoever is to move. Action i adds i + 1.
Perfect play leaves the sum at 1, 12, 23, ..., 89. After any reply it can bring the sum to the next of these numbers.
"""

from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word, rule, word_of
from selfplay.compute.compiled_words import as_word
from selfplay.compute.positions import Packed, number, position, squares
from selfplay.games.game import Game
from selfplay.games.observation_codec import ForeignObservationError, ShownCodec
from selfplay.games.presentation import PositionLine, Presentation
from selfplay.games.rules import Rules
from selfplay.games.state import State

GOAL = 100
LARGEST_ADDEND = 10


@position
class RunningSum(NamedTuple):
    sum: int = number(GOAL.bit_length())


@position
class OneHot(NamedTuple):
    """What observations show: one entry for each sum."""

    sums: Word = squares(GOAL + 1)


ONE = word_of([0], GOAL + 1)


@cache
def sumto100_rules() -> Rules:
    """The rules; player 0 moves first, from the sum 0."""

    @rule
    def legal_actions(p: RunningSum) -> Word:
        """The addends that do not exceed the goal: the lowest min(10, 100 - sum) bits."""
        return as_word((1 << min(LARGEST_ADDEND, GOAL - p.sum)) - 1)

    @rule
    def play(p: RunningSum, action: int) -> RunningSum:
        return RunningSum(p.sum + action + 1)

    @rule
    def observed(p: RunningSum) -> OneHot:
        return OneHot(ONE << p.sum)

    return Rules(RunningSum(0), legal_actions, play, observed=observed)


class OneHotCodec(ShownCodec):
    """The codec of the one-hot observation of the sum, the only field of positions, which is found in it."""

    shows_all = True

    def unpack(self, packed: NDArray[np.uint8]) -> Packed:
        bits = np.unpackbits(packed, axis=1, count=self.entries.size)
        foreign = np.flatnonzero(bits.sum(axis=1, dtype=np.int64) != 1)
        if len(foreign):
            raise ForeignObservationError(int(foreign[0]))
        sums: Packed = bits.argmax(axis=1)[:, None]
        return sums


class SumTo100Presentation(Presentation):
    title = "SumTo100"
    aim = "Both players add 1 to 10 in turn to one sum; whoever brings it to 100 wins."
    action_help = f"a number from 1 to {LARGEST_ADDEND}"
    how_to_play = (
        "The sum begins at 0, and the players take turns.",
        "A move adds a whole number from 1 to 10, but never takes the sum beyond 100.",
        "The match ends when the sum is 100; there are no draws.",
        "Whoever leaves the other a sum of 89 can always win: after 1 to 10 more, 100 is within reach.",
        "The same holds for 78, 67 and so on, down to 12 and 1, so the first move decides between perfect players.",
    )
    example = "1 6 5 10 1 4 7 3 8 9 2 5 6 10 1 7 4"
    example_caption = "The sum is 89: whatever is added next, the first player can make it 100."
    position_line = PositionLine("sum", lambda state: state.position[:, 0], GOAL)

    def board_text(self, state: State, row: int = 0, values: NDArray[np.float32] | None = None) -> str:
        lines = [f"sum {int(state.position[row])}"]
        if values is not None:
            lines += [f"+{i + 1:<3d} {value:+.2f}" for i, value in enumerate(values) if np.isfinite(value)]
        return "\n".join(lines)


class SumTo100(Game):
    """SumTo100 with addends 1 to 10."""

    name = "sumto100"
    num_distinct_actions = LARGEST_ADDEND
    observation_shape = (GOAL + 1,)
    max_game_length = GOAL
    rules = sumto100_rules()
    presentation_class = SumTo100Presentation

    @cached_property
    def observation_codec(self) -> OneHotCodec:
        assert self.kernels.observe is not None
        return OneHotCodec(self.rules, self.observation_shape, self.kernels.observe)

    def action_to_string(self, action: int) -> str:
        return str(action + 1)
