"""The Universal Chess Interface (Meyer-Kahlen, April 2006), with the variants and moves of Fairy-Stockfish.

Moves are written by what they do to the board: `a2a3` where a stone goes from one square to another, `P@b1` where one
is placed, and `0000` where nothing changes. Files are letters from the left, ranks are numbered from the bottom of the
board as it is drawn, and white is the player who moves first. So a game needs nothing of its own, unless
Fairy-Stockfish has another name for it (`VARIANTS`).
"""

import re
from collections.abc import Iterator, Sequence

import torch

from selfplay.compute.random_numbers import Draws
from selfplay.errors import EngineError, IllegalActionError, SettingError, shortened
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.players.player import RandomPlayer
from selfplay.protocols.process import EngineProcess

VARIANTS = {
    "breakthrough": "breakthrough5",
    "breakthrough_6x6": "breakthrough6",
    "breakthrough_8x8": "breakthrough",
    "connect_four": "cfour",
}
"""The names of variants by those of our games; the others have the same name."""
VARIANT_OPTION, PATH_OPTION = "UCI_Variant", "VariantPath"
"""The options of an engine: the variant that it plays, and a file of further ones."""
FILES = "abcdefghijklmnopqrstuvwxyz"
NO_MOVE, NONE = "0000", "(none)"
"""A pass, and the move of an engine that has none."""
PIECE = "P"
MOST_PLIES = 24
"""Plies of a random match in which the moves of a game are tried."""


def variant_of(game: Game) -> str:
    """The name of a game as a variant."""
    return VARIANTS.get(game.name, game.name)


def game_of_variant(variant: str) -> str:
    """The name of our game for a variant."""
    return next((name for name, other in VARIANTS.items() if other == variant), variant)


def lines_until(engine: EngineProcess, command: str, word: str, time_limit: float) -> list[str]:
    """Send a command and return the lines up to the first that begins with `word`.

    Raises EngineError as `EngineProcess.lines`.
    """
    lines = list[str]()
    for line in engine.lines(command, time_limit):
        lines.append(" ".join(line.split()))
        if lines[-1].partition(" ")[0] == word:
            break
    return lines


def variants_in(lines: Sequence[str]) -> list[str]:
    """The variants that an engine offers in its answer to `uci`."""
    option = next((line for line in lines if line.startswith(f"option name {VARIANT_OPTION} type combo ")), "")
    return re.findall(r"(?<= var )\S+", option)


def _positions_of_a_match(game: Game) -> Iterator[State]:
    """The positions (B = 1) of a random match, up to MOST_PLIES."""
    nobody, state = RandomPlayer(game), game.init()
    for ply in range(MOST_PLIES):
        if bool(state.terminated):
            return
        yield state
        state = game.step_unchecked(state, nobody.act(state, Draws(0, torch.tensor([0]), ply)))


