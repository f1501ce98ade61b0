"""Texts of strangers with long repetitions are read in linear time: quadratic time would be minutes here."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import product
from types import FrameType

import pytest

from selfplay.errors import IllegalActionError, SettingError
from selfplay.games import make_game
from selfplay.games.othello_notation import written_position
from selfplay.names_of_games import parts_of_game_name
from selfplay.records import format_of_text
from selfplay.records.charset import decoded
from selfplay.records.moves import GGF, TRANSCRIPT, read_result_and_lead
from selfplay.records.sgf import SGF
from selfplay.records.tagged import PDN, PGN

REPETITIONS = 50_000
LIMIT_SECONDS = 20
"""Linear time is below 0.5 s for each text, also on a machine that does other work."""

OTHELLO, GO, HEX, DRAUGHTS = map(make_game, ("othello", "go", "hex", "draughts"))

SGF_SIGNS = ("[", "]", "[[", "[a", "\\", "[\\", "a", "1", " ", " \n", ":", "-", "GM[", "GM[ ", "( ", "A")
SGF_STARTS = ("", "(", "(;GM[", "(;GM[1", "(;GM[1]C[", "(;GM[1]RE[B+", "(;GM[1]SZ[", "(;GM[1]KM[", "(;GM[1];B[")
PGN_SIGNS = (
    "{",
    "}",
    "{a",
    "(",
    "(a",
    ")",
    ";",
    "$",
    "1",
    "1.",
    ".",
    " ",
    "\n",
    '"',
    "[",
    '[a "',
    "[a ",
    "a",
    "-",
    "/",
)
PGN_STARTS = ("", '[a "b"]', '[a "b"]\n1', '[Result "1-1', "[a", '[a "')
PDN_SIGNS = ("1", "-", "x", "1x", "1-1", "1,", "K", ":", ",", "11-15 ", '"]\n')
CHARSET_SIGNS = ("CA[", "CA[ ", "a", "]", "\xe9", "\xe9 ", "\\")
GGF_SIGNS = ("[", "]", "A", "a[", " ", "1", "a", "1a", ":", "-", "(", "(;", "BO[", "BO[1", ";", "/")
GGF_STARTS = (
    "",
    "1",
    "(;",
    "(;GM[",
    "(;GM[Othello]TY[s8",
    "(;GM[Othello]TY[8",
    "(;GM[Othello]BO[8 ",
    "(;BO[8",
    "(;BO[8]B[",
)
MOVE_SIGNS = ("1", "1.", ".", " ", "a1", "a", "--", "pass", "p", "a1:", "a1 ", "a1:+", "%", ";", "x", "x ")
MOVE_STARTS = ("", "1", "1 ", "a1")
NAME_SIGNS = ("_", "_a=1", "_1x1", "a", "=", "1", "_a=1.", "_a=-", "x1", ".1")
NAME_STARTS = ("go", "go_", "go_7x7", "go_a=", "go_a=1", "go_a=1.")

ENDS = ("!", pytest.param("!];)", marks=pytest.mark.slow))
"""Ends of the texts: one that closes nothing, and one that closes a value and a match."""

READERS: dict[str, tuple[Callable[[str], object], tuple[str, ...], tuple[str, ...]]] = {
    "the format of a text": (format_of_text, ("", "(;GM[", "(;GM[ 1", "(;", "1"), SGF_SIGNS + GGF_SIGNS),
    "SGF": (lambda text: SGF.written(text, GO), SGF_STARTS, SGF_SIGNS),
    "SGF of Hex": (lambda text: SGF.written(text, HEX), ("(;GM[11];B[",), SGF_SIGNS),
    "a file of SGF": (SGF.split, ("", "(", "(;", "(;C["), SGF_SIGNS),
    "PGN": (lambda text: PGN.written(text, OTHELLO), PGN_STARTS, PGN_SIGNS),
    "a file of PGN": (PGN.split, PGN_STARTS, PGN_SIGNS),
    "PDN": (lambda text: PDN.written(text, DRAUGHTS), ("", '[FEN "', '[FEN "B:W1:B', "1", "11-15"), PDN_SIGNS),
    "the charset of a file": (lambda text: decoded(text.encode("cp1252")), ("", "CA[", "\xe9"), CHARSET_SIGNS),
    "GGF": (lambda text: GGF.written(text, OTHELLO), GGF_STARTS, GGF_SIGNS),
    "the board of GGF": (lambda text: GGF.read(text, None, None), ("(;BO[", "(;BO[8", "(;BO[8 "), GGF_SIGNS),
    "a file of GGF": (GGF.split, ("", "(;"), GGF_SIGNS),
    "moves": (lambda text: TRANSCRIPT.written(text, OTHELLO), MOVE_STARTS, MOVE_SIGNS),
    "a board": (written_position, ("xxxx", "xxxx a1", "xxxx a1:", "xxxx a1:+1"), MOVE_SIGNS),
    "a result": (read_result_and_lead, ("", "1", "1.", "1-1", "1-1."), ("1", ".", "-", ":", "+")),
    "the name of a game": (parts_of_game_name, NAME_STARTS, NAME_SIGNS),
}
"""Functions that read what strangers write, with starts that nearly match and signs that their expressions name."""


@contextmanager
def limited(about: str) -> Iterator[None]:
    """Fail if the block takes longer than LIMIT_SECONDS; regular expressions, too, can be interrupted by a signal."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"reading {about} takes more than {LIMIT_SECONDS} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("name", READERS)
def test_long_texts_are_read_in_linear_time(name: str, end: str) -> None:
    read, starts, signs = READERS[name]
    for start, sign in product(starts, signs):
        # Other errors, such as those of numbers that are too long, would be internal errors of the server.
        with limited(f"{start!r} and {sign!r} repeated"), suppress(IllegalActionError, SettingError):
            read(start + sign * REPETITIONS + end)
