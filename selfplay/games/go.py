"""Go with area scoring: own more crossings than the other player, by stones and by what they surround.

Player 0 is black and moves first, player 1 is white. The rules and the order of the crossings are those of
`selfplay.games.go_rules`. An observation shows a crossing that is illegal because of ko in the planes of both players;
it is empty. Further planes show the stones in chains with one liberty, with two and with three.
"""

from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.checks import require
from selfplay.compute.bit_algebra import bit_count_of_64, word_of
from selfplay.compute.compiled_words import lowest
from selfplay.compute.positions import Packed, field_values, packed_array, packed_fields
from selfplay.compute.words import PART_BITS
from selfplay.errors import IllegalActionError
from selfplay.games.chains import chain_rules
from selfplay.games.game import Game
from selfplay.games.go_rules import BITS_OF_PLIES, go_rules
from selfplay.games.observation_codec import ForeignObservationError, ShownCodec
from selfplay.games.presentation import Presentation
from selfplay.games.rules import Symmetries
from selfplay.games.state import State

COLUMNS = "ABCDEFGHJKLMNOPQRST"
"""Without the letter I, as in the Go Text Protocol."""
PASS = "pass"
KOMI = {7: 9.0, 9: 7.0}
"""By the width of the board, the komi with which perfect play seems to be a draw; sources: docs/games.md."""
USUAL_KOMI = 7.5
"""On other boards."""
NUM_PLANES = 9 + BITS_OF_PLIES
"""Of observations: eight boards, whether the last ply was a pass, and the number of plies."""


class GoCodec(ShownCodec):
    """The codec of observations, from which positions are made.

    Args:
        game: its initial position has the komi, which no observation shows.
    """

    shows_all = True

    def __init__(self, game: "Go") -> None:
        assert game.kernels.observe is not None
        super().__init__(game.rules, game.observation_shape, game.kernels.observe)
        self._rules = game.rules

    def unpack(self, packed: NDArray[np.uint8]) -> Packed:
        shown, position = self.shown.unpack(packed), self._rules.position
        fields = {name: field_values(self._rules.shown, shown, name) for name in ("own", "opp", "passed", "plies")}
        both = fields["own"] & fields["opp"]
        parts = both.reshape(len(shown), -1)
        rows, part = np.nonzero(parts)
        bits = parts[rows, part]
        ko = np.zeros(len(shown), dtype=np.int64)
        ko[rows] = PART_BITS * part + bit_count_of_64((bits & -bits) - 1) + 1
        fields |= {"own": fields["own"] ^ both, "opp": fields["opp"] ^ both, "ko": ko}
        positions = packed_fields(position, fields | {"komi": np.full_like(ko, self._rules.initial.komi)})
        foreign = np.flatnonzero((self.pack(positions) != packed).any(axis=1))
        if len(foreign):
            raise ForeignObservationError(int(foreign[0]))
        return positions


class GoPresentation(Presentation):
    aim = "Own more points than the other player: crossings with your stones, and empty ones that only you surround."
    player_names = stone_colours = ("black", "white")
    option_names = MappingProxyType({"komi": "Komi"})
    is_on_crossings = captures_stones = True
    hidden_fields = ("passed", "plies", "ko", "komi")
    ko_field = "ko"
    lead_counts_from = 1 / 3
    why_illegal = "Your chain would have no liberty there (suicide)."

    def __init__(self, game: "Go") -> None:
        self.game: Go = game
        width = game.width
        is_usual = game.komi == game.usual_parameters(width)["komi"]
        self.title = f"Go {width}x{width}{'' if is_usual else f', komi {game.komi:g}'}"
        self.how_to_play = (
            "Black moves first; then the players take turns. A move places a stone on an empty crossing, or passes.",
            "Stones of one colour that are neighbours along a line form a chain. Empty crossings beside it are its "
            "liberties.",
            "A chain without a liberty is captured: it is taken off the board. The chains of the other colour are "
            "captured first.",
            "A move may not leave your own chain without a liberty.",
            "Ko: a stone that has just captured one stone may not be captured at once if that repeats the position.",
            f"The match ends after two passes in a row, or after {game.max_game_length} plies.",
            "On the page, people then agree which stones are dead, and these are taken off. Elsewhere all stones on "
            "the board count as alive: capture the dead ones before you pass.",
            f"White gets {game.komi:g} points (komi) because black moves first, and one more for each handicap stone.",
        )
        # Black surrounds the stone in the middle; white plays in two corners, or passes where they are too close.
        middle, last = width // 2, width - 1
        ring = [(middle, middle - 1), (middle, middle + 1), (middle + 1, middle), (middle - 1, middle)]
        corners = [(0, 0), (last, last)] if width > 4 else [(width, 0)] * 2
        moves = [ring[0], (middle, middle), ring[1], corners[0], ring[2], corners[1], ring[3]]
        self.example = " ".join(game.action_to_string(width * row + column) for row, column in moves)
        middle_name = game.action_to_string(width * middle + middle)
        self.example_caption = f"Black has captured the white stone on {middle_name}, which had no liberty left."
        self.column_names = COLUMNS[:width]
        self.row_names = [str(row) for row in range(width, 0, -1)]
        self.action_help = f"a crossing from A1 to {COLUMNS[width - 1]}{width}, or {PASS}"

    def pointed_squares(self, action: int) -> list[int]:
        return [action] if action < self.game.width**2 else []

    def square_name(self, square: int) -> str:
        return self.game.action_to_string(square)

    def caption(self, state: State, row: int = 0) -> str:
        """Who leads on the board, if all stones are alive, once there are enough of them."""
        one = state.select(torch.tensor([row]))
        komi = f"komi {self.game.komi_in(one):g}"
        if not self.lead_counts(one):
            return komi
        lead = float(self.game.score(one))
        ahead = f"{self.player_names[int(lead < 0)]} leads by {abs(lead):g}" if lead else "equal"
        return f"{ahead} (all stones count as alive; {komi})"


