"""Values are made once, also by several threads, and bounded in number."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from selfplay.compute.made_once import MadeOnce

THREADS = 8


def test_one_of_several_threads_makes_a_value_for_which_the_others_wait() -> None:
    values, made, gate = MadeOnce[object](2), list[object](), threading.Event()

    def make() -> object:
        made.append(object())
        assert gate.wait(60)
        return made[-1]

    with ThreadPoolExecutor(THREADS) as threads:
        found = [threads.submit(values.get, "key", make) for _ in range(THREADS)]
        assert "key" not in values
        gate.set()
        assert {one.result() for one in found} == {made[0]}
    assert len(made) == 1
    assert "key" in values


def test_a_value_that_could_not_be_made_is_made_by_the_next_call() -> None:
    values = MadeOnce[int](2)
    with pytest.raises(ZeroDivisionError):
        values.get("key", lambda: 1 // 0)
    assert values.get("key", lambda: 1) == 1


def test_the_value_that_was_used_least_recently_is_dropped() -> None:
    values = MadeOnce[str](2)
    for key in ("a", "b", "a", "c"):
        values.get(key, lambda key=key: key)  # type: ignore[misc]
    assert [key in values for key in "abc"] == [True, False, True]
