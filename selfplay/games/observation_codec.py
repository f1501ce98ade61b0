"""Observations packed into bits, made from positions and, where they show all of them, turned back into positions."""

from collections.abc import Callable
from functools import cache
from math import isqrt, prod
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.compute.position_fields import Place
from selfplay.compute.positions import Packed
from selfplay.compute.words import PART_BITS
from selfplay.errors import SettingError
from selfplay.games.observation_entries import ObservationEntries, entries_of_bits
from selfplay.games.rules import Rules


class ObservationCodec(Protocol):
    """Packs the observations of a game and unpacks them."""

    entries: ObservationEntries
    """The D entries of an observation, and the B bits in which they are packed."""
    num_words: int
    """W, the number of int64s of a packed position."""
    shows_all: bool
    """Whether the observation determines the position, so that it can be unpacked."""

    def pack(self, positions: Packed) -> NDArray[np.uint8]:
        """uint8[N, ceil(B / 8)]: the observations of positions (int64[N, W], as in `State`).

        The bits of the entries, flattened in C order, the first in the highest bit of the first byte (`np.packbits`).
        """

    def unpack(self, packed: NDArray[np.uint8]) -> Packed:
        """int64[N, W]: the positions with these observations, the inverse of `pack`. Called only if `shows_all`.

        Raises ForeignObservationError if an observation does not belong to any position.
        """

    def has_shared_squares(self, positions: Packed) -> NDArray[np.bool_]:
        """bool[N]: the positions (int64[N, W]) with stones of both players on one square."""


class ForeignObservationError(ValueError):
    """An observation that does not belong to any position of the game."""

    def __init__(self, row: int) -> None:
        super().__init__(f"row {row} is not the observation of a position")
        self.row = row
        """The number of the first such row, from 0."""


