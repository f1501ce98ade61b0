"""Compiled code on disk: a process can use what several others have cached."""

import multiprocessing
import os

import numpy as np
import pytest
from numba.extending import overload

from selfplay.compute.compilation import FEW_POSITIONS, compiled, compiled_for_many, in_plain_python
from selfplay.compute.compile_cache import CheckedCache, cache_folder
from selfplay.games import make_game
from selfplay.games.kernels import compile_kernels
from selfplay.games.othello_rules import othello_rules
from selfplay.games.single_positions import played_singly

GAMES = ("othello", "othello_6x6")


def steps_agree(folder, names):
    """Whether freshly made rules of these games, with compiled code in `folder`, step as the uncompiled rules do."""
    os.environ["XDG_CACHE_HOME"] = str(folder)
    cache_folder.cache_clear()
    games = [make_game(name) for name in names]
    kernels = [compile_kernels.__wrapped__(othello_rules.__wrapped__(game.width), game.pass_action) for game in games]
    return [follows(game, step) for game, (step, *_) in zip(games, kernels, strict=True)]


def follows(game, step):
    state = game.init(FEW_POSITIONS + 1)
    for _ in range(20):
        action = game.legal_action_mask(state).long().argmax(dim=1)
        position, over = played_singly(game, game.positions(state)[0], int(action[0]))
        state = step(state, action)
        if game.positions(state)[0] != position or bool(state.terminated[0]) != over:
            return False
    return True


@pytest.mark.slow
def test_code_compiled_in_two_processes_runs_in_a_third_one(tmp_path):
    # Processes forked off here number the functions that they compile alike.
    fork = multiprocessing.get_context("fork")
    for names in [(name,) for name in GAMES] + [GAMES]:
        with fork.Pool(1) as pool:
            assert pool.apply(steps_agree, (tmp_path, names)) == [True] * len(names)


def sevenfold(word):
    return word * 7


def begin(folder, barrier):
    global all_here
    os.environ["XDG_CACHE_HOME"], all_here = str(folder), barrier
    cache_folder.cache_clear()


def number_loaded(_):
    """How many versions of a function, which another process needs at the same time, this process has loaded."""
    dispatcher = compiled(sevenfold)
    all_here.wait()
    assert dispatcher(3) == 21
    return sum(dispatcher.stats.cache_hits.values())


def test_a_function_that_two_processes_need_at_once_is_compiled_by_one_of_them(tmp_path):
    fork = multiprocessing.get_context("fork")
    with fork.Pool(2, begin, (tmp_path, fork.Barrier(2))) as pool:
        assert sorted(pool.map(number_loaded, range(2), chunksize=1)) == [0, 1]
    assert [path.suffix for path in tmp_path.glob("selfplay/*/*")] == [".code"]


def compile_at_low_priority(folder, compiling, may_end):
    os.getpriority = lambda which, who: 20  # lower than any other
    begin(folder, None)
    with CheckedCache(compiled(sevenfold).py_func).compiling():
        compiling.set()
        may_end.wait()


def test_a_process_does_not_wait_for_one_of_lower_priority(tmp_path, monkeypatch):
    monkeypatch.setattr("selfplay.compute.compile_lock.LONGEST_WAIT", 1000)
    fork = multiprocessing.get_context("fork")
    compiling, may_end = fork.Event(), fork.Event()
    other = fork.Process(target=compile_at_low_priority, args=(tmp_path, compiling, may_end))
    other.start()
    compiling.wait()
    with fork.Pool(1, begin, (tmp_path, fork.Barrier(1))) as pool:
        assert pool.apply_async(number_loaded, (0,)).get(timeout=60) == 0
    may_end.set()
    other.join()


def is_compiled():
    return False


@overload(is_compiled)
def _is_compiled():
    return lambda: True


def test_many_positions_are_processed_by_compiled_code_and_few_in_plain_python():
    @compiled_for_many
    def mark(positions, marks):
        for i in range(len(positions)):
            marks[i] = is_compiled()

    with in_plain_python():
        marks = np.ones(2 * FEW_POSITIONS, dtype=bool)
        mark(marks, marks)
        assert not marks.any()
    for number, expected in ((FEW_POSITIONS - 1, False), (1, False), (1, True), (0, True)):
        marks = np.zeros(number, dtype=bool)
        mark(marks, marks)
        assert (marks == expected).all()
