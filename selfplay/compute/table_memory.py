"""Memory of tables, which is returned to the system as soon as a table is no longer used.

That of `numpy.zeros` stays with the process, in parts for each thread, once tables of megabytes have come and gone: a
server, which makes them for each game that somebody plays, would grow without end.
"""

import mmap
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

SMALL = 1 << 20
"""Tables of fewer bytes are those of `numpy.zeros`."""
PRIVATE = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}
"""Processes that are forked do not share the memory. Windows has no such processes."""
HUGE_PAGES = getattr(mmap, "MADV_HUGEPAGE", None)
"""On Linux, what `numpy.zeros` asks for, too: searches look at places far from each other."""


def zeros_of_table(size: int, kind: DTypeLike) -> NDArray[Any]:
    """An array of `size` zeros of this dtype, as `numpy.zeros` makes it.

    Raises MemoryError if there is not enough memory.
    """
    kind = np.dtype(kind)
    if (needed := size * kind.itemsize) < SMALL:
        return np.zeros(size, dtype=kind)
    try:
        memory = mmap.mmap(-1, needed, **PRIVATE)
    except (OSError, OverflowError, ValueError) as error:
        raise MemoryError(f"no memory for a table of {needed:,} bytes") from error
    if HUGE_PAGES is not None:
        with suppress(OSError):  # a kernel without them
            memory.madvise(HUGE_PAGES)
    return np.frombuffer(memory, kind, size)
