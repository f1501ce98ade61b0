"""The formats that games read themselves: the moves alone, and in Othello the Generic Game Format."""

import re
from contextlib import suppress
from functools import cache
from math import inf, isnan, nan

from selfplay.errors import BrokenTranscriptError, IllegalActionError, SettingError
from selfplay.games import Game, make_game
from selfplay.games.othello_records import GgfMatch, ggf_of, is_ggf, read_ggf, width_of_ggf
from selfplay.games.state import State
from selfplay.names_of_games import parts_of_game_name
from selfplay.records import Record, RecordedResult, decided_result, record_of_actions, recorded_result
from selfplay.records.sgf_text import has_tree, lead_in_result
from selfplay.records.written import WrittenMatch, written_match

GGF_GAME = "othello"
"""The game that the Generic Game Format is read and written for."""
NUMBER = r"(\d+(?:\.\d+)?)"
POINTS = re.compile(rf"{NUMBER}[-:]{NUMBER}")
LEAD = re.compile(rf"([+-]?){NUMBER}")
DRAW = "1/2-1/2"
RESULT_TEXTS = {1: "1-0", 0: DRAW, -1: "0-1"}
"""By the return of player 0."""
ENDINGS = {"r": "R", "t": "T", "f": "F"}
"""How a match in GGF ended early: by resigning, by time, by a forfeit. s: both agreed on the points; another letter: it
is not known how."""
AGREED, UNKNOWN = "s", "u"
LATER_MOVE = re.compile(r"\s*(?!1\.)\d+\.")
"""The number of a second or later move, at the beginning of a line: the match of the line before continues."""
COMMENT_LINE = re.compile(r"^#[ \t]*(\d{1,9})\.[ \t]+([^\n]*[^\s])", re.MULTILINE)
"""A comment, with the number of plies before it."""
TAG_LINE = re.compile(r'\[\w++[ \t]++"')


def read_result_and_lead(text: str) -> tuple[float, float] | None:
    """The result for player 0 and its lead in points, from 44-20, 1-0, 1/2-1/2 or +24; nan for points that are not
    said. None if the text is not a result, or one of 0-0, a match that both have lost."""
    if text == DRAW:
        return 0.0, nan
    if found := POINTS.fullmatch(text):
        lead = float(found[1]) - float(found[2])
        if float(found[1]) + float(found[2]) == 0:
            return None
        is_score = float(found[1]) + float(found[2]) > 2
    elif (found := LEAD.fullmatch(text)) and (found[1] or float(found[2]) == 0):
        lead, is_score = float(text), True
    else:
        return None
    return float((lead > 0) - (lead < 0)), lead if is_score else nan


def result_said(result: tuple[float, float] | None) -> RecordedResult | None:
    """A result as `read_result_and_lead` gives it; None if it is not known."""
    return None if result is None else RecordedResult(int(result[0]), "" if isnan(result[1]) else f"{abs(result[1]):g}")


def with_said(record: Record, said: RecordedResult | None) -> Record:
    """The record with the result that its text says."""
    return record._replace(result=decided_result(record.match, said), said=said)


class Transcript:
    """The moves of a match, as the game writes them, perhaps with its result at the end. In a file of many, each line
    is a match; lines that begin with # are comments."""

    writes_comments = True

    def is_written_in(self, text: str) -> bool:
        return not has_tree("\n".join(self.split(text))) and TAG_LINE.match(text.lstrip()) is None

    def fits(self, game: Game) -> bool:
        return True

    def read(self, text: str, game: Game | None, start: State | None) -> list[Record]:
        """One match, over several lines too, unless only each of the lines can be played as a match; none where there
        are only lines of comments, and none of them on a position."""
        lines = self.split(text)
        comments = {int(ply): comment for ply, comment in COMMENT_LINE.findall(text)}
        if not lines and not comments:
            return []
        with suppress(IllegalActionError):
            whole = self._played("\n".join(lines), game, start)
            if not whole.broken:
                return [whole._replace(comments=comments)]
        if len(lines) > 1 and not any(map(LATER_MOVE.match, lines[1:])):
            with suppress(IllegalActionError):
                matches = [self._played(line, game, start) for line in lines]
                if not any(match.broken for match in matches):
                    return matches
        return [self._played("\n".join(lines), game, start)._replace(comments=comments)]

    def _played(self, text: str, game: Game | None, start: State | None) -> Record:
        moves, said = self._parted(text, game)
        record = self.moves_played(moves, game, start)
        return with_said(record, result_said(said))

    def moves_played(self, text: str, game: Game | None, start: State | None) -> Record:
        """The match of these moves, up to the first that cannot be played. Errors: see `RecordFormat.read`."""
        if game is None:
            raise SettingError("the moves alone do not say which game they are of")
        start = start or game.start_of_transcript(text)
        try:
            return record_of_actions(game, start, game.read_transcript(text, start))
        except BrokenTranscriptError as error:
            if not error.actions:
                raise
            return record_of_actions(game, start, error.actions, broken=str(error))

    def split(self, text: str) -> list[str]:
        return [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]

    def written(self, text: str, game: Game) -> WrittenMatch:
        moves, result = self._parted(text, game)
        return written_match(game.written_moves(moves), result)

    def _parted(self, text: str, game: Game | None) -> tuple[str, tuple[float, float] | None]:
        """The moves of a match, and its result as `read_result_and_lead` gives it."""
        words, result = text.split(), None
        if words and not (game and game.is_action_text(words[-1])) and self._is_result(words[-1], game):
            result = read_result_and_lead(words.pop())
        return " ".join(words).rstrip(" :;,"), result

    def _is_result(self, word: str, game: Game | None) -> bool:
        """Whether the last word is a result and not a move: points only where the game counts them, and at most its
        largest lead."""
        if word in ("*", *RESULT_TEXTS.values()):
            return True
        numbers = [float(number) for number in re.findall(NUMBER, word)]
        return _can_be_points(numbers, game) and read_result_and_lead(word) is not None

    def write(self, record: Record) -> str:
        """The moves, the result if the rules do not say it, and the comments with the number of plies before them."""
        comments = (f"# {ply}. {' '.join(text.split())}\n" for ply, text in sorted(record.comments.items()))
        return "".join([self._moves_and_result(record), *comments])

    def _moves_and_result(self, record: Record) -> str:
        moves = record.game.write_transcript(record.match.actions)
        result, by_rules = record.result or recorded_result(record.match), None
        if bool(record.game.state_at(record.match.state.position).terminated):
            by_rules = recorded_result(record.match)
        if result is None or (by_rules is not None and result.returned == by_rules.returned):
            return f"{moves}\n"
        return f"{moves} {RESULT_TEXTS[result.returned]}\n"


