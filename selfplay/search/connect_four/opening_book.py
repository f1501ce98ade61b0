"""The opening book of the Connect Four solver: the score of every position of 12 plies.

The values are those of the package bitbully-databases (Markus Thill, MIT licence), which holds the 4,200,899 positions
in which the player to move cannot win at once, one of each pair of mirror images. Its file has five bytes for each, in
ascending order of the first four:

- a Huffman code of the board as a signed big-endian number: for each column from the left and each stone from the
  bottom, `10` for the player who moved first and `11` for the other, then `0`; one more `0` at the end;
- the distance d to the end in plies, as 100 - d if the player to move wins, d - 100 if it loses, and 0 for a draw.
"""

import hashlib
import logging
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Bits
from selfplay.compute.compilation import part_of_compiled
from selfplay.errors import InvalidFileError
from selfplay.games.connect_four import COLUMNS, ROWS, SQUARES
from selfplay.installation import installation
from selfplay.search.connect_four.board import STEP

log = logging.getLogger(__name__)

PLIES = 12
BOOK_EMPTIES = SQUARES - PLIES
"""The number of empty squares of all positions of the book."""
PACKAGE, VERSION, FILE = "bitbully_databases", "0.0.2", "assets/book_12ply_distances.dat"
SHA256 = "1e01874dbb9b296a96baa2f5483ae69333ac7009377b34b222f112d9d8e89704"
ENTRY = np.dtype([("code", ">i4"), ("distance", "i1")])
NO_SCORE = -99
"""Below all scores."""


class Book(NamedTuple):
    """The positions and their scores."""

    codes: NDArray[np.int32]
    """int32[N], ascending."""
    scores: NDArray[np.int8]
    """int8[N]: the scores to the player to move."""


NO_BOOK = Book(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int8))


@cache
def opening_book() -> Book:
    """The book, loaded once per process; without entries if the package is not installed.

    Raises InvalidFileError if its file is not the one that belongs to this version.
    """
    try:
        content = (files(PACKAGE) / FILE).read_bytes()
    except ModuleNotFoundError:
        book = "the package bitbully-databases, early positions of connect_four take minutes to solve"
        log.info("without %s; run %s", book, installation("connect-four"))
        return NO_BOOK
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise InvalidFileError(FILE, f"damaged, or not of bitbully-databases {VERSION}; install that version again")
    entries = np.frombuffer(content, dtype=ENTRY)
    distances = entries["distance"].astype(np.int64)
    ends = PLIES + 100 - np.abs(distances)
    scores = np.sign(distances) * (SQUARES // 2 + 1 - (ends + 1) // 2)
    return Book(entries["code"].astype(np.int32), scores.astype(np.int8))


@part_of_compiled
def book_score(codes: NDArray[np.int32], scores: NDArray[np.int8], own: int, stones: int) -> Bits:
    """The score of a position of 12 plies; NO_SCORE if the book does not have it."""
    place = place_in_book(codes, huffman_code(own, stones, False))
    if place < 0:
        place = place_in_book(codes, huffman_code(own, stones, True))
    return NO_SCORE if place < 0 else np.int64(scores[place])


@part_of_compiled
def huffman_code(own: int, stones: int, mirrored: bool) -> Bits:
    """The Huffman code of a position, or of its mirror image. `own`: the stones of the player who moved first."""
    code = 0
    for number in range(COLUMNS):
        square = 1 << STEP * (COLUMNS - 1 - number if mirrored else number)
        for _ in range(ROWS):
            if stones & square == 0:
                break
            code = (code << 2) | (2 if own & square else 3)
            square <<= 1
        code <<= 1
    code <<= 1
    return code - ((code >> 31) << 32)


@part_of_compiled
def place_in_book(codes: NDArray[np.int32], code: int) -> int:
    """The index of a code; -1 if it is missing."""
    low, high = 0, codes.shape[0]
    while low < high:
        middle = (low + high) >> 1
        if codes[middle] < code:
            low = middle + 1
        else:
            high = middle
    return low if low < codes.shape[0] and codes[low] == code else -1
