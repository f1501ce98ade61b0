"""An exact solver for many requests at once: positions that are solved quickly do not wait for those that take long.

Two threads share the work. The first works on every new position for QUICK_SECONDS at most. Positions that take longer
go to the second, which works on them in turn, TURN_SECONDS on each. The values found are kept, so a later request for
the same position continues the work.

A third thread solves the positions of the next PLIES_AHEAD plies after the position asked for last, while a person
thinks about it.
"""

import atexit
import math
from collections import OrderedDict
from collections.abc import Callable, Collection
from concurrent.futures import Future
from functools import cached_property, partial
from queue import SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import Generic, NamedTuple, Protocol, TypeVar

import torch

from selfplay.errors import TimeLimitError
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.search.deadline import context_without_deadline, current_deadline
from selfplay.search.threads import PROGRAM_ENDS

Item = TypeVar("Item")

QUICK_SECONDS, QUICK_TABLE_BITS = 0.05, 16
TURN_SECONDS, TURN_TABLE_BITS = 2.0, 22
SECONDS_WANTED = 10.0
"""A position that nobody has asked for in this time is no longer worked on."""
AHEAD_SECONDS = 0.5
"""How long the third thread works on each position."""
PLIES_AHEAD, SECONDS_AHEAD = 2, 15.0
"""How far the third thread looks ahead, and for how long after a position has been asked for."""
WAIT_SECONDS = 1.0
"""How often a thread that waits for values asks for them again."""
MAX_UNSOLVED = 100
MAX_KEPT = 2000


class NotSolvedYetError(TimeLimitError):
    """The position is still being solved; the work continues for some seconds, or until it is asked for again."""


class SolvesActions(Protocol):
    """What the threads need of a solver, such as an `ExactSolver`."""

    def action_values(
        self,
        state: State,
        row: int = 0,
        *,
        time_limit: float | None = None,
        on_value: Callable[[int, int], None] | None = None,
        known: Collection[int] = (),
    ) -> dict[int, int]:
        """See `ExactSolver.action_values`."""

    def value_text(self, value: int, state: State, row: int = 0) -> str:
        """A value in words."""


class Solving:
    """A position whose actions are being valued.

    Attributes:
        values: the values known so far, by action.
        finished: done when all values are known.
    """

    def __init__(self, state: State) -> None:
        self.state = state
        self.values: dict[int, int] = {}
        self.finished: Future[None] = Future()
        # A request that is cancelled must not cancel the work for the others.
        self.finished.set_running_or_notify_cancel()
        self.is_queued = False
        self.asked_at = -math.inf


