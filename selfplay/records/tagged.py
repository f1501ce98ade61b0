"""Matches with lines of tags before the moves: the Portable Game Notation (PGN), and for draughts the Portable
Draughts Notation (PDN 3.0, https://wiegerw.github.io/pdn/).

All expressions here are linear: what they repeat is possessive or ends at the first other character.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from itertools import groupby, pairwise
from math import isnan
from operator import itemgetter
from typing import NamedTuple

from selfplay.errors import IllegalActionError, shortened
from selfplay.games import Game, make_game
from selfplay.games.state import State
from selfplay.names_of_games import parts_of_game_name
from selfplay.records import Record, recorded_result
from selfplay.records.moves import (
    DRAW,
    GGF_GAME,
    RESULT_TEXTS,
    Transcript,
    read_result_and_lead,
    result_said,
    with_said,
)
from selfplay.records.written import WrittenMatch, written_match

PDN_GAME = "draughts"
"""The game that PDN is read and written for."""
TAG = r'\[[ \t]*+(?:(\w++)[ \t]++"((?:[^"\\\n]|\\(?:(?!"\]$).)?+|"(?![ \t]*+\]))*+)("[ \t]*+\])?+)?+'
"""A tag: its name, its value, and its end, which a tag that is not whole does not have."""
COMMENT = r'\{(?:[^}\n]++|\n(?![ \t]*+\[[ \t]*+\w++[ \t]++"))*+\}?+'
"""A comment up to its end, or to the tags of the next match."""
TOKEN = re.compile(rf"{TAG}|{COMMENT}|;[^\n]*+|^%[^\n]*+|[()]|\$\d*+|[^\s\[{{}}();$]++|\}}", re.MULTILINE)
"""A tag, a comment, a line for programs, a bracket around other lines of play, a mark such as $1, or a word."""
ESCAPED = re.compile(r'\\(["\\])')


class Tagged(NamedTuple):
    """The parts of one match."""

    tags: dict[str, str]
    words: list[str]
    """Those of the moves, numbers included, without marks such as !? and the * of 11-15*."""
    result: tuple[float, float] | None
    """As `read_result_and_lead` gives it."""
    comments: list[tuple[int, str]]
    """Each with the number of words before it."""
    variations: int
    """The number of other lines of play."""

    @property
    def moves(self) -> str:
        return " ".join(self.words)


class PortableGameNotation(Transcript):
    """The moves after lines of tags, such as [Result "44-20"]. The result has the points of player 0 first, or 1-0,
    0-1 and 1/2-1/2."""

    game = GGF_GAME
    """The game whose matches are written."""
    first_is_white = False
    """Whether the first number of a result is that of player 1."""

    def is_written_in(self, text: str) -> bool:
        return has_tags(text) and not _is_of_draughts(text)

    def fits(self, game: Game) -> bool:
        return parts_of_game_name(game.name).base == self.game

    def read(self, text: str, game: Game | None, start: State | None) -> list[Record]:
        return [self._record(match, game, start) for match in self.split(text)]

    def _record(self, text: str, game: Game | None, start: State | None) -> Record:
        tags = (found := self._parts(text, game)).tags
        begin = self._start(tags, game) or start
        record = with_said(self.moves_played(found.moves, game, begin), result_said(self._result(found)))
        comments = dict[int, str]()
        for count, comment in found.comments:
            ply = self._plies(found.words, count, record)
            comments[ply] = "\n".join([*filter(None, [comments.get(ply)]), comment])
        # White moves first in PGN, except where the first player is called black.
        is_black_first = record.game.presentation.player_names[0] == "black"
        first, second = ("Black", "White") if is_black_first else ("White", "Black")
        players = tags.get(first, ""), tags.get(second, "")
        return record._replace(players=players, comments=comments, variations=found.variations)

    def _plies(self, words: Sequence[str], count: int, record: Record) -> int:
        """The number of plies of a match that its first `count` words are."""
        moves, ends = [_is_move(word, record.game) for word in words], [after for *_, after in self._moves(record)]
        if sum(moves) == len(ends):
            return [0, *ends][sum(moves[:count])]
        # A word has several moves, or one that cannot be played.
        return len(self.moves_played(" ".join(words[:count]), record.game, record.match.start).match.actions)

    def split(self, text: str) -> list[str]:
        text, starts, is_in_tags = "\n".join(LINE_END.split(text)), list[int](), False
        for token in TOKEN.finditer(text):
            if (is_tag := token[0][0] == "[") and not is_in_tags:
                starts.append(token.start())
            if token[0][0] not in "{;%":
                is_in_tags = is_tag
        return [text[start:end] for start, end in pairwise([*starts, len(text)])]

    def written(self, text: str, game: Game) -> WrittenMatch:
        found = self._parts(text, game)
        start = self._start(found.tags, game)
        return written_match(game.written_moves(found.moves, start), self._result(found), start)

    def _start(self, tags: dict[str, str], game: Game | None) -> State | None:
        """The position (B = 1) that the tags set up; None: the start of the game. Raises IllegalActionError."""
        return game.read_fen(tags["FEN"]) if game is not None and "FEN" in tags else None

    def _parts(self, text: str, game: Game | None) -> Tagged:
        tags, words, comments = dict[str, str](), list[str](), list[tuple[int, str]]()
        depth = variations = 0
        for token in TOKEN.finditer(text):
            part, name, value, end = token[0], *token.groups("")
            if part[0] == "[":
                value = ESCAPED.sub(r"\1", value)
                if not end or tags.setdefault(name, value) != value:
                    raise IllegalActionError(
                        f"a tag is not whole, or is there twice: {shortened(text[token.start() :])}"
                    )
            elif part[0] == "{" and part[-1] != "}":
                raise IllegalActionError(f"a comment has no end: {shortened(part)}")
            elif part == "(":
                variations += depth == 0
                depth += 1
            elif depth:
                depth -= part == ")"
            elif part[0] in "{;":
                if comment := part[1:].removesuffix("}" if part[0] == "{" else "").strip():
                    comments.append((len(words), comment))
            elif part[0] not in "%$" and (word := part if part == "*" else part.rstrip("!?*")):
                words.append(word)
        if depth:
            raise IllegalActionError("a variation has no end: a ) is missing")
        last = "*"
        if words and not (game and game.is_action_text(words[-1])) and self._is_result(words[-1], game):
            last = words.pop()
        return Tagged(tags, words, _result_of(tags.get("Result", "*"), last), comments, variations)

    def _result(self, found: Tagged) -> tuple[float, float] | None:
        """The result for player 0, and its lead."""
        result = found.result
        return (0.0 - result[0], 0.0 - result[1]) if result and self.first_is_white else result

    def write(self, record: Record) -> str:
        said = record.result or recorded_result(record.match)
        winner = 0 if said is None else -said.returned if self.first_is_white else said.returned
        result = "*" if said is None else RESULT_TEXTS[winner]
        tags = {"Black": record.players[0], "White": record.players[1], "Result": result} | self._further_tags(record)
        lines = [f'[{name} "{_escaped(value)}"]' for name, value in tags.items()]
        words, comments = list[str](), sorted(record.comments.items())
        for number, (move, before, after) in enumerate(self._moves(record)):
            words += [_comment(text) for ply, text in comments if ply <= before]
            words += [f"{number // 2 + 1}."] * (number % 2 == 0) + [move]
            words += [_comment(text) for ply, text in comments if before < ply <= after]
            comments = [(ply, text) for ply, text in comments if ply > after]
        words += [_comment(text) for _, text in comments]
        return "\n".join([*lines, "", " ".join([*words, result]), ""])

    def _further_tags(self, record: Record) -> dict[str, str]:
        return {}

    def _moves(self, record: Record) -> list[tuple[str, int, int]]:
        """The moves, each with the number of plies before and after it."""
        game, passing = record.game, record.game.pass_action
        plies = enumerate(record.match.actions)
        return [(game.action_to_string(action), ply, ply + 1) for ply, action in plies if action != passing]


class PortableDraughtsNotation(PortableGameNotation):
    """English draughts. Several jumps of one piece are one move; 1-0 is a win of white, who moves second."""

    game = PDN_GAME
    first_is_white = True

    def is_written_in(self, text: str) -> bool:
        return has_tags(text) and _is_of_draughts(text)

    def _parts(self, text: str, game: Game | None) -> Tagged:
        found = super()._parts(text, game)
        kind = found.tags.get("GameType", ENGLISH).partition(",")[0].strip()
        if kind != ENGLISH:
            name = GAME_TYPES.get(kind, "another game")
            raise IllegalActionError(f"GameType {shortened(kind)} is {name}; English draughts, {ENGLISH}, can be read")
        if game is not None and not self.fits(game):
            raise IllegalActionError(f"this is a match of {self.game}, not of {game.name}")
        return found

    def read(self, text: str, game: Game | None, start: State | None) -> list[Record]:
        own = game if game is not None and self.fits(game) else make_game(self.game)
        return super().read(text, own, start)

    def _is_result(self, word: str, game: Game | None) -> bool:
        return word in RESULTS

    def _further_tags(self, record: Record) -> dict[str, str]:
        match = record.match
        start = {"SetUp": "1", "FEN": match.game.fen_of(match.start)} if match.is_set_up else {}
        return {"GameType": ENGLISH, **start}

    def _moves(self, record: Record) -> list[tuple[str, int, int]]:
        movers = [int(state.current_player) for state in record.match.states]
        moves, ply = list[tuple[str, int, int]](), 0
        for _, turn in groupby(zip(movers, record.match.actions, strict=False), key=itemgetter(0)):
            first, *others = (record.game.action_to_string(action) for _, action in turn)
            text = first + "".join(text[text.index("x") :] for text in others)
            moves.append((text, ply, ply := ply + 1 + len(others)))
        return moves


RESULTS = ("*", "1-0", "0-1", DRAW, "2-0", "0-2", "1-1", "0-0")
ENGLISH = "21"
GAME_TYPES = {
    "20": "international draughts",
    "22": "Italian draughts",
    "23": "American pool checkers",
    "24": "Spanish draughts",
    "25": "Russian draughts",
    "26": "Brazilian draughts",
    "27": "Canadian draughts",
    "28": "Portuguese draughts",
    "29": "Czech draughts",
    "30": "Turkish draughts",
    "31": "Thai draughts",
    "40": "Frisian draughts",
}
LINE_END = re.compile("\r\n?|\n")
NUMBER = re.compile(r"\d++\.++")
"""The number before a move."""
JUMPS_OR_STEPS = re.compile(r"\d{1,2}[-x]\d{1,2}(?:x\d{1,2})*+")


def has_tags(text: str) -> bool:
    """Whether a text begins with a tag, perhaps behind comments."""
    return next((token[0][0] for token in TOKEN.finditer(text) if token[0][0] not in "{;%"), "") == "["


def _is_of_draughts(text: str) -> bool:
    """Whether a text with tags names a kind of draughts, or its first move goes from one numbered square to another."""
    results = set(RESULTS)
    for token in TOKEN.finditer(text):
        if token[1] == "Result":
            results.add(token[2])
        word = NUMBER.sub("", token[0].rstrip("!?*"))
        if token[1] == "GameType" or (word not in results and JUMPS_OR_STEPS.fullmatch(word)):
            return True
        if word and word[0] not in "[{;%$()" and word not in results:
            return False
    return False


def _result_of(tag: str, last: str) -> tuple[float, float] | None:
    """The result that the tag or the last word of a match says. Raises IllegalActionError if each says another one."""
    first, second = read_result_and_lead(tag), read_result_and_lead(last)
    if first is None or second is None:
        return first or second
    if first[0] != second[0] or abs(first[1] - second[1]) > 0:
        raise IllegalActionError(f"the result is {tag} in the tag and {last} after the moves")
    return second if isnan(first[1]) else first


def _is_move(word: str, game: Game) -> bool:
    """Whether a word is a move, and not a number or a pass."""
    move = NUMBER.sub("", word)
    with suppress(IllegalActionError):
        return move != "" and game.string_to_action(move) != game.pass_action
    return move != ""


def _comment(text: str) -> str:
    return "{" + " ".join(text.split()).replace("{", "(").replace("}", ")") + "}"


def _escaped(value: str) -> str:
    return " ".join(value.splitlines()).replace("\\", "\\\\").replace('"', '\\"')


PGN, PDN = PortableGameNotation(), PortableDraughtsNotation()
