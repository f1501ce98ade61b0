"""Observations packed into bits, made from the two words of positions and turned back into them."""

from collections.abc import Callable
from functools import cache
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.stored_words import word_tensor
from selfplay.compute.words import PART_BITS, parts_of_bits
from selfplay.errors import SettingError

ONE_BIT = "let observation_entry show a bit of own or of opp there, or override Game.observation_codec"

Words = tuple[NDArray[np.int64], NDArray[np.int64]]
"""int64[N] or int64[N, K] each: `own` and `opp` of N positions, as in `State`."""


class ObservationCodec(Protocol):
    """Packs the observations of a game and unpacks them."""

    size: int
    """D, the number of entries of an observation."""

    def pack(self, own: NDArray[np.int64], opp: NDArray[np.int64]) -> NDArray[np.uint8]:
        """uint8[N, ceil(D / 8)]: the observations of the positions `(own, opp)`, as in `State`.

        Flattened in C order, one bit for each entry, entry 0 in the highest bit of the first byte (`np.packbits`).
        """

    def unpack(self, packed: NDArray[np.uint8]) -> Words:
        """The words of the positions with these observations, the inverse of `pack`.

        Raises ForeignObservationError if an observation does not belong to any position.
        """


class ForeignObservationError(ValueError):
    """An observation that does not belong to any position of the game."""

    def __init__(self, row: int) -> None:
        super().__init__(f"row {row} is not the observation of a position")
        self.row = row
        """The number of the first such row, from 0."""


class BitCodec:
    """The codec of observations whose entries are bits of the two words.

    Args:
        bits: int64[D], the bit that each entry shows: bit i of `own` is i, bit i of `opp` is 64 K + i.
        num_parts: K, the number of int64s that hold a word.
    """

    def __init__(self, bits: NDArray[np.int64], num_parts: int = 1) -> None:
        self.size, self._num_parts = len(bits), num_parts
        self._packed_bytes = -(-self.size // 8)
        entries = packed_bit(np.arange(self.size))
        shown = np.full(8 * self._packed_bytes, -1)
        shown[entries] = bits
        sources = np.full(2 * PART_BITS * num_parts, -1)
        sources[bits] = entries
        self._pack, self._unpack = BitPermutation(shown, len(sources) // 8), BitPermutation(sources, self._packed_bytes)

    def pack(self, own: NDArray[np.int64], opp: NDArray[np.int64]) -> NDArray[np.uint8]:
        words = np.stack((own, opp), axis=1).astype("<i8", copy=False)
        packed = self._pack(words.reshape(len(words), 2 * self._num_parts).view(np.uint8)).view(np.uint8)
        return np.ascontiguousarray(packed[:, : self._packed_bytes])

    def unpack(self, packed: NDArray[np.uint8]) -> Words:
        words = self._unpack(packed)
        own, opp = (np.ascontiguousarray(half) for half in np.split(words, 2, axis=1))
        return (own[:, 0], opp[:, 0]) if self._num_parts == 1 else (own, opp)


@cache
def codec_of_bits(observe: Callable[[Tensor, Tensor, int], Tensor], size: int, word_bits: int) -> BitCodec:
    """The codec of a game whose observation entries are bits of the two words, found by setting one bit at a time.

    If several bits set an entry, it is assumed to show the lowest one, because words hold positions in their low bits.
    `selfplay.games.conformance` checks the codec on positions of the game.

    Args:
        observe: (own, opp, D) to uint8[B, D], the observations of positions, see `selfplay.games.kernels.Kernels`.
        size: D, the number of entries of an observation.
        word_bits: see `Rules`.

    Raises SettingError, which names the entry, if one is set by no bit, or by the same bit of both words.
    """
    num_parts = parts_of_bits(word_bits)
    num_bits = PART_BITS * num_parts
    ones = word_tensor([1 << bit for bit in range(num_bits)], word_bits)
    zeros = torch.zeros_like(ones)
    by_own, by_opp = (observe(*words, size).numpy() != 0 for words in ((ones, zeros), (zeros, ones)))
    own_bit, opp_bit = (np.where(shown.any(axis=0), shown.argmax(axis=0), num_bits) for shown in (by_own, by_opp))
    if (own_bit == opp_bit).any():
        entry = int((own_bit == opp_bit).argmax())
        is_none = own_bit[entry] == num_bits
        shown = "no bit of the two words" if is_none else f"bit {own_bit[entry]} of both words"
        raise SettingError(f"entry {entry} of the observation shows {shown}, not one bit; {ONE_BIT}")
    return BitCodec(np.where(own_bit < opp_bit, own_bit, num_bits + opp_bit), num_parts)


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