class SharedSolver:
    """Exact values of actions, for several threads.

    Args:
        game: has an exact solver.
        make_solver: makes a solver with a table of 2**table_bits entries; called in the threads, as it may compile, and
            in the context in which this solver is made (`SEARCH_THREADS`).
        clock: a monotonic clock, in seconds.
    """

    def __init__(
        self, game: Game, make_solver: Callable[[int], SolvesActions], clock: Callable[[], float] = monotonic
    ) -> None:
        self.game, self._clock = game, clock
        self._asked_last: Solving | None = None
        self._lock = Lock()
        self._kept: OrderedDict[tuple[int, ...], Solving] = OrderedDict()
        self._quick = _SolvingThread("solving quickly", self._try, partial(make_solver, QUICK_TABLE_BITS))
        self._turns = _SolvingThread("solving in turn", self._take_turn, partial(make_solver, TURN_TABLE_BITS))
        self._ahead = _SolvingThread("solving ahead", self._solve_ahead, partial(make_solver, TURN_TABLE_BITS))

    def ask(self, state: State, row: int = 0) -> Solving:
        """Start or continue to solve match `row` of `state`, in the background."""
        key = _key(state, row)
        with self._lock:
            is_new = key not in self._kept
            solving = self._keep(key, state, row)
            solving.asked_at = self._clock()
            is_same, self._asked_last = solving is self._asked_last, solving
            if solving.finished.done():
                if not is_same:
                    self._look_ahead(solving)
            elif not solving.is_queued:
                self._queue(solving, self._quick if is_new else self._turns)
        return solving

    def known(self, state: State, row: int = 0) -> dict[int, int]:
        """The values of the actions of match `row` of `state` that are known by now; nothing is asked for."""
        with self._lock:
            solving = self._kept.get(_key(state, row))
        return {} if solving is None else dict(solving.values)

    def action_values(self, state: State, row: int = 0, *, time_limit: float | None = None) -> dict[int, int]:
        """The value of every legal action of match `row` of `state`, to the player to move.

        Args:
            time_limit: seconds to wait for them; None for no limit but that of the deadline of the context.

        Raises:
            NotSolvedYetError: time_limit is too short.
            StoppedError: the deadline is cancelled.
        """
        deadline = current_deadline()
        end = self._clock() + min(deadline.left, math.inf if time_limit is None else time_limit)
        while not (solving := self.ask(state, row)).finished.done():
            deadline.wait(solving.finished, max(0.0, min(WAIT_SECONDS, end - self._clock())))
            deadline.check()
            if self._clock() >= end and not solving.finished.done():
                raise NotSolvedYetError("this position is still being solved; ask again in a few seconds")
        solving.finished.result()
        return dict(solving.values)

    def value_text(self, value: int, state: State, row: int = 0) -> str:
        """As `ExactSolver.value_text`, of a value that this solver has found."""
        return self._quick.solver.value_text(value, state, row)

    # ------------------------------------------------------------------ the three threads

    def _try(self, solving: Solving) -> None:
        self._after_work(solving, self._quick.finishes(solving, QUICK_SECONDS))

    def _take_turn(self, solving: Solving) -> None:
        self._after_work(solving, self._turns.finishes(solving, TURN_SECONDS))

    def _solve_ahead(self, ahead: "_Ahead") -> None:
        asked = ahead.asked
        with self._lock:
            if asked is not self._asked_last or self._clock() > asked.asked_at + SECONDS_AHEAD:
                return
            solving = self._keep(_key(ahead.state, 0), ahead.state)
            is_free = not solving.is_queued and not solving.finished.done()
            solving.is_queued = solving.is_queued or is_free
        if is_free:
            self._after_work(solving, self._ahead.finishes(solving, AHEAD_SECONDS))
        if ahead.plies < PLIES_AHEAD:
            self._add_successors(asked, ahead.state, ahead.plies + 1)

    def _after_work(self, solving: Solving, is_finished: bool) -> None:
        with self._lock:
            solving.is_queued = False
            if is_finished and solving is self._asked_last:
                self._look_ahead(solving)
            if not is_finished and self._clock() < solving.asked_at + SECONDS_WANTED:
                self._queue(solving, self._turns)

    def _look_ahead(self, asked: Solving) -> None:
        if asked.finished.exception() is None:
            self._add_successors(asked, asked.state, 1)

    def _add_successors(self, asked: Solving, state: State, plies: int) -> None:
        for action in self.game.legal_action_mask(state)[0].nonzero()[:, 0]:
            after = self.game.step(state, action[None])
            if not bool(after.terminated[0]):
                self._ahead.add(_Ahead(asked, after, plies))

    def _queue(self, solving: Solving, worker: "_SolvingThread[Solving]") -> None:
        if worker is self._quick or worker.waiting < MAX_UNSOLVED:
            solving.is_queued = True
            worker.add(solving)

    def _keep(self, key: tuple[int, ...], state: State, row: int = 0) -> Solving:
        """The known values of match `row` of `state`, which becomes the last one to be forgotten."""
        solving = self._kept.setdefault(key, Solving(state.select(torch.tensor([row]))))
        self._kept.move_to_end(key)
        if len(self._kept) > MAX_KEPT:
            self._kept.popitem(last=False)
        return solving


def _key(state: State, row: int) -> tuple[int, ...]:
    return tuple(state.position[row].tolist())


class _Ahead(NamedTuple):
    """A position that may be asked for next."""

    asked: Solving
    """The position asked for last, from which this one is reached."""
    state: State
    plies: int


class _SolvingThread(Generic[Item]):
    """A thread with a solver that works on positions in the order in which they are added, until the program ends."""

    def __init__(self, name: str, work: Callable[[Item], None], make_solver: Callable[[], SolvesActions]) -> None:
        self._name, self._work, self._make_solver, self._context = name, work, make_solver, context_without_deadline()
        self._positions: SimpleQueue[Item | None] = SimpleQueue()
        self._thread: Thread | None = None

    @cached_property
    def solver(self) -> SolvesActions:
        """Made with the first value."""
        return self._context.run(self._make_solver)

    @property
    def waiting(self) -> int:
        return self._positions.qsize()

    def add(self, position: Item) -> None:
        self._positions.put(position)
        # A fork of the process does not have the thread.
        if self._thread is None or not self._thread.is_alive():
            # A daemon thread, because Python would wait for another kind before it calls `_end`.
            self._thread = Thread(target=self._run, daemon=True, name=self._name)
            self._thread.start()
            atexit.register(self._end, self._thread)

    def _run(self) -> None:
        while (position := self._positions.get()) is not None and not PROGRAM_ENDS.is_set():
            self._work(position)

    def finishes(self, solving: Solving, seconds: float) -> bool:
        """Find further values within the time; whether all are known now, or cannot be found because of an error."""
        try:
            found, known = solving.values.__setitem__, frozenset(solving.values)
            self.solver.action_values(solving.state, time_limit=seconds, on_value=found, known=known)
        except TimeLimitError:
            return False
        except Exception as error:
            solving.finished.set_exception(error)
        else:
            solving.finished.set_result(None)
        return True

    def _end(self, thread: Thread) -> None:
        """End the thread: Python would stop it inside of a function of torch, which aborts the process."""
        PROGRAM_ENDS.set()
        self._positions.put(None)
        thread.join()
