"""Records which positions a search visits, by running the search itself uncompiled on a stack that takes notes."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from selfplay.search.stack_and_table import FRAME, Stack, make_stack


@dataclass(eq=False)
class Visit:
    """One visit of a position by a search; NegaScout may visit a position twice.

    Values are to the player to move in the position.
    """

    moves: tuple[int, ...]
    """The moves from the searched position to this one, as words; 0 is a pass."""
    alpha: float
    beta: float
    """The window of values that matter."""
    is_scouted: bool
    """Whether the window is a null window, which only tests whether the move is better than the best one so far."""
    value: float = np.nan
    following: tuple[int, ...] = ()
    """The moves here in the order in which they are tried; () where the value is known without trying any."""
    num_tried: int = 0
    """How many of them were tried before the rest was cut off."""
    best_move: int = 0
    """The best one."""


@dataclass
class Trace:
    """The visits of one search, in order."""

    depth: int
    visits: list[Visit] = field(default_factory=list)

    def stack(self) -> Stack:
        """A stack for a search to `depth` whose visits are recorded here. Call `finish` after the search."""
        plain = make_stack(self.depth)
        self._moves = plain.moves
        self._frames = [_RecordingFrame(self, ply) for ply in range(self.depth + 1)]
        return plain._replace(frames=self._frames)  # type: ignore[arg-type]

    def finish(self) -> None:
        """Complete the last visit of each ply."""
        for frame in self._frames:
            frame.complete()

    def enter(self, ply: int) -> Visit:
        """Record that the search enters the position that the frame of `ply` now holds."""
        frame, moves, is_scouted = self._frames[ply], (), False
        if ply > 0:
            parent = self._frames[ply - 1]
            assert parent.visit is not None
            moves = (*parent.visit.moves, int(self._moves[ply - 1, parent.num_tried]))
            is_scouted = bool(parent.is_scouted)
        self.visits.append(Visit(moves, float(frame.alpha), float(frame.beta), is_scouted))
        return self.visits[-1]

    def moves_at(self, ply: int, count: int) -> tuple[int, ...]:
        return tuple(self._moves[ply, :count].tolist())


class _RecordingFrame:
    """A `Frame` of the stack that reports each new position: the search then sets the number of moves to 0."""

    def __init__(self, trace: Trace, ply: int) -> None:
        self.__dict__.update(dict.fromkeys(FRAME.names or (), 0), trace=trace, ply=ply, visit=None)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "num_moves" and value == 0:
            self.complete()
            self.__dict__["visit"] = self.trace.enter(self.ply)
        self.__dict__[name] = value

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def complete(self) -> None:
        """Complete the current visit with what its search has found."""
        if self.visit is not None:
            self.visit.value, self.visit.num_tried = float(self.best), int(self.num_tried)
            self.visit.best_move = int(self.best_move)
            self.visit.following = self.trace.moves_at(self.ply, self.num_moves)
