"""What texts in the Smart Game Format mean in our games.

Player 0 is black (B), the main line is the match. Stones may be set up in any node before the first move, which says
who is to move. A colour that moves twice in a row is an error: no pass is put in that the file does not have.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache

from selfplay.errors import IllegalActionError, SettingError, shortened
from selfplay.games import Game, make_game
from selfplay.games.match import Match
from selfplay.games.state import State
from selfplay.names_of_games import parts_of_game_name
from selfplay.records import Record, RecordedResult, decided_result
from selfplay.records.sgf_text import Play, komi_of, lead_in_result, main_line, plays, property_text, result_of_text
from selfplay.records.written import WrittenMatch

NUMBERS = {"go": "1", "othello": "2", "gomoku": "4", "hex": "11"}
"""The property GM of each game."""
GAMES = {number: name for name, number in NUMBERS.items()}
RULES = {"exact": "exactly five", "swap": "swap"}
"""The text of the property RU of parameters of games that are true: longer lines do not win, the first move may be
swapped."""
SWAPS = ("swap-pieces", "swap")
"""How programs write that a player of Hex swaps."""
LETTERS = "abcdefghijklmnopqrstuvwxyz"
CELL = re.compile(r"([a-z])(\d{1,2})", re.IGNORECASE)
ENDS = ("resign", "forfeit")
"""Moves of Hex that end the match."""
SET_UP = {"AE": 0, "AB": 1, "AW": -1}
"""The properties that remove or place stones, and what then stands on a square."""
SIDES = {"B": 0, "W": 1, "1": 0, "2": 1}
"""How the property PL begins, and who is to move. The numbers are those of older versions."""
USUAL_SIZES = {"go": 19, "othello": 8}
"""The size of a board that a text does not say. Programs for other games agree on none."""
NAMED_CELLS = ("hex", "othello")
"""Games in which programs write a point as a letter and a number from the top."""
WHITE_FIRST = ("gomoku", "hex")
"""Games in which the colours are only names, and in texts of some programs white moves first."""
NOT_SAID = ("", "-", "?")
"""How programs write that there is no komi."""


@lru_cache(maxsize=4096)
def _action_at(point: str, width: int, passing: int | None, has_cells: bool) -> int:
    """The action of a point on a board of this width, and of a pass. Raises IllegalActionError."""
    if passing is not None and (point == "" or (point == "tt" and width <= 19)):
        return passing
    if has_cells and (cell := CELL.fullmatch(point)):
        column, row = LETTERS.index(cell[1].lower()), int(cell[2]) - 1
    else:
        column, row = (LETTERS.find(letter) for letter in (point if len(point) == 2 else "??"))
    if not (0 <= row < width and 0 <= column < width):
        raise IllegalActionError(f"{shortened(point)!r} is not a point of a board of {width}x{width}")
    return width * row + column


class MatchReader:
    """Reads one match."""

    def __init__(self, text: str, game: Game | None, start: State | None, *, needs_komi: bool = True) -> None:
        """`needs_komi`: whether a match with a written result is of another game if its komi is another one."""
        self.nodes, self.variations = main_line(text)
        self.about = {name: values for node in reversed(self.nodes) for name, values in node.items()}
        self.result = result_of_text(property_text(self.about, "RE"))
        self.needs_komi = needs_komi or self.result is None
        self.plays = list(self._until_end())
        self.game = self._game(game)
        self.is_white_first = self._is_white_first(start)
        if self.is_white_first:
            self.plays = [play._replace(seat=1 - play.seat) for play in self.plays]
            self.result = self.result and self.result._replace(returned=-self.result.returned)
        self.passing, self.has_cells = self.game.any_pass, parts_of_game_name(self.game.name).base in NAMED_CELLS
        self.start = self._start(game, start)

    def _until_end(self) -> Iterator[Play]:
        """The moves before the one that ends the match. Gives the result of that one, if no other is written."""
        for play in plays(self.nodes):
            if play.point in ENDS:
                self.result = self.result or RecordedResult(2 * play.seat - 1, "R")
                return
            yield play

    def _is_white_first(self, start: State | None) -> bool:
        """Whether white makes the first move where only the name of a colour can be meant by it."""
        if not self.plays or self.plays[0].seat == 0 or parts_of_game_name(self.game.name).base not in WHITE_FIRST:
            return False
        if start is not None and int(start.current_player) == 1:
            return False
        return not any(name in node for node in self.nodes[: self.plays[0].node + 1] for name in SET_UP)

    def _game(self, usual: Game | None) -> Game:
        number = property_text(self.about, "GM").strip()
        own = "" if usual is None else parts_of_game_name(usual.name).base
        swaps = any(play.point in SWAPS for play in self.plays[:3])
        base = GAMES.get(number or (NUMBERS["hex"] if swaps else NUMBERS.get(own, NUMBERS["go"])))
        if base is None:
            known = ", ".join(f"{number} ({name})" for number, name in GAMES.items())
            raise IllegalActionError(f"GM[{shortened(number)}]: matches of {known} can be read")
        said = RULES["swap"] if swaps else property_text(self.about, "RU").strip()
        rules = {name: 1 for name, text in RULES.items() if text == said}
        size = self._size(usual if own == base else None, base)
        same = usual if usual is not None and own == base and usual.observation_shape[1] == size else None
        if same is not None and not rules.items() <= same.parameters.items():
            same = None
        try:
            game, komi = same or make_game(base, size, **rules), self._komi()
            if game.komi is None or komi is None or komi == game.komi or (same and not self.needs_komi):
                return game
            return make_game(base, size, komi=komi)
        except (SettingError, ValueError) as error:
            raise IllegalActionError(f"the match cannot be played here: {error}") from error

    def _size(self, usual: Game | None, base: str) -> int:
        """The points along a side of the board: SZ[9], SZ[19:19]. If nothing is said, those of USUAL_SIZES or of the
        usual game."""
        if "SZ" not in self.about:
            if size := USUAL_SIZES.get(base) or (usual.observation_shape[1] if usual else 0):
                return size
            raise IllegalActionError(f"SZ, the size of the board, is missing; choose the game of {base} on that board")
        sides = property_text(self.about, "SZ").strip().split(":")
        if len(set(sides)) > 1 or not sides[0].isdecimal() or len(sides[0]) > 2:
            raise IllegalActionError(f"SZ[{shortened(':'.join(sides))}]: only square boards can be read")
        return int(sides[0])

    def _komi(self) -> float | None:
        text = property_text(self.about, "KM").strip()
        komi = komi_of(text, property_text(self.about, "AP"))
        if komi is None and text not in NOT_SAID:
            raise IllegalActionError(f"KM[{shortened(text)}]: not a komi")
        return komi

    def _start(self, of: Game | None, usual: State | None) -> State | None:
        """The position that is set up before the first move; if none is, that of the game `of`."""
        first = self.plays[0].node if self.plays else len(self.nodes) - 1
        for number, node in enumerate(self.nodes[first + 1 :], start=first + 1):
            if any(value.strip() for name in SET_UP for value in node.get(name, ())):
                raise IllegalActionError(f"node {number} sets up stones; only nodes before the first move may")
        squares = [0] * (self.game.num_squares or 0)
        for node in self.nodes[: first + 1]:
            for name, stone in SET_UP.items():
                for square in self._squares(node.get(name, ())):
                    squares[square] = stone
        self._place_handicap(squares)
        to_move = self._first_to_move(squares)
        if not any(squares) and (to_move == 0 or usual is not None):
            return usual if usual is None or of is None else self.game.set_up_as_in(of, usual)
        return self.game.set_up(squares, to_move)

    def _place_handicap(self, squares: list[int]) -> None:
        """Take the handicap stones that are written as first moves of black. Raises IllegalActionError if they are
        neither written as moves nor set up, and white moves first."""
        said = property_text(self.about, "HA").strip()
        stones = int(said) if said.isdecimal() and len(said) < 3 else 0
        if stones < 2 or any(squares) or not self.plays:
            return
        seats = [play.seat for play in self.plays[: stones + 1]]
        if seats == [0] * stones + [1]:
            for play in self.plays[:stones]:
                squares[self._action(play.point)] = 1
            del self.plays[:stones]
        elif seats[0] == 1:
            raise IllegalActionError(f"HA[{stones}], but the match does not say where these stones are")

    def _first_to_move(self, squares: list[int]) -> int:
        """Who makes the first move; if there is none, whose turn it is."""
        if self.plays:
            return self.plays[0].seat
        said = next((property_text(node, "PL") for node in reversed(self.nodes) if "PL" in node), "").strip().upper()
        if (to_move := SIDES.get(said[:1])) is not None:
            return to_move
        return int(1 in squares and -1 not in squares)

    def _squares(self, values: Iterable[bytes]) -> Iterator[int]:
        """The squares of a list of stones, with rectangles such as aa:cc."""
        width = self.game.observation_shape[2]
        for value in values:
            first, _, last = value.decode().strip().partition(":")
            if first:
                corners = [divmod(self._square(point), width) for point in (first, last or first)]
                (top, bottom), (left, right) = (sorted(sides) for sides in zip(*corners, strict=True))
                yield from (width * row + column for row in range(top, bottom + 1) for column in range(left, right + 1))

    def _square(self, point: str) -> int:
        """The square of a point. Raises IllegalActionError."""
        return _action_at(point, self.game.observation_shape[2], None, self.has_cells)

    def _action(self, point: str) -> int:
        """The action of a point. Raises IllegalActionError."""
        if point.lower() in SWAPS:
            return self.game.string_to_action(point)
        return _action_at(point, self.game.observation_shape[2], self.passing, self.has_cells)

    def written(self) -> WrittenMatch:
        if len(self.plays) > (most := self.game.max_game_length):
            raise IllegalActionError(f"the match has {len(self.plays):,} moves; there can be {most:,}")
        actions, seats = [self._action(play.point) for play in self.plays], [play.seat for play in self.plays]
        if self.result is None:
            return WrittenMatch(actions, seats=seats, start=self.start)
        return WrittenMatch(actions, float(self.result.returned), lead_in_result(self.result), seats, self.start)

    def record(self) -> Record:
        match, nodes, broken = self._playable()
        comments = dict[int, str]()
        for number, node in enumerate(self.nodes):
            if comment := property_text(node, "C"):
                ply = bisect_right(nodes, number)
                comments[ply] = "\n".join(filter(None, [comments.get(ply), comment]))
        black, white = property_text(self.about, "PB"), property_text(self.about, "PW")
        players = (white, black) if self.is_white_first else (black, white)
        result = decided_result(match, self.result)
        return Record(match, players, result, comments, self.variations, broken, self.result)

    def _playable(self) -> tuple[Match, list[int], str]:
        """The match up to the first move that cannot be played, the node of each action, and why that move cannot be
        played. Raises IllegalActionError if not even the first can be."""
        match, nodes = Match(self.game, self.start), list[int]()
        for play in self.plays:
            try:
                action = self._action(play.point)
                if match.is_over and action == self.passing:
                    continue
                if match.to_move != play.seat and self.game.pass_action is not None and match.can_only_pass:
                    # Programs leave a pass out that is the only legal action.
                    match = match.play(self.game.pass_action)
                if match.to_move != play.seat:
                    raise IllegalActionError(f"it is {('black', 'white')[match.to_move ^ self.is_white_first]}'s turn")
                match = match.play(action)
            except IllegalActionError as error:
                colour = "BW"[play.seat ^ self.is_white_first]
                broken = f"move {len(match.actions) + 1}, {colour}[{play.point}]: {error}"
                if not match.actions:
                    raise IllegalActionError(broken) from error
                del self.nodes[play.node :]
                return match, nodes + [play.node] * (len(match.actions) - len(nodes)), broken
            nodes += [play.node] * (len(match.actions) - len(nodes))
        return match, nodes, ""