class BitCodec:
    """The codec of observations whose entries are bits and numbers of the packed position, all of which are shown.

    Args:
        bits: int64[B], the bit of the position that each packed bit shows.
        num_words: W, the number of int64s of a packed position.
        entries: None: each bit is an entry.
        stones: the fields with the stones of the two players; None: the game has no such fields.
    """

    shows_all = True

    def __init__(
        self,
        bits: NDArray[np.int64],
        num_words: int,
        entries: ObservationEntries | None = None,
        stones: tuple[Place, Place] | None = None,
    ) -> None:
        self.entries, self.num_words, self.stones = entries or entries_of_bits(len(bits)), num_words, stones
        self._packed_bytes = -(-len(bits) // 8)
        places = packed_bit(np.arange(len(bits)))
        shown = np.full(8 * self._packed_bytes, -1)
        shown[places] = bits
        sources = np.full(PART_BITS * num_words, -1)
        sources[bits] = places
        self._pack, self._unpack = BitPermutation(shown, 8 * num_words), BitPermutation(sources, self._packed_bytes)

    def pack(self, positions: Packed) -> NDArray[np.uint8]:
        rows = np.ascontiguousarray(positions, dtype="<i8").view(np.uint8)
        return np.ascontiguousarray(self._pack(rows).view(np.uint8)[:, : self._packed_bytes])

    def unpack(self, packed: NDArray[np.uint8]) -> Packed:
        if not self.entries.are_bits:
            numbers = self.entries.numbers(self.entries.unpacked(torch.from_numpy(packed))).numpy()
            foreign = np.flatnonzero((numbers > self.entries.limits).any(axis=1))
            if len(foreign):
                raise ForeignObservationError(int(foreign[0]))
        return self._unpack(packed)

    def has_shared_squares(self, positions: Packed) -> NDArray[np.bool_]:
        shared = np.zeros(len(positions), dtype=np.bool_)
        if self.stones is not None:
            (first, second), mask = (place.offset // PART_BITS for place in self.stones), self.stones[0].mask
            for part in range(self.stones[0].num_parts):
                bits = mask >> PART_BITS * part & (1 << PART_BITS) - 1
                for start in range(0, len(positions), BLOCK):
                    rows = slice(start, start + BLOCK)
                    both = positions[rows, first + part] & positions[rows, second + part]
                    shared[rows] |= (both.view(np.uint64) & np.uint64(bits)) != 0
        return shared


class ShownCodec:
    """The codec of observations that show the fields of what a rule gives for a position (`Rules.observed`).

    Args:
        rules: with `observed`.
        observe: see `selfplay.games.kernels.Kernels`.

    Raises SettingError as `shown_entries`.
    """

    shows_all = False

    def __init__(self, rules: Rules, observation_shape: tuple[int, ...], observe: Callable[[Packed], Packed]) -> None:
        self.shown = _codec_of_fields(rules.shown, observation_shape)
        self.entries, self.num_words, self._observe = self.shown.entries, rules.position.num_words, observe

    def pack(self, positions: Packed) -> NDArray[np.uint8]:
        return self.shown.pack(self._observe(positions))

    def unpack(self, packed: NDArray[np.uint8]) -> Packed:
        raise NotImplementedError("only called if the observation shows all of a position")

    def has_shared_squares(self, positions: Packed) -> NDArray[np.bool_]:
        return np.zeros(len(positions), dtype=np.bool_)


@cache
def codec_of(
    rules: Rules, observation_shape: tuple[int, ...], observe: Callable[[Packed], Packed] | None
) -> BitCodec | ShownCodec:
    """The codec of observations of this shape; `observe` as in `selfplay.games.kernels.Kernels`.

    Raises SettingError as `shown_entries`.
    """
    if observe is None:
        return _codec_of_fields(rules.position, observation_shape)
    return ShownCodec(rules, observation_shape, observe)


@cache
def _codec_of_fields(of: Any, observation_shape: tuple[int, ...]) -> BitCodec:
    shown = shown_entries(of, observation_shape)
    return BitCodec(shown.entries.bits_at(shown.lowest), of.num_words, shown.entries, stones_of(of))


def stones_of(position: Any) -> tuple[Place, Place] | None:
    """The fields `own` and `opp` of a class of positions, if both are boards of one size."""
    boards = {place.name: place for place in position.places if place.is_board}
    if not {"own", "opp"} <= set(boards) or boards["own"].bits != boards["opp"].bits:
        return None
    return boards["own"], boards["opp"]


class ShownEntries(NamedTuple):
    """What an observation that is made from the fields shows of a packed position."""

    lowest: NDArray[np.int64]
    """int64[D]: the bit of the packed position that each entry shows; of a number, the lowest."""
    entries: ObservationEntries


SMALL_BITS = 3
"""Numbers of more bits are shown scaled by default, in one plane; smaller ones by their bits."""


def shown_entries(position: Any, observation_shape: tuple[int, ...]) -> ShownEntries:
    """The entries of the observation by the fields of positions, or of what a rule shows of them (`Rules.shown`).

    There is a plane for each board, that of `opp` before that of `own`, then for each `number` one for each of its
    bits, the lowest first, and one for each of several `numbers`; as many numbers as squares are one plane. Without a
    board of squares, each bit, and each of several numbers, is one entry. If a shape has fewer planes or entries, each
    `number` of more than SMALL_BITS bits is a single one, divided by the largest number of as many bits.

    Raises SettingError if the observation has another shape.
    """
    squares = prod(observation_shape[1:]) if len(observation_shape) == 3 else 1
    fits = len(observation_shape) < 3 or all(place.bits == squares for place in position.places if place.is_board)
    rights = []
    for is_scaled in (False, True):
        planes, limits = _planes(position, squares, is_scaled)
        lowest = np.concatenate(planes).astype(np.int64)
        if fits and len(lowest) == prod(observation_shape):
            return ShownEntries(lowest, ObservationEntries(np.repeat(limits, [len(plane) for plane in planes])))
        has_board = len(observation_shape) == 3 or any(place.is_board for place in position.places)
        rights.append(f"({len(planes)}, rows, columns)" if has_board else f"({len(lowest)},)")
    fields = ", ".join(f"{place.name} ({_size_of(place)})" for place in position.places)
    raise SettingError(
        f"observation_shape={observation_shape}: does not fit the fields {fields}; write "
        f"{' or '.join(dict.fromkeys(rights))}, or give the rules observed"
    )


def _planes(position: Any, squares: int, is_scaled: bool) -> tuple[list[NDArray[np.int64]], list[int]]:
    """For each plane, the bit that each of its entries shows, and the largest value of these."""
    names = [place.name for place in position.places if place.is_board]
    first = [name for name in ("opp", "own") if name in names]
    boards = [position.place(name) for name in dict.fromkeys([*first, *names])]
    planes = [np.arange(place.bits) + place.offset for place in boards]
    limits = [1] * len(planes)
    for place in position.places:
        if place.is_several:
            fill_a_plane = 1 < squares == len(place.offsets)
            planes += [np.array(place.offsets)] if fill_a_plane else [np.full(squares, one) for one in place.offsets]
        elif not place.is_board:
            bits = [0] if is_scaled and place.bits > SMALL_BITS else range(place.bits)
            planes += [np.full(squares, place.offset + bit) for bit in bits]
        is_number = place.is_several or (is_scaled and not place.is_board and place.bits > SMALL_BITS)
        limits += [place.up_to if is_number else 1] * (len(planes) - len(limits))
    return planes, limits


def default_observation_shape(position: Any, board: tuple[int, int] | None) -> tuple[int, ...]:
    """The shape of an observation that shows every field, large numbers scaled.

    Args:
        board: its rows and columns; None: it is square, or there is none.

    Raises SettingError if the boards of the position are of different sizes, or not of this shape.
    """
    sizes = {place.bits for place in position.places if place.is_board}
    if not sizes and board is None:
        return (sum(map(len, _planes(position, 1, is_scaled=True)[0])),)
    width = isqrt(max(sizes, default=0))
    rows, columns = board or (width, width)
    if sizes - {rows * columns}:
        raise SettingError(
            f"the boards have {' and '.join(map(str, sorted(sizes)))} squares: write board = (rows, columns), or "
            "observation_shape, or give the rules observed"
        )
    return len(_planes(position, rows * columns, is_scaled=True)[0]), rows, columns


def _size_of(place: Place) -> str:
    if place.is_several:
        return f"{len(place.offsets)} numbers"
    return f"{place.bits} {'squares' if place.is_board else 'bits'}"


BLOCK = 8192
"""Rows processed at a time. They stay in the processor's cache, which is twice as fast as all rows at once."""


class BitPermutation:
    """Makes rows of words from rows of bytes: bit j of a new row is bit `sources[j]` of the old one.

    Bit j of a row is bit j % 8 of byte j // 8; the bits of words and bytes are counted from the lowest.

    Args:
        sources: int64[K], one for each bit of the new row; -1 gives a 0.
        num_bytes: I, the number of bytes in an old row.
    """

    def __init__(self, sources: NDArray[np.int64], num_bytes: int) -> None:
        self._words = -(-len(sources) // 64)
        bits = np.zeros((8 * num_bytes, 64 * self._words), dtype=np.uint8)
        targets = np.flatnonzero(sources >= 0)
        bits[sources[targets], targets] = 1
        # moved[i] is the new row if bit i alone is set in the old one.
        moved = np.packbits(bits, axis=1, bitorder="little").view("<i8").reshape(num_bytes, 8, self._words)
        is_set = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little").astype(bool)
        self._tables = {
            byte: np.bitwise_or.reduce(np.where(is_set[:, :, None], moved[byte], 0), axis=1)
            for byte in range(num_bytes)
            if moved[byte].any()
        }

    def __call__(self, rows: NDArray[np.uint8]) -> NDArray[np.int64]:
        """int64[N, ceil(K / 64)], made from uint8[N, I]."""
        words = np.zeros((len(rows), self._words), dtype="<i8")
        for start in range(0, len(rows), BLOCK):
            block, block_words = rows[start : start + BLOCK], words[start : start + BLOCK]
            for byte, table in self._tables.items():
                block_words |= table.take(block[:, byte], axis=0)
        return words


def packed_bit(entry: NDArray[np.int64]) -> NDArray[np.int64]:
    """The bit that holds each of these entries in a row made by `np.packbits`: entry 0 is the highest bit of byte 0."""
    return entry ^ 7


class PackedPermutation:
    """Permutes the entries of rows packed by `np.packbits`.

    Args:
        sources: int64[D]: entry i of a new row is entry `sources[i]` of the old one.
    """

    def __init__(self, sources: NDArray[np.int64]) -> None:
        self._bytes = -(-len(sources) // 8)
        bits = np.full(8 * self._bytes, -1)
        bits[packed_bit(np.arange(len(sources)))] = packed_bit(sources)
        self._permutation = BitPermutation(bits, self._bytes)

    def __call__(self, packed: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """uint8[N, ceil(D / 8)], made from uint8[N, ceil(D / 8)]."""
        return self._permutation(packed).view(np.uint8)[:, : self._bytes]