class Go(Game):
    """Go on `width` x `width` crossings, black first.

    Args:
        width: from 3 to 19.
        komi: the points that white gets, a multiple of 0.5; None: 9 on 7x7, 7 on 9x9, otherwise 7.5. A state keeps the
            komi of the game that made it.

    Raises SettingError if an argument is out of range.
    """

    name = "go"
    sizes = (9, 3, 5, 7, 13, 19)
    other_sizes = range(3, len(COLUMNS) + 1)
    presentation_class = GoPresentation
    komi: float
    counting_parameters = frozenset({"komi"})

    @classmethod
    def usual_parameters(cls, size: int | None) -> dict[str, float]:
        return {"komi": KOMI.get(size or cls.sizes[0], USUAL_KOMI)}

    def __init__(self, width: int = 9, komi: float | None = None) -> None:
        self.width, self.komi = width, self.usual_parameters(width)["komi"] if komi is None else float(komi) + 0
        is_possible = (2 * self.komi).is_integer() and abs(self.komi) <= width * width
        require("komi", komi, is_possible, "a multiple of 0.5, at most the number of crossings")
        self.name = self.name_with(self.name, width, {"komi": self.komi})
        self.rules = go_rules(width, self.komi)
        self.num_distinct_actions, self.chosen_pass = width * width + 1, width * width
        self.observation_shape = (NUM_PLANES, width, width)
        self.max_game_length = 2 * width * width

    @cached_property
    def observation_codec(self) -> GoCodec:
        return GoCodec(self)

    @property
    def symmetries(self) -> Symmetries:
        """The eight of a square."""
        planes = np.arange(np.prod(self.observation_shape)).reshape(self.observation_shape)
        turned = [np.rot90(planes, turns, axes=(1, 2)) for turns in range(4)]
        entries = np.stack([image.reshape(-1) for one in turned for image in (one, one.transpose(0, 2, 1))])
        sources = entries[:, : self.width**2]
        passing = np.full((len(sources), 1), self.width**2)
        return Symmetries(np.concatenate([np.argsort(sources, axis=1), passing], axis=1), entries)

    def check_set_up(self, squares: NDArray[np.int8], to_move: int) -> None:
        connected = chain_rules(self.width).connected
        black, white, empty = (word_of(np.flatnonzero(squares == stone).tolist(), squares.size) for stone in (1, -1, 0))
        if (dead := (black & ~connected(black, empty)) | (white & ~connected(white, empty))) != 0:
            name = self.action_to_string(lowest(dead))
            raise IllegalActionError(f"the stone on {name} is in a chain without a liberty; take it off the board")

    def position_set_up(self, own: int, opp: int, to_move: int) -> Any:
        """The plies are counted from here, from 1 if white moves: an odd number means that white is to move.

        Two or more black stones alone, with white to move, are handicap stones: white gets a point for each, as under
        Chinese rules.
        """
        initial = self.rules.initial
        stones = opp.bit_count() if to_move == 1 and own == 0 else 0
        komi = initial.komi + 2 * stones * (stones > 1)
        if komi > self.rules.position.place("komi").mask:
            raise IllegalActionError(f"{stones} handicap stones are too many for a komi of {self.komi:g}")
        return initial._replace(own=own, opp=opp, plies=to_move, komi=komi)

    def set_up_as_in(self, game: Game, state: State) -> State:
        set_up = super().set_up_as_in(game, state)
        return self._with_bonus(set_up, (game.komi_in(state) or 0) - (game.komi or 0))

    def resumed(self, state: State, to_move: int) -> State:
        return self._with_bonus(super().resumed(state, to_move), self.komi_in(state) - self.komi)

    def _with_bonus(self, state: State, bonus: float) -> State:
        """The position (B = 1) in which white gets these points for handicap stones."""
        placed = self.positions(state)[0]._replace(komi=int(2 * (self.width**2 + self.komi + bonus)))
        return state._replace(position=torch.from_numpy(packed_array([placed])))

    def komi_in(self, state: State) -> float:
        komi = field_values(self.rules.position, state.position.numpy(), "komi")
        return float(komi[0]) / 2 - self.width**2

    def action_to_string(self, action: int) -> str:
        row, column = divmod(action, self.width)
        return PASS if row == self.width else f"{COLUMNS[column]}{self.width - row}"
