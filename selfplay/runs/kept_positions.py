"""Files of solved positions, which later comparisons of a run read again.

RUN_DIR/comparison/endgames.csv, judged_positions.csv    a row per action
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from selfplay.compute.position_fields import Place
from selfplay.compute.positions import packed_array
from selfplay.compute.words import word_of_parts
from selfplay.errors import ConformanceError, InvalidFileError
from selfplay.games import Game
from selfplay.games.board_checks import are_positions
from selfplay.grading.compared_players import Keep, ValuedPosition
from selfplay.runs.manifest import Stage
from selfplay.search.exact_solver import EVERY_LOSS
from selfplay.tables import COUNT, TEXT, WORD, Columns, Row, data_frame, read_rows, write_csv

POSITION_TABLE = "a table of solved positions; delete it and compare the levels again"


def position_columns(game: Game) -> Columns:
    """The columns of the files; those between `group` and `to_move` are the fields of positions of the game."""
    fields = {name: WORD for place in game.rules.position.places for name in _columns_of(place)}
    return {"position": COUNT, "group": TEXT, **fields, "to_move": COUNT, "action": TEXT, "value": COUNT}


def kept_in(folder: Path, game: Game) -> Keep:
    """Keeps the solved positions of a game in .csv files in this folder, which manifest.json there describes.

    A file that has changed, or has another record, is made again; there is no file without positions. Raises StageError
    if one cannot be written.
    """
    return partial(_kept_positions, folder, game)


def _kept_positions(
    folder: Path, game: Game, name: str, record: Mapping[str, Any], make: Callable[[], list[ValuedPosition]]
) -> list[ValuedPosition]:
    stage, path = Stage(name, folder, record, force=True), folder / f"{name}.csv"
    if stage.is_done():
        return _read_positions(path, game)
    with stage.making() as made:
        positions = make()
        if positions:
            fields = [row for number, position in enumerate(positions) for row in _rows(game, number, position)]
            write_csv(data_frame(position_columns(game), fields), path)
            made.counts, made.files = {"positions": len(positions)}, [path.name]
    return positions


def _rows(game: Game, number: int, position: ValuedPosition) -> list[Row]:
    state, fields = position.state, dict[str, int]()
    for place in game.rules.position.places:
        value, names = game.field(state, place.name), _columns_of(place)
        fields |= zip(names, value[0].tolist() if place.is_several else [_number(value)], strict=True)
    row = {"position": number, **fields, "to_move": int(state.current_player)}
    group = {"group": position.group} if position.group else {}
    actions = position.values.items()
    return [{**row, **group, "action": game.action_to_string(action), "value": value} for action, value in actions]


def _columns_of(place: Place) -> list[str]:
    """The columns of a field: its name, or one for each of several numbers."""
    return [f"{place.name}[{i}]" for i in range(len(place.offsets))] if place.is_several else [place.name]


def _field(place: Place, row: Mapping[str, Any]) -> Any:
    """The value of a field in a row that has its columns."""
    values = tuple(row[name] for name in _columns_of(place))
    return values if place.is_several else values[0]


def _number(words: Tensor) -> int:
    """The word of a single position as in files: an int64 if that suffices, otherwise without a sign."""
    return int(words) if words.ndim == 1 else int(word_of_parts(words[0].tolist()))


def _read_positions(path: Path, game: Game) -> list[ValuedPosition]:
    """The positions in a file. Raises InvalidFileError if it could not have been written for this game."""
    positions, rows = [], read_rows(path, position_columns(game), POSITION_TABLE)
    for number, (_, of_one) in enumerate(groupby(rows, lambda row: row.get("position"))):
        given = [{name: value for name, value in row.items() if value is not None} for row in of_one]
        position = _position(game, given)
        # What is read must be what would be written: the legal actions in their order, each with the same board.
        if position is None or _rows(game, number, position) != given:
            what, _, remedy = POSITION_TABLE.partition("; ")
            raise InvalidFileError(path, f"is not {what} of {game.name} (position {number}); {remedy}")
        positions.append(position)
    return positions


def _position(game: Game, rows: Sequence[dict[str, Any]]) -> ValuedPosition | None:
    """The position that these rows describe, one for each legal action; None if it is not a position of the game."""
    first, kind = rows[0], game.rules.position
    values = [row.get("value", EVERY_LOSS) for row in rows]
    if (
        not all(set(_columns_of(place)) <= set(first) for place in kind.places)
        or first.get("to_move") not in (0, 1)
        or max(map(abs, values)) >= -EVERY_LOSS
    ):
        return None
    try:
        packed = packed_array([kind(*(_field(place, first) for place in kind.places))])
    except ConformanceError:
        return None
    if not are_positions(kind, packed):
        return None
    state = game.state_at(torch.from_numpy(packed))
    state = state._replace(current_player=torch.tensor([first["to_move"]], dtype=torch.int8))
    legal = game.legal_action_mask(state)[0].nonzero()[:, 0].tolist()
    return ValuedPosition(state, dict(zip(legal, values, strict=False)), first.get("group", ""))
