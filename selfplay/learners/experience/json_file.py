"""Import and export of the experience graph as JSON.

    {"0": {"state": [0, 0, 0, 0, 0, 0, 0, 0, 0], "next": ["1", "40"], "score": 0.59, "end": false}, "1": ...}

The keys are the numbers of the boards, from 0, as strings. `end` marks boards on which a match was won. Scores are
recomputed on import, because programs that write this format may leave outdated ones on boards not visited again.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from selfplay.errors import InvalidFileError, without_digit_limit
from selfplay.files import MEGABYTE, read_bytes, written_whole
from selfplay.learners.experience.graph import Board, BoardForm, Squares, checked_boards, require, rescored
from selfplay.learners.experience.store import ExperienceStore
from selfplay.settings.classical import ExperienceRule

LIMIT = 64 * MEGABYTE
KEYS = ("state", "next", "score", "end")


def export_json(store: ExperienceStore, path: Path) -> int:
    """Write the boards of `store` to `path` and return their number. Raises StageError if it cannot be written."""
    boards = store.boards()
    entries = {
        str(number): {
            "state": list(board.squares),
            "next": [str(child) for child in board.following],
            "score": int(board.score) if board.is_end else board.score,
            "end": board.is_end,
        }
        for number, board in boards.items()
    }
    with written_whole(path) as beside:
        beside.write_text(json.dumps(entries, indent=4))
    return len(boards)


def import_json(store: ExperienceStore, path: Path) -> int:
    """Replace the boards of `store` by those of the file at `path` and return their number.

    A file with {}, or an empty file for an empty store, has no boards. An invalid file does not change the store.

    Raises InvalidFileError as `read_json`.
    """
    boards = read_json(path, store.form, store.rule, len(store))
    store.replace(boards)
    return len(boards)


def read_json(path: Path, form: BoardForm, rule: ExperienceRule, known: int = 0) -> dict[int, Board]:
    """The boards of the file at `path`, in the form and with the scores of a store.

    Args:
        known: the number of boards of the store, which an empty file must not replace.

    Raises InvalidFileError if the file is missing, truncated, in another format, or contradicts the rules of the game.
    """
    try:
        text = read_bytes(path, LIMIT).decode()
        if not text and known:
            raise InvalidFileError(path, f"is empty; write {{}} into it to replace the {known} known boards by none")
        entries = json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_refuse) if text else {}
        return rescored(_merged(_parsed(entries, form), form), rule)
    except InvalidFileError:
        raise
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise InvalidFileError(path, f"cannot be read as JSON: {' '.join(str(error).split())}") from error
    except ValueError as error:
        raise InvalidFileError(path, without_digit_limit(str(error))) from error


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for key, value in pairs:
        require(key not in entries, f"key {key!r} occurs twice")
        entries[key] = value
    return entries


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")


def _parsed(entries: object, form: BoardForm) -> dict[int, Board]:
    """The boards of the file, with each entry checked for its form and against the rules of the game."""
    if not isinstance(entries, dict):
        raise ValueError("is not a JSON object of boards by number")
    numbers = {str(number): number for number in range(len(entries))}
    for key in numbers:
        if key not in entries:
            foreign = next(other for other in entries if other not in numbers)
            raise ValueError(f"board {key!r} is missing among {len(entries)} boards; found {foreign!r} instead")
    boards = {numbers[key]: _board(key, entries[key], numbers, form.num_squares) for key in entries}
    return checked_boards(dict(sorted(boards.items())), form)


def _board(key: str, entry: object, numbers: Mapping[str, int], num_squares: int) -> Board:
    """One entry with its types and ranges checked; the player to move is filled in later."""
    if not isinstance(entry, dict):
        raise ValueError(f"board {key!r} is not a JSON object")
    for name in KEYS:
        require(name in entry, f"board {key!r} has no key {name!r}")
    for name in entry:
        require(name in KEYS, f"board {key!r} has an extra key {name!r}")
    state, following, score, end = (entry[name] for name in KEYS)
    cells = isinstance(state, list) and len(state) == num_squares and all(type(cell) is int for cell in state)
    require(
        cells and set(state) <= {-1, 0, 1}, f"board {key!r}: state is not a list of {num_squares} numbers 1, -1 or 0"
    )
    strings = isinstance(following, list) and all(isinstance(child, str) for child in following)
    require(strings, f"board {key!r}: next is not a list of strings")
    for child in following:
        require(child in numbers, f"board {key!r}: next {child!r} is not a board of this file")
        require(following.count(child) == 1, f"board {key!r}: next {child!r} occurs twice")
    require(type(score) in (int, float) and -1 <= score <= 1, f"board {key!r}: score is not a number from -1 to 1")
    require(isinstance(end, bool), f"board {key!r}: end is not true or false")
    return Board(tuple(state), 0, tuple(numbers[child] for child in following), float(score), end)


def _merged(boards: Mapping[int, Board], form: BoardForm) -> dict[int, Board]:
    """The boards in the form of the store, equal ones merged, numbered in the order of first appearance."""
    numbers: dict[Squares, int] = {}
    place = {n: numbers.setdefault(form.of(board.squares), len(numbers)) for n, board in boards.items()}
    following: list[dict[int, None]] = [{} for _ in numbers]
    for number, board in boards.items():
        following[place[number]].update(dict.fromkeys(place[child] for child in board.following))
    merged: dict[int, Board] = {}
    for number, board in boards.items():
        own = place[number]
        merged.setdefault(own, board._replace(squares=form.of(board.squares), following=tuple(following[own])))
    return merged
