"""The memory of tables."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from selfplay.compute.table_memory import SMALL, zeros_of_table

STATUS = Path("/proc/self/statm")


@pytest.mark.parametrize("size", [0, 10, SMALL])
def test_a_table_is_an_array_of_zeros(size: int) -> None:
    kind = np.dtype([("key", np.int64), ("value", np.float32)])
    table = zeros_of_table(size, kind)
    assert (table.dtype, table.shape, table.flags.writeable) == (kind, (size,), True)
    assert not table["key"].any()
    table["value"] = 1
    assert table["value"].sum() == size


def test_a_table_without_memory_is_a_memory_error() -> None:
    with pytest.raises(MemoryError, match="no memory for a table of 8,000,000,000,000,000,000 bytes"):
        zeros_of_table(10**18, np.int64)


@pytest.mark.skipif(not STATUS.exists(), reason="the memory in use is read from /proc")
def test_memory_goes_back_to_the_system_whichever_thread_asked_for_it() -> None:
    def used() -> int:
        return int(STATUS.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def make() -> int:
        tables = [zeros_of_table(size, np.int64) for size in (1 << 20, 3 << 20, 2 << 20)]
        for table in tables:
            table[:] = 1
        return sum(table.nbytes for table in tables)

    make()
    before = used()
    with ThreadPoolExecutor(4) as threads:
        needed = sum(threads.map(lambda _: make(), range(16)))
        assert used() - before < needed / 20


FORKED = """
import os
from selfplay.compute.table_memory import SMALL, zeros_of_table
table = zeros_of_table(SMALL, "int8")
child = os.fork()
table[0] += 1
if child:
    os.waitpid(child, 0)
    print(table[0])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_has_tables_of_its_own() -> None:
    ended = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, check=True)
    assert ended.stdout == "1\n"
