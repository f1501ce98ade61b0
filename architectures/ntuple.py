"""Sums of table entries over patterns of squares: an n-tuple network."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from architectures.checks import require_whole_number
from selfplay.errors import SettingError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from selfplay.games.patterns import Patterns
    from selfplay.search.pattern_evaluation import PatternNumbers


class NTuple(nn.Module):
    """The hyperbolic tangent of the sum of one table entry for each image of each pattern.

    There is a table for each pattern and phase of the match. The weights begin at 0.

    Args:
        patterns: drawn as for `selfplay.games.patterns.read_pattern`; None: every window of 3x3 squares.
        symmetries: the images of patterns on the board that share their weights: "none", "mirror" or "square".
        phases: bands of equal width by the number of stones, each with weights of its own.

    Entries are looked up on the CPU; observations elsewhere are copied there, and the entries back.

    Raises SettingError if observations are no boards with two planes of stones, or a pattern does not fit the board.
    """

    def __init__(
        self,
        observation_shape: tuple[int, ...],
        patterns: Sequence[str] | None = None,
        symmetries: str = "none",
        phases: int = 1,
    ) -> None:
        # A program that builds another network should not wait for the compiler.
        from selfplay.games.patterns import make_patterns, read_pattern, windows

        super().__init__()
        if len(observation_shape) != 3 or observation_shape[0] != 2 or observation_shape[1] * observation_shape[2] > 64:
            raise SettingError(f"architecture=ntuple needs a board; this game's observation is {observation_shape}")
        if patterns is not None and (isinstance(patterns, str) or not patterns):
            raise SettingError('architecture.patterns: give one or more drawings, such as "xxx/xxx/xxx"')
        require_whole_number("phases", phases)
        _, rows, columns = observation_shape
        self.board, self.num_squares = (rows, columns), rows * columns
        drawings = windows(rows, columns) if patterns is None else patterns
        squares = tuple(read_pattern(drawing, rows, columns) for drawing in drawings)
        self.patterns: Patterns = make_patterns(squares, symmetries, rows, columns)
        self.weight = nn.Parameter(torch.zeros(phases, self.patterns.num_weights))

    def forward(self, observations: Tensor) -> Tensor:
        numbers = self.weight_numbers(observations).to(self.weight.device)
        sums = nn.functional.embedding_bag(numbers, self.weight.reshape(-1, 1), mode="sum")
        return torch.tanh(sums)

    def weight_numbers(self, observations: Tensor) -> Tensor:
        """int64[N, I]: which of all phases' weights, counted through, each image of each position has."""
        from selfplay.games.feature_kernels import board_words
        from selfplay.games.patterns import phase_of, write_all_entries

        just_moved, to_move = board_words(observations.detach().cpu())
        entries = torch.empty(len(observations), len(self.patterns.offsets), dtype=torch.int32)
        contributions, offsets = self.patterns.contributions, self.patterns.offsets
        write_all_entries(just_moved, to_move, contributions, offsets, entries.numpy())
        phase = torch.from_numpy(phase_of(just_moved, to_move, len(self.weight), self.num_squares))
        weight_of_entry = torch.from_numpy(self.patterns.weight_of_entry)
        return weight_of_entry[entries.long()].long() + phase[:, None] * self.patterns.num_weights

    def tables(self) -> "PatternNumbers":
        """The weights as they are now, as compiled searches take them."""
        from selfplay.search.pattern_evaluation import pattern_numbers

        return pattern_numbers(self.patterns, self.weight.detach().cpu().numpy(), self.num_squares)

    def descend(
        self,
        words: "NDArray[np.int64]",
        targets: "NDArray[np.float32]",
        row_weights: "NDArray[np.float32]",
        rate: float,
        loss: float = 0.0,
    ) -> float:
        """Change the weights row after row: see `selfplay.search.pattern_evaluation.descend`."""
        from selfplay.search.pattern_evaluation import descend

        tables = self.patterns.contributions, self.patterns.offsets, self.patterns.weight_of_entry
        weights = self.weight.detach().numpy()
        return descend(words, targets, row_weights, tables, weights, self.num_squares, rate, loss)
