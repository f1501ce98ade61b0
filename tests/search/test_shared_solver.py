"""A solver for many requests: turns, values known so far, errors."""

import subprocess
import sys
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
from selfplay.search.exact_solver import bitboards_of
from selfplay.search.shared_solver import NotSolvedYetError, SharedSolver, Solving

GAME = make_game("connect_four")
START, QUICK, OTHER = (GAME.state_after(columns) for columns in ([], ["4"], ["1"]))
PATIENCE = 30


class StubSolver:
    """Values action a at a. Hard positions take until the event is set, except for their first action.

    Attributes:
        turns: how often it has worked on each hard position.
    """

    counts_points = False
    game = GAME

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
            if torch.equal(hard.own, state.own) and torch.equal(hard.opp, state.opp):
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
    return SharedSolver(lambda bits: StubSolver(hard, solved.is_set, turns), **options), turns  # type: ignore[arg-type, return-value]


def until(is_so: Callable[[], bool]) -> None:
    latest = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < latest
        time.sleep(0.001)


def test_a_quick_position_does_not_wait_for_hard_ones_which_take_turns(solved: threading.Event) -> None:
    solver, turns = shared([START, OTHER], solved)
    hard = [solver.ask(START), solver.ask(OTHER)]
    assert solver.action_values(QUICK, time_limit=PATIENCE) == {action: action for action in range(7)}
    until(lambda: min(turns.values()) >= 4)
    assert abs(turns[0] - turns[1]) <= 2
    assert [one.finished.done() for one in hard] == [False, False]
    # What is known so far is kept, and found again by whoever asks.
    assert hard[0].values == {0: 0}
    assert solver.ask(START) is hard[0]
    with pytest.raises(NotSolvedYetError, match="still being solved"):
        solver.action_values(START, time_limit=0.01)
    solved.set()
    assert solver.action_values(START) == {action: action for action in range(7)}


def test_a_position_that_nobody_asks_for_is_given_up_until_somebody_does(solved: threading.Event) -> None:
    now = [0.0]
    solver, turns = shared([START], solved, clock=lambda: now[0])
    solving = solver.ask(START)
    until(lambda: turns[0] >= 2)
    now[0] = 100.0
    until(lambda: not solving.is_queued)
    given_up = turns[0]
    assert solver.action_values(QUICK)[3] == 3
    assert turns[0] == given_up
    assert solver.ask(START) is solving
    solved.set()
    solving.finished.result(PATIENCE)


def test_an_error_of_the_solver_reaches_all_who_wait(solved: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(StubSolver, "action_values", broken)
    solver, _ = shared([], solved)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="broken"):
            solver.action_values(START)


def test_the_number_of_positions_that_take_turns_is_limited(
    solved: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_solver, "MAX_UNSOLVED", 1)
    positions = [GAME.state_after([column]) for column in "1234567"]
    solver, _ = shared(positions, solved)
    asked = [solver.ask(position) for position in positions]
    until(lambda: sum(one.is_queued for one in asked) <= 2)
    assert isinstance(asked[0], Solving)
    solved.set()
    # Asking again starts the others.
    assert all(solver.action_values(position)[6] == 6 for position in positions)


def test_positions_that_may_be_asked_for_next_are_solved_ahead(solved: threading.Event) -> None:
    solver, turns = shared([QUICK], solved)
    solved.set()
    solver.action_values(START)
    # The hard position after the move 4, and that after the moves 4 and 1.
    until(lambda: turns[0] == 1)
    until(lambda: len(solver._kept) == 1 + 7 + 49 and all(one.finished.done() for one in solver._kept.values()))
    assert solver.ask(GAME.state_after(["4", "1"])).finished.done()
    until(lambda: len(solver._kept) > 1 + 7 + 49)


def test_nothing_is_solved_ahead_of_a_position_that_was_not_asked_for_last(solved: threading.Event) -> None:
    solver, turns = shared([START], solved)
    hard = solver.ask(START)
    until(lambda: turns[0] >= 1)
    solver.ask(GAME.state_after("1234"))
    solved.set()
    hard.finished.result(PATIENCE)
    until(lambda: len(solver._kept) == 2 + 7 + 49)
    assert bitboards_of(QUICK, 0) not in solver._kept


EXITS = """
import os, sys, time
import torch
from selfplay.games import make_game
from selfplay.search.threads import PROGRAM_ENDS
from selfplay.search.shared_solver import SharedSolver

class BusySolver:
    counts_points, game = False, make_game("connect_four")

    def action_values(self, state, **_):
        while not PROGRAM_ENDS.is_set():
            torch.arange(7).nonzero()

torch.set_num_threads(1)
for _ in range(3):
    if os.fork() == 0:
        SharedSolver(lambda bits: BusySolver()).ask(BusySolver.game.init())
        time.sleep(0.1)
        sys.exit()
    print(os.wait()[1], flush=True)
"""


@pytest.mark.slow
def test_a_program_ends_well_while_positions_are_being_solved() -> None:
    done = subprocess.run([sys.executable, "-c", EXITS], capture_output=True, check=False, text=True, timeout=PATIENCE)
    assert (done.stdout, done.stderr) == ("0\n" * 3, "")
