"""Values by key that are made once, however many threads ask for them at the same time, and bounded in number."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from threading import Lock
from typing import Generic, TypeVar

Value = TypeVar("Value")


class MadeOnce(Generic[Value]):
    """Keeps the most recently used values. Methods may be called from several threads.

    A `functools.lru_cache` makes a value in each of the threads that ask for it before the first has made it.

    Args:
        most: number of values that are kept.
    """

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, Lock()
        self._values: OrderedDict[Hashable, Future[Value]] = OrderedDict()

    def __contains__(self, key: Hashable) -> bool:
        """Whether `get` returns the value without making it or waiting for it."""
        with self._lock:
            return key in self._values and self._values[key].done()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value of a key: the result of `make`, or of that of the thread that makes it, for which others wait.

        Raises what `make` raises; the next call makes the value again.
        """
        with self._lock:
            found = self._values.get(key)
            value = self._values.setdefault(key, Future())
            self._values.move_to_end(key)
            self._drop_oldest()
        if found is None:
            try:
                value.set_result(make())
            except BaseException as error:
                with self._lock:
                    del self._values[key]
                value.set_exception(error)
        return value.result()

    def _drop_oldest(self) -> None:
        if (surplus := len(self._values) - self._most) > 0:
            for key in [key for key, value in self._values.items() if value.done()][:surplus]:
                del self._values[key]
