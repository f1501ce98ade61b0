"""Perfect play by an exact solver, in games too large to enumerate."""

from copy import copy
from typing import Generic, Literal, Self, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.games.kernels import distinct_positions
from selfplay.games.state import State
from selfplay.players.best_value import BestValuePlayer
from selfplay.search.exact_solver import ExactSolver
from selfplay.search.shared_solver import SharedSolver, Solving

TABLE_BITS = 22
"""The size of the table of a player that solves whole matches."""


Solver = TypeVar("Solver", ExactSolver, SharedSolver)

ValueKind = Literal["results", "scores", "points"]
"""What the values of perfect play are: the results 1, 0 and -1; scores, which are higher for sooner wins and later
losses; or the points by which the match is won."""


class SolverPlayer(BestValuePlayer, Generic[Solver]):
    """Takes an action with the best exact value: in Connect Four the soonest win or the latest loss.

    It never takes an action without knowing the values of all. Use it in one thread at a time, unless its solver is a
    SharedSolver.

    Args:
        ties: which of several best actions is taken: "random", each equally likely, or "lowest".
        time_limit: seconds for the values of the actions of a position; None for no limit.

    Raises:
        SettingError: `ties` is neither of these.
    """

    name = "perfect"

    def __init__(self, solver: Solver, ties: str = "random", time_limit: float | None = None) -> None:
        super().__init__(ties)
        self.solver: Solver = solver
        self.game, self.time_limit = solver.game, time_limit

    def _values(self, state: State) -> NDArray[np.float64]:
        """Raises TimeLimitError."""
        first_rows, inverse = distinct_positions(state)
        distinct = state.select(first_rows)
        values: NDArray[np.float64] = np.full((distinct.batch_size, self.game.num_distinct_actions), np.nan)
        for row in range(distinct.batch_size):
            for action, value in self.solver.action_values(distinct, row, time_limit=self.time_limit).items():
                values[row, action] = value
        every: NDArray[np.float64] = values[inverse.numpy()]
        return every

    def solves(self, state: State) -> Tensor:
        """bool[B]: always true."""
        return torch.ones(state.batch_size, dtype=torch.bool)

    def value_text(self, value: float, state: State, row: int = 0) -> str:
        """The value of an action in match `row` of `state`, in words."""
        return self.solver.value_text(round(value), state, row)

    def with_time_limit(self, seconds: float | None) -> Self:
        """The same player, which raises TimeLimitError if it does not know the values after `seconds`."""
        limited = copy(self)
        limited.time_limit = seconds
        return limited


class SharedSolverPlayer(SolverPlayer[SharedSolver]):
    """Perfect play for several threads, with the values known so far while a position is being solved."""

    def __init__(self, solver: SharedSolver, ties: str = "random") -> None:
        super().__init__(solver, ties)
        # Most requests are for the first position, which takes longer than the following ones.
        solver.ask(solver.game.init())
        self.value_kind: ValueKind = "points" if solver.counts_points else "scores"

    def ask(self, state: State) -> Solving:
        """The values of the actions of a position (B = 1) that are known; the others are computed in the background."""
        return self.solver.ask(state)
