"""The Smart Game Format, version 4 (https://www.red-bean.com/sgf/), for Go, Gomoku and Hex.

sgfmill reads and writes the form of the texts. Here is what they mean in our games: player 0 is black (B), the main
line is the match. A colour that moves twice in a row has a pass between its moves in games in which this is legal.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from math import nan
from typing import Any, NamedTuple

from sgfmill.sgf import Sgf_game
from sgfmill.sgf_grammar import main_sequence_iter, parse_sgf_collection, text_value

from selfplay.errors import IllegalActionError, SettingError, shortened
from selfplay.games import Game, make_game
from selfplay.games.state import State
from selfplay.installation import __version__
from selfplay.records import Record, Result, result_of
from selfplay.records.written import WrittenMatch, pass_of
from selfplay.registry import parts_of_game_name

NUMBERS = {"go": "1", "gomoku": "4", "hex": "11"}
"""The property GM of each game."""
GAMES = {number: name for name, number in NUMBERS.items()}
RULES = {"exact": "exactly five", "swap": "swap"}
"""The text of the property RU of parameters of games that are true: longer lines do not win, the first move may be
swapped."""
SWAPS = ("swap-pieces", "swap")
"""How programs write that a player of Hex swaps."""
LETTERS = "abcdefghijklmnopqrstuvwxyz"
START = re.compile(r"\s*\(\s*;")
TOKEN = re.compile(r"\[(?:[^\]\\]++|\\.)*+\]?|[()]", re.DOTALL)
"""A value, whose brackets do not count, or a bracket of a tree. A value without an end is all that follows: if each [
of a long text could fail to find its end, reading the text would take quadratic time."""
CELL = re.compile(r"([a-z])(\d{1,2})", re.IGNORECASE)
"""A cell of Hex as a letter and a number."""
POINTS = re.compile(r"\d+(?:\.\d+)?")
ENDS = ("resign", "forfeit")
"""Moves of Hex that end the match."""
SET_UP = {"AB", "AW", "AE"}
"""The properties that place or remove stones."""


class SmartGameFormat:
    """Matches of the games in NUMBERS, on square boards."""

    def is_written_in(self, text: str) -> bool:
        number, is_said, _ = text.partition("GM[")[2].partition("]")
        return START.match(text) is not None and (number.strip().isdigit() if is_said else "BO[" not in text)

    def fits(self, game: Game) -> bool:
        height, width = game.board_shape or (0, 1)
        is_five = game.presentation.line_length in (None, 5)
        return parts_of_game_name(game.name).base in NUMBERS and height == width and is_five

    def read(self, text: str, game: Game | None, start: State | None) -> list[Record]:
        return [_Reader(tree, game, start).record() for tree in _trees(text)]

    def split(self, text: str) -> list[str]:
        """The text of each tree, which may be cut off."""
        matches, depth, first = list[str](), 0, 0
        for found in TOKEN.finditer(text):
            if found[0] == "(":
                first = first if depth else found.start()
                depth += 1
            elif found[0] == ")":
                depth = max(0, depth - 1)
                if not depth:
                    matches.append(text[first : found.end()])
        return [*matches, text[first:]] if depth else matches

    def written(self, text: str, game: Game) -> WrittenMatch:
        reader = _Reader(_trees(text)[0], game, None, needs_komi=False)
        if reader.game is not game:
            raise IllegalActionError(f"this is a match of {reader.game.name}, not of {game.name}")
        return reader.written()

    def write(self, record: Record) -> str:
        game, (black, white) = record.game, record.players
        number, states = NUMBERS[parts_of_game_name(game.name).base], record.states()
        written = Sgf_game(size=game.observation_shape[1])
        root = written.get_root()
        said = {"GM": int(number), "AP": ("selfplay", __version__), "PB": black, "PW": white}
        if game.komi is not None:
            said |= {"KM": game.komi, "RU": "Chinese"}
        for name in (name for name, value in game.parameters.items() if value is True):
            said["RU"] = RULES[name]
        if (result := record.result or result_of(game, states[-1])) is not None:
            said["RE"] = _result_text(result)
        for name, value in said.items():
            if value != "":
                root.set(name, value)
        if record.start is not None:
            _write_start(root, game, record.start)
        if record.handicap:
            root.set("HA", record.handicap)
        for ply in range(len(states)):
            node = root if ply == 0 else written.extend_main_sequence()
            if ply:
                colour, action = "BW"[int(states[ply - 1].current_player)], record.actions[ply - 1]
                node.set_raw(colour, _point(game, action).encode())
            if ply in record.comments:
                node.set("C", record.comments[ply])
        return str(written.serialise().decode()).rstrip() + "\n"


SGF = SmartGameFormat()


class _Tree(NamedTuple):
    """A match of a text."""

    header: Any
    """As sgfmill's Sgf_game, whose nodes after the root are not made: that takes long."""
    nodes: list[dict[str, list[bytes]]]
    """The properties of the nodes of the main line, with their values as they are written."""


def _trees(text: str) -> list[_Tree]:
    """The matches of a text. Raises IllegalActionError."""
    try:
        found = parse_sgf_collection(text.encode("utf-8", errors="replace"))
        return [_Tree(Sgf_game.from_coarse_game_tree(one, "utf-8"), list(main_sequence_iter(one))) for one in found]
    except ValueError as error:
        raise IllegalActionError(f"this is not a match in SGF: {error}") from error


def _result_text(result: Result) -> str:
    return "0" if result.returned == 0 else f"{'B' if result.returned > 0 else 'W'}+{result.by}"


def _point(game: Game, action: int) -> str:
    """An action as a point: two letters from the top left; in Hex a letter and a number; empty for a pass."""
    row, column = divmod(action, game.observation_shape[2])
    if action == game.num_squares:
        return "" if action == pass_of(game) else game.action_to_string(action)
    return f"{LETTERS[column]}{row + 1}" if game.presentation.is_rhombus else LETTERS[column] + LETTERS[row]


def _write_start(root: Any, game: Game, start: State) -> None:
    """Write a position that was set up."""
    squares, to_move = game.squares(start)[0].tolist(), int(start.current_player)
    for name, stone in (("AB", 1), ("AW", -1)):
        if points := [_point(game, square).encode() for square, found in enumerate(squares) if found == stone]:
            root.set_raw_list(name, points)
    root.set_raw("PL", b"BW"[to_move : to_move + 1])


@lru_cache(maxsize=4096)
def _action_at(point: str, width: int, passing: int | None) -> int:
    """The action of a point on a board of this width, and of a pass. Raises IllegalActionError."""
    if passing is not None and (point == "" or (point == "tt" and width <= 19)):
        return passing
    if cell := CELL.fullmatch(point):
        column, row = LETTERS.index(cell[1].lower()), int(cell[2]) - 1
    else:
        column, row = (LETTERS.find(letter) for letter in (point if len(point) == 2 else "??"))
    if not (0 <= row < width and 0 <= column < width):
        raise IllegalActionError(f"{shortened(point)!r} is not a point of a board of {width}x{width}")
    return width * row + column


class _Reader:
    """Reads one match of a collection."""

    def __init__(self, tree: _Tree, game: Game | None, start: State | None, *, needs_komi: bool = True) -> None:
        """`needs_komi`: whether a match with a written result is of another game if its komi is another one."""
        self.nodes, self.root = tree.nodes, tree.header.get_root()
        self.result = self._result()
        self.needs_komi = needs_komi or self.result is None
        self.game = self._game(game, tree.header.get_size())
        self.passing = pass_of(self.game)
        self.start = self._start(game, start)

    def _said(self, name: str) -> str:
        """The text of a property of the root; empty without it."""
        return str(self.root.get_raw(name).decode()).strip() if self.root.has_property(name) else ""

    def _name(self, name: str) -> str:
        return str(self.root.get(name)) if self.root.has_property(name) else ""

    def _game(self, usual: Game | None, size: int) -> Game:
        number = self._said("GM")
        own = "" if usual is None else parts_of_game_name(usual.name).base
        base = GAMES.get(number or NUMBERS.get(own, "1"))
        if base is None:
            known = ", ".join(f"{number} ({name})" for number, name in GAMES.items())
            raise IllegalActionError(f"GM[{shortened(number)}]: matches of {known} can be read")
        said = RULES["swap"] if any(point in SWAPS for _, _, point in islice(self._moves(), 3)) else self._said("RU")
        rules = {name: 1 for name, text in RULES.items() if text == said}
        same = usual if usual is not None and own == base and usual.observation_shape[1] == size else None
        if same is not None and not rules.items() <= same.parameters.items():
            same = None
        try:
            game, komi = same or make_game(base, size, **rules), self._said("KM")
            if game.komi is None or not komi or float(komi) == game.komi or (same and not self.needs_komi):
                return game
            return make_game(base, size, komi=float(komi))
        except (SettingError, ValueError) as error:
            raise IllegalActionError(f"the match cannot be played here: {error}") from error

    def _start(self, of: Game | None, usual: State | None) -> State | None:
        """The position that the root sets up; if it sets up none, that of the game `of`."""
        stones = {stone: list(self._points(name)) for name, stone in (("AB", 1), ("AW", -1))}
        to_move = self._said("PL").upper()[:1] or ("W" if stones[1] and not stones[-1] else "B")
        if not stones[1] and not stones[-1] and to_move == "B":
            return usual if usual is None or of is None else self.game.set_up_as_in(of, usual)
        squares = [0] * (self.game.num_squares or 0)
        for stone, points in stones.items():
            for point in points:
                squares[point] = stone
        return self.game.set_up(squares, "BW".find(to_move))

    def _points(self, name: str) -> Iterator[int]:
        """The squares of a list of stones, with rectangles such as aa:cc."""
        if not self.root.has_property(name):
            return
        width = self.game.observation_shape[2]
        for value in self.root.get_raw_list(name):
            first, _, last = value.decode().partition(":")
            (top, left), (bottom, right) = (divmod(self._action(point), width) for point in (first, last or first))
            yield from (width * row + column for row in range(top, bottom + 1) for column in range(left, right + 1))

    def _action(self, point: str) -> int:
        """The action of a point. Raises IllegalActionError."""
        if point.lower() in SWAPS:
            return self.game.string_to_action(point)
        return _action_at(point, self.game.observation_shape[2], self.passing)

    def _moves(self) -> Iterator[tuple[dict[str, list[bytes]], int | None, str]]:
        """The properties of each node, who moves there and the point; None if nobody does. Raises IllegalActionError
        for stones that are set up later."""
        for number, node in enumerate(self.nodes):
            if number and not SET_UP.isdisjoint(node):
                raise IllegalActionError(f"node {number} sets up stones; only the first node of a match may")
            seat = 0 if "B" in node else 1 if "W" in node else None
            yield node, seat, "" if seat is None else node["BW"[seat]][0].decode()

    def written(self) -> WrittenMatch:
        actions, seats, result = list[int](), list[int](), self.result
        for _, seat, point in self._moves():
            if seat is not None and point in ENDS:
                result = result or Result(2 * seat - 1, "R")
                break
            if seat is not None:
                actions.append(self._action(point))
                seats.append(seat)
        if result is None:
            return WrittenMatch(actions, seats=seats, start=self.start)
        points = float(result.by) if POINTS.fullmatch(result.by) else nan if result.returned else 0.0
        return WrittenMatch(actions, float(result.returned), result.returned * points, seats, self.start)

    def record(self) -> Record:
        game, state, actions = self.game, self.start or self.game.init(), list[int]()
        comments: dict[int, str] = {}
        result = self.result
        for node, seat, point in self._moves():
            if seat is not None and point in ENDS:
                result = result or Result(2 * seat - 1, "R")
                break
            if seat is not None:
                try:
                    state = self._played(state, seat, self._action(point), actions)
                except IllegalActionError as error:
                    raise IllegalActionError(f"move {len(actions) + 1}, {'BW'[seat]}[{point}]: {error}") from error
            if "C" in node:
                comment = text_value(node["C"][0]).decode()
                comments[len(actions)] = "\n".join(filter(None, [comments.get(len(actions)), comment]))
        players = self._name("PB"), self._name("PW")
        return Record(game, actions, self.start, players, result or result_of(game, state), comments)

    def _played(self, state: State, seat: int, action: int, actions: list[int]) -> State:
        """The state after `action` of `seat`, which is added to the actions, after a pass of the other player if it is
        out of turn."""
        passing = self.passing
        if bool(state.terminated) and action == passing:
            return state
        out_of_turn = int(state.current_player) != seat
        if out_of_turn and (passing is None or not bool(self.game.legal_action_mask(state)[0, passing])):
            raise IllegalActionError("it is the other colour's turn")
        played = [passing, action] if out_of_turn and passing is not None else [action]
        state = self.game.follow(played, state)
        actions += played
        return state

    def _result(self) -> Result | None:
        """The property RE: B+3.5, W+R, B+, 0, Draw; None for a result that is not known, such as ? or Void."""
        text = self._said("RE")
        if text.lower() in ("0", "draw"):
            return Result(0)
        found = re.fullmatch(r"([BW])\+(.*)", text, re.IGNORECASE)
        return Result(1 if found[1].upper() == "B" else -1, found[2].strip()) if found else None
