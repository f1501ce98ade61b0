"""A game whose positions have a field of several numbers: its rules, observations and datasets, compiled and not."""

import json
import shutil
import subprocess
from typing import NamedTuple

import numpy as np
import pytest
import torch

from selfplay import Game, Rules, Word, flag, number, numbers, position, replaced, rule, squares
from selfplay.agents.compiled_networks import ObservedProgram, compile_policy_network, shown_in
from selfplay.architectures import build_network
from selfplay.architectures.layer_program import layer_program
from selfplay.compute.compilation import compiled
from selfplay.compute.compiled_words import load, word_rows
from selfplay.compute.devices import PORTABLE
from selfplay.compute.portable import arithmetic_of, set_numerics
from selfplay.compute.positions import field_values, fits, pack, packed_array, packed_fields, position_at
from selfplay.errors import ConformanceError, InvalidFileError, SettingError
from selfplay.games.conformance import check_game
from selfplay.games.conformance_checks import CHECKS
from selfplay.games.observation_codec import ForeignObservationError, shown_entries
from selfplay.games.pattern_planes import Planes, check_planes
from selfplay.games.rules import Symmetries
from selfplay.web.javascript_conformance import compare_in_javascript
from selfplay.web.rules_in_javascript import javascript_of
from tests.support.dataset_tools import random_rows, read_dataset, rows_are_equal, write_dataset
from tests.support.kalah import Kalah, SmallKalah
from tests.support.runs import PROJECT

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


def moves_of(pits):
    """The moves by lists: for each pit with seeds, the next lists of pits and the store of both, to move first."""
    (mine, _), (theirs, _) = pits
    for pit in range(len(mine)) if sum(mine) and sum(theirs) else ():
        if mine[pit]:
            rows, row, place = [[list(mine), pits[0][1]], [list(theirs), pits[1][1]]], 0, pit
            hand, rows[0][0][pit] = mine[pit], 0
            while hand:
                place += 1
                if place < len(mine):
                    rows[row][0][place] += 1
                elif place == len(mine) and row == 0:
                    rows[0][1] += 1
                else:
                    row, place = 1 - row, -1
                    continue
                hand -= 1
            if row == 0 and place < len(mine) and rows[0][0][place] == 1 and rows[1][0][-1 - place]:
                rows[0][1] += 1 + rows[1][0][-1 - place]
                rows[0][0][place] = rows[1][0][-1 - place] = 0
            yield rows if row == 0 and place == len(mine) else rows[::-1]


def sequences(pits, depth):
    return 1 if depth == 0 else sum(sequences(after, depth - 1) for after in moves_of(pits))


def sequences_of(pits, seeds):
    """Of one to six plies from the start."""
    return [sequences([[[seeds] * pits, 0]] * 2, plies) for plies in range(1, 7)]


def test_sequences_are_those_of_rules_on_lists():
    check_game(SmallKalah(), perft=sequences_of(3, 2))


@pytest.mark.slow
def test_sequences_on_the_usual_board_are_those_of_rules_on_lists():
    kalah = Kalah()
    assert [kalah.kernels.perft(kalah.rules.initial, plies, False) for plies in range(1, 7)] == sequences_of(6, 4)


@needs_node
def test_rules_are_the_same_in_javascript():
    assert compare_in_javascript(Kalah()) is None


# ---------------------------------------------------------------------- fields


@position
class Mixed(NamedTuple):
    own: Word = squares(6)
    opp: Word = squares(6)
    pits: tuple[int, ...] = numbers(6, up_to=1000)
    turn: int = number(3)
    stores: tuple[int, ...] = numbers(2, up_to=2**50)
    last: int = flag()


MIXED = [
    Mixed(0b110, 0b1001, (0, 1000, 3, 999, 5, 512), 5, (2**50, 7), 1),
    Mixed(0, 0, (1, 2, 3, 4, 5, 6), 0, (0, 2**50 - 1), 0),
]


