"""Sums of table entries over patterns of squares: an n-tuple network."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from selfplay.architectures.checks import require_whole_number
from selfplay.compute.devices import runs_compiled
from selfplay.errors import SettingError

if TYPE_CHECKING:
    from selfplay.games.patterns import Patterns, TrainableTables
    from selfplay.search.pattern_evaluation import PatternTables


class NTuple(nn.Module):
    """The hyperbolic tangent of the sum of one table entry for each image of each pattern.

    There is a table for each pattern and phase of the match. The weights begin at 0.

    Args:
        patterns: drawn as for `selfplay.games.patterns.read_pattern`; None: every window of 3x3 squares.
        symmetries: the images of patterns on the board that share their weights: "none", "mirror" or "square".
        phases: bands of equal width by the number of stones, each with weights of its own.

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
        self.contributions: Tensor
        self.offsets: Tensor
        self.weight_of_entry: Tensor
        for name in ("contributions", "offsets", "weight_of_entry"):
            self.register_buffer(name, torch.from_numpy(getattr(self.patterns, name)), persistent=False)
        self.weight = nn.Parameter(torch.zeros(phases, self.patterns.num_weights))

    def forward(self, observations: Tensor) -> Tensor:
        numbers = self.weight_numbers(observations)
        sums = nn.functional.embedding_bag(numbers, self.weight.reshape(-1, 1), mode="sum")
        return torch.tanh(sums)

    def weight_numbers(self, observations: Tensor) -> Tensor:
        """int64[N, I]: which of all phases' weights, counted through, each image of each position has."""
        if not runs_compiled(observations):
            return self.weight_numbers_with_tensors(observations)
        from selfplay.games.feature_kernels import board_words
        from selfplay.games.patterns import phase_of, write_all_entries

        just_moved, to_move = board_words(observations.detach())
        entries = torch.empty(len(observations), len(self.offsets), dtype=torch.int32)
        write_all_entries(just_moved, to_move, self.patterns.contributions, self.patterns.offsets, entries.numpy())
        phase = torch.from_numpy(phase_of(just_moved, to_move, len(self.weight), self.num_squares))
        return self.weight_of_entry[entries.long()].long() + phase[:, None] * self.patterns.num_weights

    def weight_numbers_with_tensors(self, observations: Tensor) -> Tensor:
        """`weight_numbers` as torch operations, for any device."""
        from selfplay.games.patterns import phase_of

        bits = torch.arange(self.num_squares, device=observations.device)
        just_moved, to_move = ((observations.detach().flatten(2) != 0).long() << bits).sum(dim=2).unbind(dim=1)
        entries = self.offsets.expand(len(observations), -1)
        for byte, added in enumerate(self.contributions):
            one, other = (just_moved >> (8 * byte)) & 0xFF, (to_move >> (8 * byte)) & 0xFF
            entries = entries + added[one] + 2 * added[other]
        phase: Tensor = phase_of(just_moved, to_move, len(self.weight), self.num_squares)
        return self.weight_of_entry[entries.long()].long() + phase[:, None] * self.patterns.num_weights

    def tables(self) -> "PatternTables":
        """The weights as they are now, as compiled searches take them."""
        from selfplay.search.pattern_evaluation import pattern_tables

        return pattern_tables(self.patterns, self.weight.detach().cpu().numpy(), self.num_squares)

    def trainable_tables(self) -> "TrainableTables":
        """The patterns and the weights themselves, for training row by row on the CPU: what is written stays."""
        from selfplay.games.patterns import TrainableTables

        contributions, offsets, weight_of_entry, *_ = self.patterns
        weights = self.weight.detach().numpy()
        return TrainableTables(contributions, offsets, weight_of_entry, weights, self.num_squares)
