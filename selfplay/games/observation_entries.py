"""The entries of observations: bits, or whole numbers that networks get scaled to 0..1."""

from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


class ObservationEntries:
    """The D entries of an observation, and the B bits of them that are stored.

    The bits of the entries follow each other: one of each bit, as many as `limits` need of each number, the lowest
    first.

    Args:
        limits: int64[D], the largest value of each entry before it is scaled; 1 for a bit.
    """

    def __init__(self, limits: NDArray[np.int64]) -> None:
        self.limits = limits
        self.are_bits = bool((limits == 1).all())
        self.widths: NDArray[np.int64] = np.array([int(limit).bit_length() for limit in limits], dtype=np.int64)
        """int64[D]: the number of bits of each entry."""
        self.num_bits = int(self.widths.sum())
        """B."""

    @property
    def size(self) -> int:
        """D."""
        return len(self.limits)

    @cached_property
    def firsts(self) -> NDArray[np.int64]:
        """int64[D]: which of the B bits is the lowest of each entry."""
        return np.cumsum(self.widths) - self.widths

    @cached_property
    def entry_of_bit(self) -> NDArray[np.int64]:
        """int64[B]."""
        return np.repeat(np.arange(self.size), self.widths)

    @cached_property
    def place_of_bit(self) -> NDArray[np.int64]:
        """int64[B]: the number of bits of the same entry that are below each bit."""
        return np.arange(self.num_bits) - np.repeat(self.firsts, self.widths)

    def bits_at(self, lowest: NDArray[np.int64]) -> NDArray[np.int64]:
        """int64[..., B]: where each bit is, if the lowest bits of the entries are at `lowest` (int64[..., D])."""
        found: NDArray[np.int64] = lowest[..., self.entry_of_bit] + self.place_of_bit
        return found

    def bits_of_images(self, images: NDArray[np.int64]) -> NDArray[np.int64]:
        """int64[S, B]: the permutations of the bits that permute the entries as `images` (int64[S, D]) do."""
        return images if self.are_bits else self.bits_at(self.firsts[images])

    def numbers(self, bits: Tensor) -> Tensor:
        """The entries before they are scaled: uint8[N, D] if all are bits, otherwise int64[N, D].

        `bits`: uint8[N, B], 0 or 1.
        """
        if self.are_bits:
            return bits
        entries, places = (torch.from_numpy(one).to(bits.device) for one in (self.entry_of_bit, self.place_of_bit))
        found = torch.zeros(len(bits), self.size, dtype=torch.int64, device=bits.device)
        return found.index_add_(1, entries, bits.long() << places)

    def bits(self, numbers: NDArray[np.integer]) -> NDArray[np.uint8]:
        """uint8[N, B]: the bits of entries that are not scaled ([N, D]); the inverse of `numbers`."""
        return (numbers[:, self.entry_of_bit] >> self.place_of_bit & 1).astype(np.uint8)

    def scaled(self, bits: Tensor) -> Tensor:
        """float32[N, D]: the entries as networks get them, each divided by its limit. `bits` as for `numbers`."""
        if self.are_bits:
            return bits.to(torch.float32)
        limits = torch.from_numpy(self.limits).to(bits.device)
        return (self.numbers(bits).double() / limits.double()).to(torch.float32)

    def unpacked(self, packed: Tensor) -> Tensor:
        """uint8[N, B]: the bits in uint8[N, ceil(B / 8)], as `np.packbits` packs them."""
        if packed.is_cpu:
            return torch.from_numpy(np.unpackbits(packed.numpy(), axis=1, count=self.num_bits))
        shifts = torch.arange(7, -1, -1, dtype=torch.uint8, device=packed.device)
        return ((packed.unsqueeze(-1) >> shifts) & 1).flatten(1)[:, : self.num_bits]


def entries_of_bits(size: int) -> ObservationEntries:
    """Entries that are all bits."""
    return ObservationEntries(np.ones(size, dtype=np.int64))
