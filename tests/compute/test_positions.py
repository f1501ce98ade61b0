"""Positions: where their fields are packed, the same compiled and uncompiled, and values that do not fit."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from selfplay.compute.bit_algebra import Word
from selfplay.compute.compilation import compiled
from selfplay.compute.compiled_words import load, store, word_rows
from selfplay.compute.positions import field_values, flag, number, pack, packed_array, packed_fields, position, squares
from selfplay.errors import ConformanceError, SettingError
from selfplay.games.pattern_planes import check_two_boards
from selfplay.search.exact_solver import ExactSolver
from selfplay.search.threads import make_progress
from tests.support.dots import Dots


@position
class Position(NamedTuple):
    plies: int = number(9)
    own: Word = squares(81)
    opp: Word = squares(64)
    passed: int = flag()


def places(of: Any) -> dict[str, tuple[int, int]]:
    """The int64 in which each field begins, and the bits of it below the field."""
    return {place.name: divmod(place.offset, 64) for place in of.places}


def test_boards_begin_int64s_and_numbers_fill_the_free_bits() -> None:
    assert places(Position) == {"plies": (1, 17), "own": (0, 0), "opp": (2, 0), "passed": (1, 26)}
    assert Position.num_words == 3


def test_two_full_boards_are_packed_as_they_are() -> None:
    @position
    class Boards(NamedTuple):
        own: Word = squares(64)
        opp: Word = squares(64)

    assert Boards.num_words == 2
    assert packed_array([Boards(5, 1 << 63)]).tolist() == [[5, -(1 << 63)]]


def test_numbers_that_have_just_been_loaded_are_packed_into_512_bits() -> None:
    @position
    class Men(NamedTuple):
        a: Word = squares(25)
        b: Word = squares(25)
        c: Word = squares(25)
        d: Word = squares(25)
        e: Word = squares(25)
        f: Word = squares(25)
        g: Word = squares(25)
        h: Word = squares(25)
        again: int = flag()
        plies: int = number(6)

    @compiled
    def pack_one(numbers: Any, found: Any) -> None:
        a, b, c, d, e, f, g, h, again, plies = numbers
        store(found, 0, pack(Men(a, b, c, d, e, f, g, h, again, plies)))

    values = (1, 2, 3, 4, 5, 6, 7, 8, 1, 60)
    found = np.zeros((1, 8), dtype=np.int64)
    pack_one(values, word_rows(found))
    assert found.tolist() == packed_array([Men(*values)]).tolist()


def test_compiled_code_packs_and_unpacks_the_same_fields() -> None:
    unpack = Position.unpack

    @compiled
    def exchange(packed: Any, found: Any) -> None:
        for row in range(len(packed)):
            before = unpack(load(packed, row))
            store(found, row, pack(Position(before.plies + 1, before.opp, before.own, 1 - before.passed)))

    positions = [Position(511 - 1, (1 << 64) - 1, 3, 1), Position(0, 7, (1 << 64) - 1, 0)]
    packed = packed_array(positions)
    found = np.zeros_like(packed)
    exchange(word_rows(packed), word_rows(found))
    expected = [Position(one.plies + 1, one.opp, one.own, 1 - one.passed) for one in positions]
    assert found.tolist() == packed_array(expected).tolist()
    values = {name: field_values(Position, found, name) for name in Position._fields}
    assert np.array_equal(packed_fields(Position, values), found)


@pytest.mark.parametrize("wrong", [{"plies": 512}, {"plies": -1}, {"own": 1 << 81}, {"passed": 2}])
def test_a_value_that_does_not_fit_is_refused_with_its_field(wrong: dict[str, int]) -> None:
    (name,) = wrong
    with pytest.raises(ConformanceError, match=name):
        Position(**{"plies": 0, "own": 0, "opp": 0, "passed": 0, **wrong})


class Solver(ExactSolver):
    """A solver of one's own, which finds nothing."""

    def value_text(self, *_: Any) -> str:
        return ""

    def _values_within(self, *_: Any) -> Any:
        return None


def test_what_needs_players_who_take_turns_refuses_others() -> None:
    with pytest.raises(SettingError, match="players take turns"):
        check_two_boards(Dots())
    with pytest.raises(SettingError, match="solved only where players take turns"):
        Solver(Dots(), make_progress())
