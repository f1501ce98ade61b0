"""Import and export of the experience graph as JSON.

    {"0": {"state": [0, 0, 0, 0, 0, 0, 0, 0, 0], "next": ["1", "40"], "score": 0.59, "end": false}, "1": ...}

The keys are the numbers of the boards, from 0, as strings. `end` marks boards on which a match was won. Scores are
recomputed on import, because programs that write this format may leave outdated ones on boards not visited again.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field, with_config
from typing_extensions import TypedDict

from selfplay.errors import InvalidFileError
from selfplay.experience.graph import BoardForm, MetBoard, Squares, checked_boards, ensure, rescored
from selfplay.experience.rule import ExperienceRule
from selfplay.experience.store import ExperienceStore
from selfplay.files import CHECKED, FileFormat, written_whole


@with_config(CHECKED)
class SavedBoard(TypedDict):
    state: list[Annotated[int, Field(ge=-1, le=1)]]
    next: list[str]
    score: Annotated[float, Field(ge=-1, le=1)]
    end: bool


BOARDS = FileFormat("a JSON object of boards by number", dict[str, SavedBoard])


def export_json(store: ExperienceStore, path: Path) -> int:
    """Write the boards of `store` to `path` and return their number. Raises StageError if it cannot be written."""
    boards = store.boards()
    entries: dict[str, SavedBoard] = {
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

    An invalid file does not change the store. Raises InvalidFileError as `read_json`.
    """
    boards = read_json(path, store.form, store.rule)
    store.replace(boards)
    return len(boards)


def read_json(path: Path, form: BoardForm, rule: ExperienceRule) -> dict[int, MetBoard]:
    """The boards of the file at `path`, in the form and with the scores of a store.

    Raises InvalidFileError if the file is missing, truncated, in another format, or contradicts the rules of the game.
    """
    entries = BOARDS.read_json(path)
    try:
        return rescored(_merged(_parsed(entries, form), form), rule)
    except ValueError as error:
        raise InvalidFileError(path, str(error)) from error


def _parsed(entries: Mapping[str, SavedBoard], form: BoardForm) -> dict[int, MetBoard]:
    """The boards of the file, in the order of their numbers, checked against the rules of the game."""
    numbers = {str(number): number for number in range(len(entries))}
    boards: dict[int, MetBoard] = {}
    for key, number in numbers.items():
        if key not in entries:
            foreign = next(other for other in entries if other not in numbers)
            raise ValueError(f"board {key!r} is missing among {len(entries)} boards; found {foreign!r} instead")
        entry, squares = entries[key], form.num_squares
        state, following = entry["state"], entry["next"]
        ensure(len(state) == squares, f"board {key!r}: state is not a list of {squares} numbers 1, -1 or 0")
        for child in following:
            ensure(child in numbers, f"board {key!r}: next {child!r} is not a board of this file")
            ensure(following.count(child) == 1, f"board {key!r}: next {child!r} occurs twice")
        children = tuple(numbers[child] for child in following)
        boards[number] = MetBoard(tuple(state), 0, children, entry["score"], entry["end"])
    return checked_boards(boards, form)


def _merged(boards: Mapping[int, MetBoard], form: BoardForm) -> dict[int, MetBoard]:
    """The boards in the form of the store, equal ones merged, numbered in the order of first appearance."""
    numbers: dict[Squares, int] = {}
    place = {n: numbers.setdefault(form.of(board.squares), len(numbers)) for n, board in boards.items()}
    following: list[dict[int, None]] = [{} for _ in numbers]
    for number, board in boards.items():
        following[place[number]].update(dict.fromkeys(place[child] for child in board.following))
    merged: dict[int, MetBoard] = {}
    for number, board in boards.items():
        own = place[number]
        merged.setdefault(own, board._replace(squares=form.of(board.squares), following=tuple(following[own])))
    return merged
