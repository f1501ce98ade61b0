"""Permutations of packed bits, compared with `np.packbits` and `np.unpackbits`."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from selfplay.games.observation_codec import BitPermutation, PackedPermutation


def random_entries(rows, size, seed=0):
    return np.random.default_rng(seed).integers(0, 2, (rows, size), dtype=np.uint8)


@given(st.integers(1, 20), st.data())
def test_each_bit_comes_from_its_source(num_bytes, data):
    sources = np.array(data.draw(st.lists(st.integers(-1, 8 * num_bytes - 1), min_size=1, max_size=130)))
    bits = random_entries(10, 8 * num_bytes)
    words = BitPermutation(sources, num_bytes)(np.packbits(bits, axis=1, bitorder="little"))
    moved = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
    expected = np.where(sources >= 0, bits[:, sources], 0)
    assert (moved[:, : len(sources)] == expected).all()
    assert not moved[:, len(sources) :].any()


@given(st.integers(1, 130), st.data())
def test_packed_entries_are_permuted_like_unpacked_ones(size, data):
    entries, sources = random_entries(10, size), np.array(data.draw(st.permutations(range(size))))
    permuted = PackedPermutation(sources)(np.packbits(entries, axis=1))
    assert (permuted == np.packbits(entries[:, sources], axis=1)).all()
