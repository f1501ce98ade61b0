"""An n-tuple network: the value is a sum of table entries, one for each pattern of squares."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from selfplay.architectures import Output, require_positive_integers
from selfplay.checks import require
from selfplay.compute.portable import is_portable
from selfplay.errors import SettingError
from selfplay.games import Game
from selfplay.games.feature_kernels import board_words
from selfplay.games.pattern_planes import FurtherBoard, Planes, Seen, seen_in
from selfplay.games.pattern_shapes import board_symmetries, random_walks, read_pattern, windows
from selfplay.games.patterns import (
    CONTENTS,
    CONTENTS_WITH_ARROWS,
    CONTENTS_WITH_BOARD,
    CONTENTS_WITH_MARKS,
    MOST_ENTRIES,
    Patterns,
    TrainableTables,
    make_patterns,
    row_of_weights,
    stones_in_entries,
    write_all_entries,
)
from selfplay.search.pattern_evaluation import PatternEvaluation, pattern_tables

MAX_SQUARES = 64


class NTuple(nn.Module):
    """The hyperbolic tangent of the sum of one table entry for each image of each pattern.

    There is a table for each pattern and phase of the match. The weights start at 0.

    Args:
        patterns: drawn as for `selfplay.games.pattern_shapes.read_pattern`; None: if there are no random walks, every
            window of 3x3 squares, or of 2x2 if their tables are too large.
        symmetries: the images of patterns on the board that share their weights: "none", "mirror" or "square".
        phases: number of phases, ranges of equal width of the number of stones, each with its own weights.
        parities: whether even and odd numbers of stones have weights of their own in each phase. If every move places a
            stone, each player then has its own weights.
        drops: whether stones drop to the lowest empty square of a column. If they do, an empty square that the next
            stone can reach differs from other empty squares, and tables have no entries for stones above empty squares.
        walks, walk_length, walk_seed: number of further patterns, the squares of random walks; how many squares each
            has; and the seed of the walks.
        marks: the plane of observations, from 0, that marks stones, such as kings: further contents of a square. None:
            that of `further`, unless stones drop.
        upright: the plane of a flag. Where it is 0, the board is turned by 180 degrees before it is looked up, so that
            both players move the same way.
        sets: planes of flags and of bits of numbers; there are weights for each combination of them.
        further: the board of the game besides those of the stones that tables see; None: they see no other.

    Raises:
        SettingError: observations are not boards of up to 64 squares with two planes of stones first, a pattern does
            not fit the board, or an option is out of range.
    """

    description = "tables of patterns"

    def __init__(
        self,
        observation_shape: tuple[int, ...],
        patterns: Sequence[str] | None = None,
        symmetries: str = "none",
        phases: int = 1,
        parities: bool = False,
        drops: bool = False,
        walks: int = 0,
        walk_length: int = 8,
        walk_seed: int = 0,
        marks: int | None = None,
        upright: int | None = None,
        sets: Sequence[int] = (),
        further: FurtherBoard | None = None,
    ) -> None:
        super().__init__()
        rows, columns = _board_of(observation_shape)
        if patterns is not None and (isinstance(patterns, str) or not patterns):
            raise SettingError('patterns: must be one or more drawings, such as "xxx/xxx/xxx"')
        require_positive_integers(phases=phases)
        self.board, self.num_squares = (rows, columns), rows * columns
        if drops and symmetries == "square":
            raise SettingError("symmetries=square: not with drops=true; set mirror or none")
        if drops and marks is not None:
            raise SettingError("marks: not with drops=true; leave it out")
        self.contents = CONTENTS if marks is None else CONTENTS_WITH_MARKS
        if further is not None and marks is None and not drops:
            marks = further.plane
            self.contents = contents_with(further)
        self.planes = _planes_of(observation_shape[0], marks, upright, sets)
        if patterns is None:
            patterns = [] if walks else largest_windows(rows, columns, self.contents)
        squares = (
            *(read_pattern(drawing, rows, columns) for drawing in patterns),
            *random_walks(walks, walk_length, walk_seed, rows, columns),
        )
        self.symmetries, self.drops, self.parities = symmetries, drops, 2 if parities else 1
        self.patterns: Patterns = make_patterns(squares, symmetries, rows, columns, drops, self.contents)
        self.contributions: Tensor
        self.offsets: Tensor
        self.weight_of_entry: Tensor
        for name in ("contributions", "offsets", "weight_of_entry"):
            self.register_buffer(name, torch.from_numpy(getattr(self.patterns, name)), persistent=False)
        self.phases, self.sets = phases * self.parities, 1 << len(self.planes.in_sets)
        self.weight = nn.Parameter(torch.zeros(self.sets * self.phases, self.patterns.num_weights))

    def forward(self, observations: Tensor) -> Output:
        indices = self.weight_indices(observations)
        sums = nn.functional.embedding_bag(indices, self.weight.reshape(-1, 1), mode="sum")
        return Output(torch.tanh(sums).squeeze(1))

    def weight_indices(self, observations: Tensor) -> Tensor:
        """int64[N, I]: the index of the weight of each image in each position, in the flattened weights."""
        seen = seen_in(board_words(observations.detach().cpu()), self.num_squares, self.planes)
        entries = torch.empty(len(observations), len(self.patterns.offsets), dtype=torch.int32)
        write_all_entries(seen, self.patterns.contributions, self.patterns.offsets, entries.numpy())
        row = torch.from_numpy(self._row_of(seen)).to(observations.device)
        weights = self.weight_of_entry[entries.to(observations.device).long()].long()
        return weights + row[:, None] * self.patterns.num_weights

    def evaluation(self, name: str, game: Game, win: float, margin: float) -> PatternEvaluation:
        """The present weights, for compiled searches (see `CompiledValues`)."""
        weights = self.weight.detach().cpu().numpy()
        tables = pattern_tables(
            self.patterns, weights, self.num_squares, self.parities, sets=self.sets, is_portable=is_portable(self)
        )
        return PatternEvaluation(name, game.name, win, margin, tables, self.planes)

    def trainable_tables(self) -> TrainableTables:
        """The patterns and the weights, not copied (see `TableWeights`)."""
        contributions, offsets, weight_of_entry, *_ = self.patterns
        weights = self.weight.detach().numpy()
        sizes = self.num_squares, self.phases, self.parities
        return TrainableTables(contributions, offsets, weight_of_entry, weights, *sizes, self.planes, is_portable(self))

    def shared_images(self) -> NDArray[np.int64]:
        """int64[K, S]: the images of the board that have the same value, as in `board_symmetries`."""
        return board_symmetries(self.symmetries, *self.board)

    def square_weights(self) -> NDArray[np.float64]:
        """float64[phases, rows, columns]: what a stone of the player who has just moved adds on each square.

        For each image of a pattern that contains the square, two means are taken: of the weights of fillings with a
        stone of this player there, and with a stone of the opponent. The result is half their difference, summed over
        the images. All sets count alike. Fillings that never occurred have weight 0 and are left out. The sum is the
        argument of a hyperbolic tangent, so near 0 it is a share of the outcome.
        """
        weights = self.weight.detach().double().numpy().reshape(-1, self.phases, self.patterns.num_weights)
        totals = np.zeros((self.phases, self.num_squares))
        for image, squares in enumerate(self.patterns.images):
            stones = stones_in_entries(self.patterns, image, *self.board, self.drops, self.contents)
            start = self.patterns.offsets[image]
            entries = weights[:, :, self.patterns.weight_of_entry[start : start + len(stones)]]
            for stone, square in zip(stones.T, squares, strict=True):
                totals[:, square] += (
                    _mean_nonzero(entries[..., stone == 1]) - _mean_nonzero(entries[..., stone == 2])
                ) / 2
        return totals.reshape(self.phases, *self.board)

    def _row_of(self, seen: Seen) -> Any:
        """`row_of_weights` for arrays of words."""
        return row_of_weights(seen, self.phases, self.num_squares, self.parities)


def contents_with(further: FurtherBoard) -> int:
    """The number of contents of a square that may also be on a further board."""
    if further.is_on_stones and further.is_on_empty:
        return CONTENTS_WITH_BOARD
    return CONTENTS_WITH_MARKS if further.is_on_stones else CONTENTS_WITH_ARROWS


def largest_windows(rows: int, columns: int, contents: int) -> list[str]:
    """All windows of 3x3 squares, or of 2x2 if their tables have more than MOST_ENTRIES entries."""
    found = windows(rows, columns)
    return found if len(found) * contents**9 <= MOST_ENTRIES else windows(rows, columns, 2)


def with_phases(network: NTuple, architecture: Mapping[str, Any]) -> tuple[NTuple, dict[str, Any]]:
    """The network with weights of its own for each number of stones, and its architecture; its values stay the same.

    Args:
        architecture: that of `network`.
    """
    extended = {**architecture, "phases": -(-network.num_squares // network.parities)}
    larger = NTuple((2, *network.board), **{name: value for name, value in extended.items() if name != "name"})
    stones = np.arange(1, network.num_squares + 1)
    words = ((1 << np.minimum(stones, 32)) - 1, (1 << np.maximum(stones - 32, 0)) - 1)
    seen = Seen(*words, 0 * stones, 0 * stones)
    with torch.no_grad():
        larger.weight[larger._row_of(seen)] = network.weight[network._row_of(seen)]
    return larger.eval(), extended


def _board_of(observation_shape: tuple[int, ...]) -> tuple[int, int]:
    """The rows and columns of a board with two planes of stones."""
    if len(observation_shape) != 3 or observation_shape[0] < 2:
        raise SettingError(
            "architecture=ntuple needs a board whose first two planes are the stones of each player; this game's "
            f"observation is {observation_shape}; set architecture=mlp"
        )
    _, rows, columns = observation_shape
    if rows * columns > MAX_SQUARES:
        raise SettingError(
            f"architecture=ntuple needs a board of at most {MAX_SQUARES} squares; this one has {rows * columns}"
        )
    return rows, columns


def _planes_of(count: int, marks: int | None, upright: int | None, sets: Sequence[int]) -> Planes:
    """The planes that options name, of `count` planes of observations."""
    given = {"marks": marks, "upright": upright} | {f"sets.{place}": plane for place, plane in enumerate(sets)}
    for option, plane in given.items():
        is_plane = plane is None or (type(plane) is int and 2 <= plane < count)
        require(option, plane, is_plane, f"the number of a plane of this game's observation, from 2 to {count - 1}")
    none = Planes()
    return Planes(
        none.marks if marks is None else marks,
        none.upright if upright is None else upright,
        sum(1 << plane for plane in set(sets)),
    )


def _mean_nonzero(entries: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[phases]: the mean of the entries (float64[sets, phases, E]) that are not 0; 0 where there are none."""
    mean: NDArray[np.float64] = entries.sum(axis=(0, 2)) / np.maximum(1, (entries != 0).sum(axis=(0, 2)))
    return mean
