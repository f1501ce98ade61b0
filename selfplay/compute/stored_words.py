"""Words stored in tensors.

A batch of B words is stored as int64[B] if they have at most 64 bits, otherwise as int64[B, K], the lowest part first.
Rules get such a batch as a `WordBatch` (`words_of`), and `stored` turns it back.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from selfplay.compute.words import PART_BITS, WordBatch, WordInt, parts_of, parts_of_bits, word_of_parts


def word_tensor(words: Sequence[int], word_bits: int, device: str = "cpu") -> Tensor:
    """int64[N] or int64[N, K]: these words."""
    parts = parts_of_bits(word_bits)
    stored_parts = torch.tensor([parts_of(word, parts) for word in words], dtype=torch.int64, device=device)
    return stored_parts.reshape(len(words), parts)[:, 0] if parts == 1 else stored_parts.reshape(len(words), parts)


def parts_matrix(words: Tensor) -> Tensor:
    """int64[N, K]: the parts of stored words."""
    return words[:, None] if words.ndim == 1 else words


def single_word(words: Tensor, row: int) -> WordInt:
    """One of stored words as a number for rules."""
    return word_of_parts(parts_matrix(words)[row].tolist())


def words_of(tensor: Tensor, word_bits: int) -> WordBatch:
    """Stored words as rules take them. Dimensions besides that of the parts stay."""
    return WordBatch([tensor] if word_bits <= PART_BITS else tensor.unbind(-1))


def stored(words: WordBatch | Tensor) -> Tensor:
    """Words that a rule gives, as they are stored."""
    parts: list[Tensor] = words.parts if isinstance(words, WordBatch) else [words]
    return parts[0] if len(parts) == 1 else torch.stack(parts, dim=-1)


def number_of(words: WordBatch | Tensor) -> Tensor:
    """Words that hold small numbers, such as entries of observations, as int64 tensors."""
    return words.parts[0] if isinstance(words, WordBatch) else words


def words_where(condition: Tensor, one: Tensor | int, other: Tensor) -> Tensor:
    """`torch.where` of stored words; `condition`: bool[B]."""
    return torch.where(condition if other.ndim == 1 else condition[:, None], one, other)