def test_numbers_are_packed_in_the_free_bits_of_int64s():
    packed = packed_array(MIXED)
    assert Mixed.num_words == 4
    assert [position_at(Mixed, packed, row) for row in range(2)] == MIXED
    values = {name: field_values(Mixed, packed, name) for name in Mixed._fields}
    assert values["pits"].tolist() == [list(one.pits) for one in MIXED]
    assert np.array_equal(packed_fields(Mixed, values), packed)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ((0, 0, 0, 1001, 0, 0), r"the field pits has numbers from 0 to 1000, but gets 1001 as pits\[3\]"),
        ((0, 0, 0, 0, 0, -1), r"but gets -1 as pits\[5\]"),
        ((0, 0, 0, 0, 0), "the field pits is a tuple of 6 numbers, but gets one of 5"),
        ([0] * 6, r"gets \[0, 0, 0, 0, 0, 0\]; to change one number, write replaced\(pits, i, number\)"),
        ((0, 0, 0, 0, 0, 0.5), r"gets 0.5 as pits\[5\], which is not a number"),
        (3, "a tuple of 6 numbers, but gets 3"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(wrong, reason):
    with pytest.raises(ConformanceError, match=reason):
        MIXED[0]._replace(pits=wrong)


@pytest.mark.parametrize(("count", "up_to"), [(0, 5), (3, 0), (3, -1), (3, 2**63), (3, "5"), ("3", 5)])
def test_sizes_that_are_impossible_are_refused(count, up_to):
    with pytest.raises(ConformanceError, match=r"Position.pits: .* numbers\(n, up_to=largest\)"):

        @position
        class Position(NamedTuple):
            pits: tuple[int, ...] = numbers(count, up_to=up_to)


TENS = (3, 1, 4, 1, 5, 9)
FIRST = 2


def every_operation(p):
    """Everything that rules may do with tuples of numbers."""
    total = len(p.pits) * 1000 + min(p.pits) + 7 * max(p.pits) + sum(p.pits[FIRST:]) + sum(TENS)
    for seeds in p.pits[1:]:
        total += seeds * seeds
    other = replaced(TENS, p.turn - 6, p.turn)
    total += (other == TENS) * 3 + (other != p.pits) * 5
    both = p.pits[-2:] + other + p.pits[:FIRST]
    for i in range(-len(both), 0):
        total = total * 3 + both[i]
    return total % 1_000_003 + p.stores[p.last]


@needs_node
def test_operations_on_numbers_are_the_same_compiled_uncompiled_and_in_javascript():
    operation, unpack = rule(every_operation), Mixed.unpack

    @compiled
    def run(packed, found, fitting):
        for row in range(len(packed)):
            p = unpack(load(packed, row))
            found[row] = operation(p)
            changed = replaced(p.pits, 5, 998 + p.turn)
            fitting[row] = fits(Mixed(p.own, p.opp, changed, p.turn, p.stores, p.last))

    random = np.random.default_rng(0)
    tried = [Mixed(0, 0, tuple(random.integers(0, 1001, 6).tolist()), turn, (turn, 9), turn % 2) for turn in range(6)]
    expected, found = [every_operation(p) for p in tried], np.zeros(len(tried), dtype=np.int64)
    fitting = np.zeros(len(tried), dtype=np.bool_)
    run(word_rows(packed_array(tried)), found, fitting)
    assert found.tolist() == expected
    assert fitting.tolist() == [turn <= 2 for turn in range(6)]
    code = javascript_of({"operation": (every_operation, [Mixed])}, Mixed)
    asked = json.dumps([str(int(pack(p))) for p in tried])
    code += f"console.log(JSON.stringify({asked}.map((text) => Number(operation(unpacked(BigInt(text)))))));"
    node = ["node", "--input-type=module"]
    assert json.loads(subprocess.run(node, input=code, capture_output=True, text=True, check=True).stdout) == expected


def beyond(p):
    return replaced(p.pits, p.turn, 1)[p.turn - 1]


@needs_node
def test_there_is_no_number_beyond_the_last():
    operation, unpack = rule(beyond), Mixed.unpack

    @compiled
    def run(packed):
        return operation(unpack(load(packed, 0)))

    p = MIXED[0]._replace(turn=6)
    for call in (lambda: beyond(p), lambda: run(word_rows(packed_array([p])))):
        with pytest.raises(IndexError, match="tuple index out of range"):
            call()
    code = javascript_of({"operation": (beyond, [Mixed])}, Mixed) + f"operation(unpacked({int(pack(p))}n));"
    ran = subprocess.run(["node", "--input-type=module"], input=code, capture_output=True, text=True, check=False)
    assert "RangeError: tuple index out of range" in ran.stderr


# ---------------------------------------------------------------------- observations


LARGE = 2**40


class OnBoard(Game):
    """Places stones; the numbers of a position are those of plies and squares."""

    name = "on_board"
    num_distinct_actions = 6
    observation_shape = (9, 2, 3)
    max_game_length = 6

    def __init__(self):
        @rule
        def legal_actions(p):
            return ~(p.own | p.opp) & 0b111111

        @rule
        def play(p, action):
            return Mixed(
                p.opp,
                p.own | 1 << action,
                replaced(p.pits, action, 100 * (p.turn + 1)),
                p.turn + 1,
                replaced(p.stores, p.last, LARGE + p.turn),
                1 - p.last,
            )

        @rule
        def is_terminal(p):
            return p.turn == 6

        @rule
        def return_to_move(p):
            return 1 if p.pits[0] > p.pits[5] else -1

        start = Mixed(0, 0, (0,) * 6, 0, (0, 0), 0)
        self.rules = Rules(start, legal_actions, play, is_terminal, return_to_move)


def test_networks_see_numbers_scaled_as_planes_of_the_board():
    game = OnBoard()
    check_game(game)
    state = game.follow([2, 4])
    (p,) = game.positions(state)
    seen = game.observe(state)[0]
    scaled = [np.array(p.pits, np.float32) / np.float32(1000), *(np.full(6, store / 2**50) for store in p.stores)]
    bits = [[p.turn >> bit & 1] * 6 for bit in range(3)] + [[p.last] * 6]
    expected = np.array([[0, 0, 0, 0, 1, 0], [0, 0, 1, 0, 0, 0], scaled[0], *bits[:3], *scaled[1:], bits[3]])
    assert seen.dtype == torch.float32
    assert np.array_equal(seen.reshape(9, 6).numpy(), expected.astype(np.float32))
    assert game.squares(state)[0].tolist() == [0, 0, 1, 0, -1, 0]
    with pytest.raises(SettingError, match="plane 2 of its observation has numbers from 0 to 1000"):
        check_planes(game, Planes(marks=2))


def test_a_game_without_boards_shows_each_number_as_an_entry():
    game = SmallKalah()
    assert game.observe(game.init()).tolist() == [[*[np.float32(2 / 12)] * 3, 0, *[np.float32(2 / 12)] * 3, 0, 0]]
    assert game.num_squares is None
    assert game.presentation.board_text(game.init()).startswith("seeds 2 2 2 0 2 2 2 0, again 0")


@pytest.mark.slow
def test_compiled_searches_see_the_same_numbers():
    game = SmallKalah()
    network = build_network({"name": "alphazero_mlp", "hidden_sizes": [5]}, game.observation_shape, 3).eval()
    set_numerics(network, PORTABLE)
    value, unpack = compile_policy_network(game), game.rules.position.unpack

    @compiled
    def run(packed, edges, observed, logits, values):
        for row in range(len(packed)):
            values[row] = value(unpack(load(packed, row)), edges, 0, observed, logits)

    states = [game.follow(actions) for actions in ([], [0], [2], [2, 0], [0, 2])]
    edges, values = np.zeros(0, dtype=[("action", np.int64)]), np.zeros(len(states))
    program = layer_program(network, game.observation_shape)
    packed = word_rows(torch.cat([state.position for state in states]))
    run(packed, edges, ObservedProgram(shown_in(game), program), np.zeros(3), values)
    with torch.no_grad(), arithmetic_of(network):
        expected = network(torch.cat([game.observe(state) for state in states])).value
    assert values.tolist() == (-expected).tolist()


OBSERVED = """
import { readFileSync } from "node:fs";
import { observer } from "./game.js";
import { unpacked } from "./rules.js";
const { described, size, packed } = JSON.parse(readFileSync(0, "utf8"));
const observe = observer(described, size);
console.log(JSON.stringify(packed.map((text) => observe(unpacked(BigInt(text))))));
"""


@needs_node
def test_exported_pages_see_the_same_numbers(tmp_path):
    game = OnBoard()
    states = [game.follow(list(range(plies))) for plies in range(7)]
    shown = shown_entries(Mixed, game.observation_shape)
    described = {"shown": shown.lowest.tolist(), "limits": shown.entries.limits.tolist()}
    shutil.copy(PROJECT / "selfplay" / "web" / "exported" / "game.js", tmp_path)
    for name, text in (("rules.js", javascript_of({}, Mixed)), ("script.mjs", OBSERVED), ("package.json", MODULE)):
        (tmp_path / name).write_text(text)
    packed = [str(int(pack(game.positions(state)[0]))) for state in states]
    given = json.dumps({"described": described, "size": 54, "packed": packed})
    node = subprocess.run(["node", "script.mjs"], input=given, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert json.loads(node.stdout) == [game.observe(state).flatten().tolist() for state in states]


MODULE = '{"type": "module"}'


class Mirrored(SmallKalah):
    """Claims that its store is like the flag."""

    @property
    def symmetries(self):
        entries = np.arange(9)
        return Symmetries(np.stack([np.arange(3)] * 2), np.stack([entries, [0, 1, 2, 8, 4, 5, 6, 7, 3]]))


def test_a_symmetry_moves_numbers_only_to_numbers_of_the_same_range():
    with pytest.raises(ConformanceError, match=r"symmetry 1 moves entry 8 .*, to entry 3, from 0 to 12"):
        CHECKS["symmetries"](Mirrored(), ())


# ---------------------------------------------------------------------- datasets


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_datasets_keep_the_numbers(tmp_path, form):
    game, path = Kalah(), tmp_path / f"dataset.{form}"
    rows, codec = random_rows(game, range(5)), game.observation_codec
    write_dataset(path, [rows], codec)
    assert rows_are_equal(read_dataset(path, codec), rows)
    if form == "csv":
        lines = path.read_text().splitlines()
        (first,) = game.positions(game.state_at(torch.from_numpy(rows.position[:1])))
        assert lines[1].split(",")[2:17] == [*map(str, first.seeds), str(first.again)]
        fields = lines[1].split(",")
        path.write_text("\n".join([lines[0], ",".join([*fields[:4], "49", *fields[5:]]), ""]))
        with pytest.raises(InvalidFileError, match="column v2 of row 1 is 49; it must be from 0 to 48"):
            read_dataset(path, codec)


def test_a_packed_number_above_its_limit_belongs_to_no_position():
    codec = Kalah().observation_codec
    numbers_of_row = np.array([[48] * 14 + [1], [0] * 13 + [49, 0]])
    with pytest.raises(ForeignObservationError) as caught:
        codec.unpack(np.packbits(codec.entries.bits(numbers_of_row), axis=1))
    assert caught.value.row == 1