class UciMoves:
    """The moves and positions of a game in this notation.

    Raises SettingError if the game has no board of squares, more than 26 columns, or moves that cannot be written in a
    random match.
    """

    def __init__(self, game: Game) -> None:
        self.game, (rows, self.columns) = game, game.board_shape or (0, 0)
        if not 0 < self.columns <= len(FILES):
            raise SettingError(f"game={game.name}: UCI is for games on boards of up to {len(FILES)} columns of squares")
        self.squares = [f"{FILES[column]}{rows - row}" for row in range(rows) for column in range(self.columns)]
        for state in _positions_of_a_match(game):
            self.actions(state)

    def text(self, before: State, after: State) -> str:
        """The move that leads from one position (B = 1) to another. Raises SettingError if it cannot be written."""
        return self._text(self._board(before), self._board(after), 1 - 2 * int(before.current_player))

    def actions(self, state: State) -> dict[str, int]:
        """The legal actions of a position (B = 1), by their texts. Raises SettingError if they cannot be written."""
        legal = self.game.legal_action_mask(state)[0].nonzero()[:, 0]
        if not len(legal):
            return {}
        after = self.game.step_unchecked(state.select(torch.zeros_like(legal)), legal)
        before, stone = self._board(state), 1 - 2 * int(state.current_player)
        texts = [self._text(before, board, stone) for board in self.game.squares(after).tolist()]
        if len(set(texts)) < len(texts):
            twice = next(text for text in texts if texts.count(text) > 1)
            raise SettingError(f"game={self.game.name}: UCI writes different moves alike, such as {twice}")
        return dict(zip(texts, legal.tolist(), strict=True))

    def _board(self, state: State) -> list[int]:
        board: list[int] = self.game.squares(state)[0].tolist()
        return board

    def _text(self, before: list[int], after: list[int], stone: int) -> str:
        changed = [place for place, square in enumerate(before) if square != after[place]]
        left = [place for place in changed if before[place] == stone]
        reached = [place for place in changed if after[place] == stone]
        placed = [place for place in reached if before[place] == 0]
        if not changed:
            return NO_MOVE
        if len(left) == len(reached) == 1:
            return self.squares[left[0]] + self.squares[reached[0]]
        if not left and len(placed) == 1:
            return f"{PIECE}@{self.squares[placed[0]]}"
        raise SettingError(f"game={self.game.name}: UCI cannot write moves that change the board as they do")

    # ------------------------------------------------------------------ positions

    def fen(self, state: State, pocket: str = "") -> str:
        """A position (B = 1) in the notation of Forsyth and Edwards.

        `pocket`: the pieces that the players have to place at the start of the game; none if they have no pockets.
        """
        signs = "".join({0: "1", 1: PIECE, -1: PIECE.lower()}[square] for square in self._board(state))
        rows = (signs[start : start + self.columns] for start in range(0, len(signs), self.columns))
        placement = "/".join(re.sub("1+", lambda empty: str(len(empty[0])), row) for row in rows)
        left = "".join(letter * (pocket.count(letter) - placement.count(letter)) for letter in (PIECE, PIECE.lower()))
        hands = f"[{left}]" if pocket else ""
        return f"{placement}{hands} {'wb'[int(state.current_player)]} - - 0 1"

    def read_fen(self, text: str) -> State:
        """The position (B = 1) with this notation, whose pieces are all alike and may have any letter.

        Raises IllegalActionError if it cannot be read or is not a position of the game, and SettingError if positions
        of this game cannot be set up.
        """
        placement, _, rest = text.strip().partition(" ")
        filled = re.sub(
            r"\d+", lambda digits: "." * min(int(digits[0][:3]), len(self.squares)), placement.split("[")[0]
        )
        rows, colour = filled.split("/"), rest[:1]
        board = [0 if sign == "." else 1 if sign.isupper() else -1 for sign in "".join(rows)]
        if {len(row) for row in rows} != {self.columns} or len(board) != len(self.squares) or colour not in ("w", "b"):
            raise IllegalActionError(f"{shortened(text)!r} is not a position (FEN) of {self.game.name}")
        start = self.game.init()
        is_start = board == self._board(start) and colour == "wb"[int(start.current_player)]
        return start if is_start else self.game.set_up(board, "wb".index(colour))

    def about_variant(self) -> str:
        """What Fairy-Stockfish, and our engine, say when a variant is chosen."""
        rows = len(self.squares) // self.columns
        size = f"files {self.columns} ranks {rows} pocket 0 template fairy"
        return f"info string variant {variant_of(self.game)} {size} startpos {self.fen(self.game.init())}"

    def check_variant(self, lines: Sequence[str]) -> str:
        """The pieces in the pockets of an engine's variant at its start. Raises EngineError if it says that the variant
        begins on another board than the game."""
        said = next((line for line in lines if line.startswith("info string variant ")), "")
        placement = re.search(r" startpos ([^ \[]+)", said)
        own = self.fen(self.game.init()).partition(" ")[0]
        if placement and re.sub("[a-z]", "p", re.sub("[A-Z]", "P", placement[1])) != own:
            raise EngineError(f"its variant begins with {shortened(placement[1])}, but {self.game.name} with {own}")
        pocket = re.search(r" startpos [^ \[]+\[([^\]]*)\]", said)
        return pocket[1] if pocket else ""
