"""Matches and positions of Othello as people know them: in the Generic Game Format (GGF), as boards, and the names of
openings.

Servers and programs exchange matches in GGF; files of several matches begin each with a number:

(;GM[Othello]PC[selfplay]PB[black]PW[white]RE[+12]TY[8]BO[8 -----...--- *]B[d3]W[c5]B[pass];)

Sets of problems have boards with the side to move, the value of each move, and a comment (Othello board files, OBF):

--XXXXX--OOOXX-O-OOOXXOX-OXOXOXXOXXXOXXX--XOXOXX-XXXOOO--OOOOO-- X; g8:+18; h7:+12; % fforum-1
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from math import isqrt
from typing import NamedTuple

from selfplay.errors import IllegalActionError, shortened
from selfplay.games.state import State
from selfplay.games.stepping import BatchStepping

SIGNS = {1: "*", -1: "O", 0: "-"}
COLOURS = ("B", "W")
# These take linear time, because no two parts beside each other can match the same sign.
TAG = re.compile(r"\s*([A-Za-z]+)\[([^\]]*)\]")
TAGS = re.compile(r"(?:\s*[A-Za-z]+\[[^\]]*\])*")
GGF_START = re.compile(r"\s*(?:\d+\s*)?\(;")
KIND = re.compile(r"s?(\d{1,2})([a-z:][a-z0-9:]*)?", re.IGNORECASE)
"""The type of a match: the squares along a side, then its variant, which does not begin with a digit. Those with a (the
fewest discs win) and k (a komi counts) are other games."""


class GgfMatch(NamedTuple):
    """A match as it was written, not checked against the rules."""

    squares: tuple[int, ...]
    """The board at the start: 1 for a black disc, -1 for a white one, 0 for an empty square."""
    to_move: int
    """The player who moves first: 0 is black."""
    moves: list[tuple[int, str]]
    """The player and the text of each move."""
    result: str
    """The lead of black at the end, perhaps with how it ended: +12, -64:r; empty if it is not said."""
    players: tuple[str, str]
    """The names of black and white; empty if they are not said."""


def ggf_of(
    game: BatchStepping, states: Sequence[State], actions: Sequence[int], players: tuple[str, str], result: str
) -> str:
    """A match as text.

    Args:
        states: the position (B = 1) before each action, and the last one.
        players: the names of black and white.
        result: as in `GgfMatch`, or ?.
    """
    width = game.observation_shape[1]
    board = game.squares(states[0])[0].tolist()
    rows = ["".join(SIGNS[disc] for disc in board[start : start + width]) for start in range(0, len(board), width)]
    black, white = (name.replace("]", ")") for name in players)
    tags = [f"GM[Othello]PC[selfplay]PB[{black}]PW[{white}]", f"RE[{result}]TY[{width}]"]
    tags.append(f"BO[{width} {' '.join(rows)} {'*O'[int(states[0].current_player)]}]")
    moves = [
        f"{COLOURS[int(state.current_player)]}[{game.action_to_string(action)}]"
        for state, action in zip(states, actions, strict=False)
    ]
    return f"(;{''.join(tags + moves)};)\n"


def is_ggf(text: str) -> bool:
    """Whether a text is a match in this format."""
    return GGF_START.match(text) is not None


def width_of_ggf(text: str) -> int | None:
    """The squares along a side of the board of a match in this format; None if the text does not contain this."""
    found = re.search(r"\bBO\[(\d{1,2})\s", text, re.IGNORECASE)
    return int(found[1]) if found and is_ggf(text) else None


def read_ggf(text: str, width: int) -> GgfMatch:
    """A match of Othello on a board of `width` x `width` squares.

    Raises IllegalActionError if the text is not one match of Othello in this format, or is played on another board.
    """
    start = GGF_START.match(text)
    first = start.end() if start else 0
    found = TAGS.match(text, first)
    end = found.end() if found else first
    tags = [(name.upper(), value.strip()) for name, value in TAG.findall(text, first, end)]
    rest = text[end:].strip()
    if rest.startswith(";)") and is_ggf(rest.removeprefix(";)")):
        raise IllegalActionError("holds several matches in GGF; give one of them")
    if rest != ";)":
        raise IllegalActionError(f"a match in GGF ends with ;) after its tags, not with {shortened(rest)!r}")
    said = {"GM": "Othello", "TY": str(width), **dict(tags)}
    if said["GM"].lower() != "othello":
        raise IllegalActionError(f"GM[{shortened(said['GM'])}]: not a match of Othello")
    kind = KIND.fullmatch(said["TY"])
    if kind is None or int(kind[1]) != width or not set("ak").isdisjoint((kind[2] or "").lower()):
        raise IllegalActionError(f"TY[{shortened(said['TY'])}]: not a match of Othello on {width}x{width} squares")
    if "BO" not in said:
        raise IllegalActionError("a match in GGF needs the board at its start: BO[...]")
    squares, to_move = _read_start(said["BO"], width)
    moves = [(COLOURS.index(tag), value.partition("/")[0].strip().lower()) for tag, value in tags if tag in COLOURS]
    return GgfMatch(squares, to_move, moves, said.get("RE", ""), (said.get("PB", ""), said.get("PW", "")))


@lru_cache
def _read_start(text: str, width: int) -> tuple[tuple[int, ...], int]:
    """The board and the player to move of the tag BO. Raises IllegalActionError."""
    size, _, rest = text.partition(" ")
    signs = "".join(rest.split())
    stones = {sign.lower(): stone for stone, sign in SIGNS.items()}
    if size != str(width) or len(signs) != width * width + 1 or not set(signs.lower()) <= set(stones):
        raise IllegalActionError(f"BO[{shortened(text)}]: not a board of {width}x{width} of *, O and -, and who moves")
    *squares, to_move = (stones[sign] for sign in signs.lower())
    if to_move == 0:
        raise IllegalActionError(f"BO[{shortened(text)}]: who moves is * or O")
    return tuple(squares), int(to_move == -1)


# ---------------------------------------------------------------------- boards

DISCS = "XO-"
"""The characters of a written board: black, white, empty."""
BOARD_START = re.compile(r"(?:\s*[xo*.-]){4,}", re.IGNORECASE)
STATED = re.compile(r"([a-h][1-8]|pass|pa|ps|--)\s*:\s*([+-]?\d++)(?:\.\d++)?+(?![\w.,])", re.IGNORECASE)
"""The value of a move in a problem."""
NOTES = re.compile(rf"%.*|{STATED.pattern}|;", re.IGNORECASE)
"""What follows the side to move: a comment, the values of moves, and the ends of fields."""
SIDES = {"black": "X", "white": "O"}


def board_signs(text: str) -> str:
    """A written board or side in the characters of DISCS; it may have small letters, spaces, * for X, and . for -."""
    return "".join(text.split()).upper().replace("*", "X").replace(".", "-")


def written_board(text: str) -> tuple[str, str] | None:
    """The signs of a written board and of the side to move, which follows it; None if the text is not a board.

    The values of moves and a comment may follow. Raises IllegalActionError for a board without the side to move, or
    with something else after it.
    """
    if BOARD_START.match(text) is None:
        return None
    *words, last = NOTES.sub(" ", text).split() or [""]
    words.append(SIDES.get(last.lower(), last))
    signs = board_signs(" ".join(words))
    if unread := signs.strip(DISCS):
        known = "a board is signs of X, O and -, and then the side to move, X or O"
        raise IllegalActionError(f"{known}; {shortened(unread)!r} is neither")
    if isqrt(len(signs)) ** 2 == len(signs):
        raise IllegalActionError("after a board comes the side to move, X or O")
    return signs[:-1], signs[-1]


class Problem(NamedTuple):
    """A line of a file of problems."""

    line: int
    """Its number in the file, from 1."""
    name: str
    """Its comment; empty if it has none."""
    text: str
    """The board with the side to move, as `written_board` reads it."""
    stated: dict[str, int]
    """The values of moves that it gives, by their names in small letters."""


def read_problems(text: str) -> list[Problem]:
    """The problems of a file in the format OBF: one in each line; empty lines and comments are skipped."""
    lines = ((number, *line.partition("%")) for number, line in enumerate(text.splitlines(), 1))
    return [
        Problem(number, name.strip(), board, {move.lower(): int(value) for move, value in STATED.findall(board)})
        for number, board, _, name in lines
        if board.strip()
    ]


# ---------------------------------------------------------------------- openings

OPENINGS = {
    "c4c3": "Diagonal",
    "c4c3d3c5b3": "Snake",
    "c4c3d3c5b4": "Heath",
    "c4c3d3c5b4d2d6": "Heath-Bat",
    "c4c3d3c5b4d2e2": "Iwasaki",
    "c4c3d3c5b4e3": "Heath-Chimney",
    "c4c3d3c5b5": "Raccoon Dog",
    "c4c3d3c5b6": "Rocket",
    "c4c3d3c5b6e3": "Lollipop",
    "c4c3d3c5d6": "Cow",
    "c4c3d3c5d6e3": "Chimney",
    "c4c3d3c5d6f4b4": "Bat",
    "c4c3d3c5d6f4f5": "Rose-v-Toth",
    "c4c3d3c5d6f4f5d2": "Tanida",
    "c4c3d3c5d6f4f5d2b5": "Aircraft",
    "c4c3d3c5d6f4f5d2g4d7": "Sailboat",
    "c4c3d3c5d6f4f5e6c6d7": "Maruoka",
    "c4c3d3c5d6f4f5e6f6": "Landau",
    "c4c3d3c5f6": "Buffalo",
    "c4c3e6c5": "Wing",
    "c4c3f5c5": "Semi-Wing",
    "c4c5": "Parallel",
    "c4e3": "Perpendicular",
    "c4e3f4c5d6e6": "Mimura",
    "c4e3f4c5d6f3c6": "Shaman",
    "c4e3f4c5d6f3d3": "Inoue",
    "c4e3f4c5d6f3d3c3": "Iago",
    "c4e3f4c5d6f3e6c3d3e2": "Rose",
    "c4e3f6e6f5": "Tiger",
}
"""The names of openings on 8x8 squares, from Robert Gatliff's public catalogue
(http://samsoft.org.uk/reversi/openings.htm), with the first move on c4."""


def opening_name(squares: Sequence[int]) -> str | None:
    """The name of the longest opening with which a match begins; None if it has none.

    Args:
        squares: those of the first moves, numbered from the top left in rows of eight.
    """
    places = [divmod(square, 8) for square in squares[: max(map(len, OPENINGS)) // 2]]
    images = [places, [place[::-1] for place in places], [(7 - row, 7 - column) for row, column in places]]
    images.append([place[::-1] for place in images[2]])
    texts = ["".join(f"{'abcdefgh'[column]}{row + 1}" for row, column in image) for image in images]
    found = [opening for opening in OPENINGS for text in texts if text.startswith(opening)]
    return OPENINGS[max(found, key=len)] if found else None
