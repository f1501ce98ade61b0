"""Looking at trees while they grow: a function of the context is given the trees of each search when it begins.

Another thread may read them then. What it reads can be some simulations apart.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from selfplay.search.mcts.tree import Trees

Look = Callable[[Trees], None]

_look: ContextVar[Look | None] = ContextVar("look", default=None)


@contextmanager
def watched(look: Look) -> Iterator[None]:
    """Call `look(trees)` for each tree search of the block, before its trees grow."""
    before = _look.set(look)
    try:
        yield
    finally:
        _look.reset(before)


def show(trees: Trees) -> None:
    """Give the trees of a search that begins to the function of the context, if there is one."""
    if (look := _look.get()) is not None:
        look(trees)
