"""Perfect play by an exact solver, in games too large to enumerate."""

from threading import Lock

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.games.kernels import distinct_positions
from selfplay.games.state import State
from selfplay.players.best_value import BestValuePlayer
from selfplay.search.exact_solver import ExactSolver

TABLE_BITS = 22
"""The size of the table of a player that solves whole matches."""


class SolverPlayer(BestValuePlayer):
    """Takes an action with the best exact value: in Connect Four the soonest win or the latest loss.

    Args:
        ties: which of several best actions is taken: "random", each equally likely, or "lowest".
        time_limit: seconds for the values of the actions of a position; None for no limit.

    Raises:
        SettingError: `ties` is neither of these.
    """

    name = "perfect"

    def __init__(self, solver: ExactSolver, ties: str = "random", time_limit: float | None = None) -> None:
        super().__init__(ties)
        self.game, self.solver, self.time_limit = solver.game, solver, time_limit
        self._lock = Lock()

    def _values(self, state: State) -> NDArray[np.float64]:
        """May be called from several threads. Raises TimeLimitError."""
        first_rows, inverse = distinct_positions(state)
        distinct = state.select(first_rows)
        values: NDArray[np.float64] = np.full((distinct.batch_size, self.game.num_distinct_actions), np.nan)
        with self._lock:
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
