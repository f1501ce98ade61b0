"""The rules of any game as those of one general game, so that what is compiled for this is compiled for all games.

A position of the general game is a packed position of a game and the address of a table, in which there are the
addresses of the rules of that game. Its rules call those: a search that is compiled with them plays each game whose
positions and actions are not larger, and finds the same, bit for bit. A call by address takes a few nanoseconds more
than a rule that is compiled into the search.

    compile_...(general_rules(size), IN_TABLE)(table.rows(packed), ...)
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word, rule
from selfplay.compute.compilation import IS_UNCOMPILED, Words, part_of_compiled
from selfplay.compute.compiled_calls import Compiled, calling, compiled_at, number_at
from selfplay.compute.compiled_word_type import word_type
from selfplay.compute.compiled_words import num_parts, part, word_rows
from selfplay.compute.positions import fits, flag, general_position, number, pack, squares
from selfplay.compute.words import PART_BITS
from selfplay.games.rules import Position, Rules


class GeneralSize(NamedTuple):
    """What games of a size have at most."""

    words: int
    """The number of int64s of a packed position."""
    action_words: int
    """Those of the word of legal actions."""


SIZES = (GeneralSize(6, 3), GeneralSize(12, 16))
"""Most games have the first size, which is not slower for small games; the second is that of Go on 19x19, and of up to
1,024 actions. Larger games have no general form."""

NO_ACTION, IN_TABLE = -1, -2
"""In place of the action that passes: the game has no passes; the table of rules has it."""

MISFIT = 2
"""As a flag, it does not fit: so a general position does not if that of the game does not."""

NUM_WORDS, PLAY, LEGAL_ACTIONS, IS_TERMINAL, RETURN_TO_MOVE, MOVES_AGAIN, MARGIN, PASS_ACTION = range(8)
"""The places of a table of rules: W of the game; the addresses of the rules, 0 where it has none; what passes."""


class RulesTable(NamedTuple):
    """The compiled rules of a game, for the general rules."""

    numbers: NDArray[np.int64]
    """What is in the places."""
    size: GeneralSize
    functions: tuple[Compiled, ...]
    """They keep the machine code."""

    def rows(self, packed: NDArray[np.int64]) -> Words:
        """Positions of the game (int64[B, W]) as records of general positions."""
        rows = np.zeros((len(packed), self.size.words + 1), dtype=np.int64)
        rows[:, : packed.shape[1]], rows[:, -1] = packed, self.numbers.ctypes.data
        return word_rows(rows, is_general=True)


def size_of(rules: Rules) -> GeneralSize | None:
    """The smallest size that a game with these rules has; None if it has none."""
    words, action_words = rules.position.num_words, num_parts(rules.legal_actions(rules.initial))
    fitting = (size for size in SIZES if words <= size.words and action_words <= size.action_words)
    return None if IS_UNCOMPILED else next(fitting, None)


def _kinds(size: GeneralSize) -> tuple[Any, Any, Any]:
    """The types of a packed position, of legal actions, and of what playing gives: the next position, and whether its
    fields fit."""
    packed: Any = word_type(size.words)
    tuple_of: Any = types.Tuple
    return packed, word_type(size.action_words), tuple_of((packed, types.boolean))


@cache
def rules_table(rules: Rules, pass_action: int | None, size: GeneralSize) -> RulesTable:
    """Compile the rules of a game for the general rules of this size."""
    unpack, play, legal_actions = rules.position.unpack, rules.play, rules.legal_actions
    is_terminal, return_to_move, again = rules.is_terminal, rules.return_to_move, rules.moves_again
    margin, unit = rules.margin, rules.margin_unit

    def play_packed(packed: Word, action: int) -> tuple[Word, bool]:
        after = play(unpack(packed), action)
        return pack(after), fits(after)

    def legal_packed(packed: Word) -> Word:
        return legal_actions(unpack(packed))

    def terminal_packed(packed: Word) -> bool:
        return bool(is_terminal(unpack(packed)))

    def return_packed(packed: Word) -> Any:
        return part(return_to_move(unpack(packed)), 0)

    def again_packed(packed: Word) -> bool:
        assert again is not None
        return bool(again(unpack(packed)))

    def margin_packed(packed: Word) -> float:
        assert margin is not None
        return float(unit * part(margin(unpack(packed)), 0))

    packed, actions, played = _kinds(size)
    functions = {
        PLAY: compiled_at(play_packed, played, packed, types.int64),
        LEGAL_ACTIONS: compiled_at(legal_packed, actions, packed),
        IS_TERMINAL: compiled_at(terminal_packed, types.boolean, packed),
        RETURN_TO_MOVE: compiled_at(return_packed, types.int64, packed),
    }
    if again is not None:
        functions[MOVES_AGAIN] = compiled_at(again_packed, types.boolean, packed)
    if margin is not None:
        functions[MARGIN] = compiled_at(margin_packed, types.float64, packed)
    numbers = np.zeros(PASS_ACTION + 1, dtype=np.int64)
    for place, function in functions.items():
        numbers[place] = function.address
    numbers[NUM_WORDS] = rules.position.num_words
    numbers[PASS_ACTION] = NO_ACTION if pass_action is None else pass_action
    return RulesTable(numbers, size, tuple(functions.values()))


@cache
def general_rules(size: GeneralSize) -> Rules:
    """The rules of the general game, which only compiled code can call. They count points: 0 where the game does not.

    The action that passes is IN_TABLE.
    """
    packed, actions, played = _kinds(size)
    call_play, call_actions = calling(played, packed, types.int64), calling(actions, packed)
    ask, call_return = calling(types.boolean, packed), calling(types.int64, packed)
    call_margin = calling(types.float64, packed)

    @general_position
    class GeneralPosition(NamedTuple):
        packed: Word = squares(PART_BITS * size.words)
        table: int = number(PART_BITS - 1)
        misfit: int = flag()

    @rule
    def legal_actions(p: GeneralPosition) -> Word:
        found: Word = call_actions(number_at(p.table, LEGAL_ACTIONS), p.packed)
        return found

    @rule
    def play(p: GeneralPosition, action: int) -> GeneralPosition:
        packed, is_fitting = call_play(number_at(p.table, PLAY), p.packed, action)
        return GeneralPosition(packed, p.table, 0 if is_fitting else MISFIT)

    @rule
    def is_terminal(p: GeneralPosition) -> bool:
        return bool(ask(number_at(p.table, IS_TERMINAL), p.packed))

    @rule
    def return_to_move(p: GeneralPosition) -> int:
        return int(call_return(number_at(p.table, RETURN_TO_MOVE), p.packed))

    @rule
    def moves_again(p: GeneralPosition) -> bool:
        address = number_at(p.table, MOVES_AGAIN)
        return bool(address != 0 and ask(address, p.packed))

    @rule
    def margin(p: GeneralPosition) -> float:
        address = number_at(p.table, MARGIN)
        return float(call_margin(address, p.packed)) if address != 0 else 0.0

    initial = GeneralPosition(0, 0, 0)
    return Rules(initial, legal_actions, play, is_terminal, return_to_move, moves_again=moves_again, margin=margin)


def packed_type(size: GeneralSize) -> Any:
    """The type of packed general positions in compiled code; the class of positions of a game unpacks them too."""
    return word_type(size.words + 1, is_general=True)


@cache
def pass_of(pass_action: int | None) -> Callable[[Position], int]:
    """The action that passes in a position, for compiled code; NO_ACTION in a game without passes.

    `pass_action`: that of the game; IN_TABLE with general rules.
    """
    constant = NO_ACTION if pass_action is None else pass_action

    @part_of_compiled
    def always(position: Position) -> int:
        return constant

    @part_of_compiled
    def of_table(position: Position) -> int:
        return number_at(position.table, PASS_ACTION)

    return of_table if pass_action == IN_TABLE else always
