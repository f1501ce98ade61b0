"""The Smart Game Format, version 4 (https://www.red-bean.com/sgf/), for Go, Othello, Gomoku and Hex.

sgfmill reads and writes the form of the texts. `sgf_reader` says what they mean in our games.
"""

from typing import Any

from sgfmill.sgf import Sgf_game

from selfplay.errors import IllegalActionError
from selfplay.games import Game
from selfplay.games.state import State
from selfplay.installation import __version__
from selfplay.names_of_games import parts_of_game_name
from selfplay.records import Record, RecordedResult, recorded_result
from selfplay.records.sgf_reader import LETTERS, NUMBERS, RULES, MatchReader
from selfplay.records.sgf_text import has_tree, split_matches
from selfplay.records.written import WrittenMatch


class SmartGameFormat:
    """Matches of the games in NUMBERS, on square boards."""

    writes_comments = True

    def is_written_in(self, text: str) -> bool:
        number, is_said, _ = text.partition("GM[")[2].partition("]")
        return has_tree(text) and (number.strip().isdigit() if is_said else "BO[" not in text)

    def fits(self, game: Game) -> bool:
        height, width = game.board_shape or (0, 1)
        is_five = game.presentation.line_length in (None, 5)
        return parts_of_game_name(game.name).base in NUMBERS and height == width and is_five

    def read(self, text: str, game: Game | None, start: State | None) -> list[Record]:
        return [MatchReader(match, game, start).record() for match in self.split(text)]

    def split(self, text: str) -> list[str]:
        return split_matches(text)

    def written(self, text: str, game: Game) -> WrittenMatch:
        reader = MatchReader(text, game, None, needs_komi=False)
        if reader.game is not game:
            raise IllegalActionError(f"this is a match of {reader.game.name}, not of {game.name}")
        return reader.written()

    def write(self, record: Record) -> str:
        game, (black, white) = record.game, record.players
        number, match = NUMBERS[parts_of_game_name(game.name).base], record.match
        written = Sgf_game(size=game.observation_shape[1])
        root = written.get_root()
        said = {"GM": int(number), "AP": ("selfplay", __version__), "PB": black, "PW": white}
        if game.komi is not None:
            said |= {"KM": game.komi, "RU": "Chinese"}
        for name in (name for name, value in game.parameters.items() if value is True):
            said["RU"] = RULES[name]
        if (result := record.result or recorded_result(match)) is not None:
            said["RE"] = _result_text(result)
        for name, value in said.items():
            if value != "":
                root.set(name, value)
        if match.is_set_up:
            _write_start(root, game, match.start)
        if match.handicap:
            root.set("HA", match.handicap)
        for ply in range(len(match.states)):
            node = root if ply == 0 else written.extend_main_sequence()
            if ply:
                colour, action = "BW"[int(match.states[ply - 1].current_player)], match.actions[ply - 1]
                node.set_raw(colour, _point(game, action).encode())
            if ply in record.comments:
                node.set("C", record.comments[ply])
        return str(written.serialise().decode()).rstrip() + "\n"


SGF = SmartGameFormat()


def _result_text(result: RecordedResult) -> str:
    return "0" if result.returned == 0 else f"{'B' if result.returned > 0 else 'W'}+{result.by}"


def _point(game: Game, action: int) -> str:
    """An action as a point: two letters from the top left; in Hex a letter and a number; empty for a pass."""
    row, column = divmod(action, game.observation_shape[2])
    if action == game.num_squares:
        return "" if action == game.any_pass else game.action_to_string(action)
    return f"{LETTERS[column]}{row + 1}" if game.presentation.is_rhombus else LETTERS[column] + LETTERS[row]


def _write_start(root: Any, game: Game, start: State) -> None:
    """Write a position that was set up."""
    squares, to_move = game.squares(start)[0].tolist(), int(start.current_player)
    for name, stone in (("AB", 1), ("AW", -1)):
        if points := [_point(game, square).encode() for square, found in enumerate(squares) if found == stone]:
            root.set_raw_list(name, points)
    root.set_raw("PL", b"BW"[to_move : to_move + 1])