def _can_be_points(numbers: list[float], game: Game | None) -> bool:
    """Whether the game counts points, and none of these numbers exceeds its largest lead."""
    if game is None:
        return True
    return game.rules.margin is not None and max(numbers, default=0.0) <= (game.largest_lead or inf)


class GenericGameFormat(Transcript):
    """One match of Othello, or several in a file of many."""

    writes_comments = False

    def is_written_in(self, text: str) -> bool:
        return is_ggf(text) and ("BO[" in text.upper() or "GM[OTHELLO" in text.upper())

    def fits(self, game: Game) -> bool:
        return parts_of_game_name(game.name).base == GGF_GAME

    def read(self, text: str, game: Game | None, start: State | None) -> list[Record]:
        width = width_of_ggf(text)
        if game is None or not self.fits(game) or width not in (None, game.observation_shape[1]):
            game = make_game(GGF_GAME, width)
        record, written = self.moves_played(text, game, start), read_ggf(text, game.observation_shape[1])
        return [with_said(record, _result_of(written))._replace(players=written.players)]

    def split(self, text: str) -> list[str]:
        return re.findall(r"\(;(?:\[[^\]]*+\]|;(?!\))|[^;\[])*+(?:;\))?+", text)

    def written(self, text: str, game: Game) -> WrittenMatch:
        if not self.fits(game):
            raise IllegalActionError(f"this is a match of {GGF_GAME}, not of {game.name}")
        match = read_ggf(text, game.observation_shape[1])
        said, start = _result_of(match), None
        result = None if said is None else (float(said.returned), lead_in_result(said))
        if (match.squares, match.to_move) != _usual_start(game):
            start = game.set_up(match.squares, match.to_move)
        moves = [(player, game.string_to_action(move)) for player, move in match.moves]
        return written_match(moves, result, start)

    def write(self, record: Record) -> str:
        match = record.match
        result = _ggf_result(record.result or recorded_result(match), match.game.observation_shape[1] ** 2)
        return ggf_of(record.game, match.states, match.actions, record.players, result)


def _result_of(match: GgfMatch) -> RecordedResult | None:
    """The result that a match in GGF says; None if it says none."""
    said, _, how = match.result.partition(":")
    found = read_result_and_lead(said if said.startswith(("+", "-")) else f"+{said}")
    letter = how[:1].lower()
    if found is None or not found[0] or letter in ("", AGREED):
        return result_said(found)
    return RecordedResult(int(found[0]), ENDINGS.get(letter, ""))


def _ggf_result(result: RecordedResult | None, squares: int) -> str:
    """The points by which black has won, with the empty squares; all squares, and the reason, if the match was ended
    before; ? before the end."""
    if result is None:
        return "?"
    if result.returned == 0 or result.by[:1].isdigit():
        return f"{result.returned * float(result.by or 0):+g}"
    return f"{result.returned * squares:+d}:{result.by[:1].lower() or UNKNOWN}"


@cache
def _usual_start(game: Game) -> tuple[tuple[int, ...], int]:
    """The squares at the start of the game, and who moves first."""
    return tuple(game.squares(game.init())[0].tolist()), 0


TRANSCRIPT, GGF = Transcript(), GenericGameFormat()
