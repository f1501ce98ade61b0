"""Permutations of the bits of many packed rows, applied with one lookup table per byte."""

import numpy as np
from numpy.typing import NDArray

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


def packed_planes(planes: int, size: int) -> BitPermutation:
    """Turns packed rows of `planes * size` entries into one word for each plane, int64[N, planes].

    Entry i of a plane is bit i of its word; a plane has at most 64 entries.
    """
    sources = np.full((planes, 64), -1)
    sources[:, :size] = packed_bit(np.arange(planes * size)).reshape(planes, size)
    return BitPermutation(sources.reshape(-1), -(-planes * size // 8))
