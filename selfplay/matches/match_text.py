"""A finished match as text: who played, every action with its board, and the result."""

from selfplay.games import Game
from selfplay.games.line_text import draw_line
from selfplay.games.match_record import MatchRecord
from selfplay.matches.arena import Players


def match_text(game: Game, record: MatchRecord, row: int, players: Players) -> str:
    """The match in row `row` of a record of matches between `players`."""
    first, names = int(record.seats[row]), game.presentation.player_names
    seats = ", ".join(f"{name}: {players[seat ^ first].name}" for seat, name in enumerate(names))
    returned = int(record.states[-1].returns[row])
    result = "drawn" if returned == 0 else f"{names[returned < 0]} wins"
    return "\n".join([seats, draw_line(game, record.actions_of(row)), result])
