"""Matches of a series as files, each in the format of other programs for the game."""

from pathlib import Path

import torch

from selfplay.files import user_path, written_whole
from selfplay.games import Game
from selfplay.games.state import MatchRecord
from selfplay.matches.arena import Players
from selfplay.records import MatchFile, record_of, written_record


def match_file(game: Game, record: MatchRecord, row: int, players: Players) -> MatchFile:
    """The match in row `row` of a record of matches between `players`."""
    actions, first = record.actions_of(row), int(record.seats[row])
    states = [state.select(torch.tensor([row])) for state in (*record.states[: len(actions)], record.states[-1])]
    names, number = (players[first].name, players[1 - first].name), int(record.match[row])
    has_resigned = any(forfeit.match == number and forfeit.has_resigned for forfeit in record.forfeits)
    return written_record(record_of(game, states, actions, names, has_resigned=has_resigned))


def write_match(folder: str | Path, number: int, match: MatchFile) -> None:
    """Write a match as the one with this number, from 1, in a folder. Raises StageError."""
    path = user_path(folder) / f"match_{number:06}{match.ending}"
    with written_whole(path) as part:
        part.write_text(match.text, encoding="utf-8")
