"""Remembers the evaluations of positions, so that a network is not asked twice.

The searches of consecutive plies of a match share positions, and so do different matches. Evaluations do not depend on
the other positions of a batch, so remembering them changes no result. Each position has one place, given by its hash; a
new one replaces the previous one.
"""

from collections.abc import Callable
from threading import Lock
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.compute.compilation import Words, compiled
from selfplay.compute.random_numbers import fold
from selfplay.games.state import State
from selfplay.search.mcts.evaluator import PositionValues

BYTES = 32 << 20
"""Memory of a cache: 524,288 positions of Connect Four, 65,536 of Othello."""


class Entries(NamedTuple):
    """S places, S a power of two."""

    own: Words
    """int64[S]"""
    opp: Words
    """int64[S]"""
    value: NDArray[np.float32]
    """float32[S]"""
    logits: NDArray[np.float32]
    """float32[S, A]"""
    is_filled: NDArray[np.bool_]
    """bool[S]"""


class EvaluationCache:
    """The evaluations of float32 values and logits in a table of fixed size. May be used by several threads."""

    def __init__(self, num_actions: int, memory: int = BYTES) -> None:
        self._num_actions = num_actions
        self._size = 1 << ((memory // (4 * num_actions + 21)).bit_length() - 1)
        self._lock = Lock()
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            own, opp = np.zeros((2, self._size), dtype=np.int64)
            logits = np.zeros((self._size, self._num_actions), dtype=np.float32)
            value, is_filled = np.zeros(self._size, dtype=np.float32), np.zeros(self._size, dtype=np.bool_)
            self._entries = Entries(own, opp, value, logits, is_filled)

    def evaluate(self, state: State, evaluate: Callable[[State], PositionValues]) -> PositionValues:
        """The evaluations of positions on the CPU; `evaluate`, always the same, is asked for those not remembered."""
        own, opp = state.own.numpy(), state.opp.numpy()
        value = torch.empty(len(own))
        logits, missing = torch.empty(len(own), self._num_actions), torch.empty(len(own), dtype=torch.int64)
        with self._lock:
            count = _look_up(own, opp, self._entries, value.numpy(), logits.numpy(), missing.numpy())
        if count:
            rows = missing[:count]
            value[rows], logits[rows] = (part.cpu().to(torch.float32) for part in evaluate(state.select(rows)))
            with self._lock:
                _store(own, opp, self._entries, value.numpy(), logits.numpy(), rows.numpy())
        return PositionValues(value, logits)


@compiled
def _look_up(
    own: Words,
    opp: Words,
    entries: Entries,
    value: NDArray[np.float32],
    logits: NDArray[np.float32],
    missing: NDArray[np.int64],
) -> int:
    """Write the remembered evaluations, and the rows without one into `missing`; returns the number of these."""
    count = 0
    for row in range(len(own)):
        place = fold(own[row], opp[row]) & (len(entries.own) - 1)
        if entries.is_filled[place] and entries.own[place] == own[row] and entries.opp[place] == opp[row]:
            value[row] = entries.value[place]
            for action in range(logits.shape[1]):
                logits[row, action] = entries.logits[place, action]
        else:
            missing[count] = row
            count += 1
    return count


@compiled
def _store(
    own: Words,
    opp: Words,
    entries: Entries,
    value: NDArray[np.float32],
    logits: NDArray[np.float32],
    rows: NDArray[np.int64],
) -> None:
    """Remember the evaluations in these rows."""
    for row in rows:
        place = fold(own[row], opp[row]) & (len(entries.own) - 1)
        entries.own[place], entries.opp[place], entries.is_filled[place] = own[row], opp[row], True
        entries.value[place] = value[row]
        for action in range(logits.shape[1]):
            entries.logits[place, action] = logits[row, action]
