"""The formats that games read themselves: the moves alone, also with the tags of PGN, and in Othello the Generic Game
Format."""

import re
from functools import cache
from math import nan

from selfplay.errors import IllegalActionError, SettingError
from selfplay.games import Game, make_game
from selfplay.games.othello_records import ggf_of, is_ggf, read_ggf, width_of_ggf
from selfplay.games.state import State
from selfplay.records import Record, Result, result_of
from selfplay.records.written import WrittenMatch, written_match
from selfplay.registry import parts_of_game_name

GGF_GAME = "othello"
"""The game that the Generic Game Format is read and written for."""
NUMBER = r"(\d+(?:\.\d+)?)"
POINTS = re.compile(rf"{NUMBER}[-:]{NUMBER}")
LEAD = re.compile(rf"([+-]?){NUMBER}")
DRAW = "1/2-1/2"
# Takes linear time: what is tried from one line start ends before the next [ at a line start, or at a quotation mark.
TAGS = re.compile(r'^\[(\w+)\s+"([^"\n]*)"\]\s*$', re.MULTILINE)
NOT_MOVES = re.compile(r"\{[^}]*\}?|\([^()]*\)|;.*|\$\d+")
"""Comments, other lines of play and marks in PGN. A comment without an end is all that follows: if each { of a long
text could fail to find its end, reading the text would take quadratic time."""


def lead_of(text: str) -> tuple[float, float] | None:
    """The result for player 0 and its lead in points, from 44-20, 1-0, 1/2-1/2 or +24; nan for points that are not
    said. None if the text is not a result."""
    if text == DRAW:
        return 0.0, nan
    if found := POINTS.fullmatch(text):
        lead = float(found[1]) - float(found[2])
        is_score = float(found[1]) + float(found[2]) > 2
    elif (found := LEAD.fullmatch(text)) and (found[1] or float(found[2]) == 0):
        lead, is_score = float(text), True
    else:
        return None
    return float((lead > 0) - (lead < 0)), lead if is_score else nan


class Transcript:
    """The moves of a match, as the game writes them. In a file of many, each line is a match, perhaps with its result
    at the end."""

    def is_written_in(self, text: str) -> bool:
        return not text.lstrip().startswith("(") and not is_ggf(text)

    def fits(self, game: Game) -> bool:
        return True

    def read(self, text: str, game: Game | None, start: State | None) -> list[Record]:
        if game is None:
            raise SettingError("the moves alone do not say which game they are of")
        start = start or game.start_of_transcript(text)
        actions = game.read_transcript(text, start)
        return [Record(game, actions, start)]

    def split(self, text: str) -> list[str]:
        return [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]

    def written(self, text: str, game: Game) -> WrittenMatch:
        words, result = text.split(), None
        if words and not game.is_action_text(words[-1]) and (result := lead_of(words[-1])):
            words.pop()
        return written_match(game.written_moves(" ".join(words).rstrip(" :;,")), result)

    def write(self, record: Record) -> str:
        return record.game.write_transcript(record.actions) + "\n"


class PortableGameNotation(Transcript):
    """The moves after lines of tags, such as [Result "44-20"]. The result has the points of player 0 first, or 1-0,
    0-1 and 1/2-1/2."""

    def is_written_in(self, text: str) -> bool:
        return TAGS.match(text.lstrip()) is not None

    def fits(self, game: Game) -> bool:
        return parts_of_game_name(game.name).base == GGF_GAME

    def read(self, text: str, game: Game | None, start: State | None) -> list[Record]:
        records = []
        for match in self.split(text):
            tags, moves, result = self._parts(match, game)
            (record,) = super().read(moves, game, start)
            said = None if result is None else Result(int(result[0]), f"{abs(result[1]):g}" if result[0] else "")
            ended = result_of(record.game, record.states()[-1])
            players = tags.get("Black", ""), tags.get("White", "")
            records.append(record._replace(players=players, result=ended or said))
        return records

    def split(self, text: str) -> list[str]:
        matches = list[list[str]]()
        is_in_tags = False
        for line in text.splitlines():
            is_tag = TAGS.match(line) is not None
            if is_tag and not is_in_tags:
                matches.append([])
            if line.strip():
                is_in_tags = is_tag
            if matches:
                matches[-1].append(line)
        return ["\n".join(lines) for lines in matches]

    def written(self, text: str, game: Game) -> WrittenMatch:
        _, moves, result = self._parts(text, game)
        return written_match(game.written_moves(moves), result)

    def _parts(self, text: str, game: Game | None) -> tuple[dict[str, str], str, tuple[float, float] | None]:
        """The tags, the moves and the result of a match."""
        tags, words = dict(TAGS.findall(text)), NOT_MOVES.sub(" ", TAGS.sub("", text)).split()
        result = lead_of(tags.get("Result", "*"))
        if words and not (game and game.is_action_text(words[-1])) and (words[-1] == "*" or lead_of(words[-1])):
            result = result or lead_of(words[-1])
            words.pop()
        return tags, " ".join(words), result

    def write(self, record: Record) -> str:
        said = record.result or result_of(record.game, record.states()[-1])
        result = "*" if said is None else {1: "1-0", 0: DRAW, -1: "0-1"}[said.returned]
        tags = {"Black": record.players[0], "White": record.players[1], "Result": result}
        lines = [f'[{name} "{value.replace(chr(34), chr(39))}"]' for name, value in tags.items()]
        texts = [record.game.action_to_string(action) for action in record.actions if action != record.game.pass_action]
        moves = [f"{number // 2 + 1}. {move}" if number % 2 == 0 else move for number, move in enumerate(texts)]
        return "\n".join([*lines, "", " ".join([*moves, result]), ""])


class GenericGameFormat(Transcript):
    """One match of Othello, or several in a file of many."""

    def is_written_in(self, text: str) -> bool:
        return is_ggf(text) and ("BO[" in text.upper() or "GM[OTHELLO" in text.upper())

    def fits(self, game: Game) -> bool:
        return parts_of_game_name(game.name).base == GGF_GAME

    def read(self, text: str, game: Game | None, start: State | None) -> list[Record]:
        game = game or make_game(GGF_GAME, width_of_ggf(text))
        (record,) = super().read(text, game, start)
        return [record._replace(result=result_of(game, record.states()[-1]))]

    def split(self, text: str) -> list[str]:
        return re.findall(r"\(;.*?(?:;\)|\Z)", text, re.DOTALL)

    def written(self, text: str, game: Game) -> WrittenMatch:
        if not self.fits(game):
            raise IllegalActionError(f"this is a match of {GGF_GAME}, not of {game.name}")
        match = read_ggf(text, game.observation_shape[1])
        said, _, how = match.result.partition(":")
        result = lead_of(said if said.startswith(("+", "-")) else f"+{said}")
        if result is not None and how:
            result = result[0], nan  # given up, or out of time
        start = None
        if (match.squares, match.to_move) != _usual_start(game):
            start = game.set_up(match.squares, match.to_move)
        moves = [(player, game.string_to_action(move)) for player, move in match.moves]
        return written_match(moves, result, start)

    def write(self, record: Record) -> str:
        return ggf_of(record.game, record.states(), record.actions, record.players)


@cache
def _usual_start(game: Game) -> tuple[tuple[int, ...], int]:
    """The squares at the start of the game, and who moves first."""
    return tuple(game.squares(game.init())[0].tolist()), 0


TRANSCRIPT, PGN, GGF = Transcript(), PortableGameNotation(), GenericGameFormat()
