"""Words stored in tensors.

A batch of B words is stored as int64[B] if they have at most 64 bits, otherwise as int64[B, K], the lowest part first.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from selfplay.compute.words import WordInt, parts_of, parts_of_bits, word_of_parts


def word_tensor(words: Sequence[int], word_bits: int) -> Tensor:
    """int64[N] or int64[N, K]: these words."""
    parts = parts_of_bits(word_bits)
    stored_parts = torch.tensor([parts_of(word, parts) for word in words], dtype=torch.int64)
    return stored_parts.reshape(len(words), parts)[:, 0] if parts == 1 else stored_parts.reshape(len(words), parts)


def parts_matrix(words: Tensor) -> Tensor:
    """int64[N, K]: the parts of stored words."""
    return words[:, None] if words.ndim == 1 else words


def single_word(words: Tensor, row: int) -> WordInt:
    """One of stored words as a number for rules."""
    return word_of_parts(parts_matrix(words)[row].tolist())
