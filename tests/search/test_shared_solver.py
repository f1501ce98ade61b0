"""A solver for many requests: turns, values known so far, errors."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from typing import Any

import pytest
import torch

from selfplay.errors import TimeLimitError
from selfplay.games import State, make_game
from selfplay.search import shared_solver
from selfplay.search.deadline import Deadline, StoppedError
from selfplay.search.shared_solver import NotSolvedYetError, SharedSolver

GAME = make_game("connect_four")
START, QUICK, OTHER = (GAME.state_after(columns) for columns in ([], ["4"], ["1"]))
PATIENCE = 30


class StubSolver:
    """Values action a at a. Hard positions take until the event is set, except for their first action.

    Attributes:
        turns: how often it has worked on each hard position.
    """

    def __init__(self, hard: Collection[State], is_set: Callable[[], bool], turns: Counter[int]) -> None:
        self.hard, self.is_set, self.turns = hard, is_set, turns

    def action_values(
        self,
        state: State,
        *,
        time_limit: float,
        on_value: Callable[[int, int], None],
        known: Collection[int],
    ) -> None:
        end = time.monotonic() + time_limit
        for number, hard in enumerate(self.hard):
            if torch.equal(hard.position, state.position):
                self.turns[number] += 1
                if 0 not in known:
                    on_value(0, 0)
                while not self.is_set():
                    if time.monotonic() > end:
                        raise TimeLimitError("too long")
                    time.sleep(0.001)
        for action in set(range(7)) - set(known):
            on_value(action, action)


@pytest.fixture
def solved() -> Iterator[threading.Event]:
    made = threading.Event()
    yield made
    made.set()


@pytest.fixture(autouse=True)
def short_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_solver, "QUICK_SECONDS", 0.005)
    monkeypatch.setattr(shared_solver, "TURN_SECONDS", 0.01)


def shared(hard: Collection[State], solved: threading.Event, **options: Any) -> tuple[SharedSolver, Counter[int]]:
    turns: Counter[int] = Counter()
    return SharedSolver(GAME, lambda bits: StubSolver(hard, solved.is_set, turns), **options), turns  # type: ignore[arg-type, return-value]


def until(is_so: Callable[[], bool]) -> None:
    latest = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < latest
        time.sleep(0.001)


def test_a_quick_position_does_not_wait_for_hard_ones_which_take_turns(solved: threading.Event) -> None:
    solver, turns = shared([START, OTHER], solved)
    hard = [solver.ask(START), solver.ask(OTHER)]
    assert solver.action_values(QUICK, time_limit=PATIENCE) == {action: action for action in range(7)}
    until(lambda: min(turns[0], turns[1]) >= 4)
    at_one_moment = dict(turns)
    assert abs(at_one_moment[0] - at_one_moment[1]) <= 2
    assert [one.finished.done() for one in hard] == [False, False]
    # What is known so far is kept, and found again by whoever asks.
    assert hard[0].values == {0: 0}
    assert solver.ask(START) is hard[0]
    with pytest.raises(NotSolvedYetError, match="still being solved"):
        solver.action_values(START, time_limit=0.01)
    with Deadline(0.01).applied(), pytest.raises(NotSolvedYetError, match="still being solved"):
        solver.action_values(START)
    left = Deadline()
    threading.Timer(0.05, left.cancel).start()
    with left.applied(), pytest.raises(StoppedError):
        solver.action_values(START)
    solved.set()
    assert solver.action_values(START) == {action: action for action in range(7)}


def test_an_error_of_the_solver_reaches_all_who_wait(solved: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(StubSolver, "action_values", broken)
    solver, _ = shared([], solved)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="broken"):
            solver.action_values(START)
