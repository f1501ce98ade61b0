"""Freed memory is used again."""

import platform
import subprocess
import sys

import pytest

REPEATED_ALLOCATIONS = """
import ctypes
import resource
from selfplay.compute.devices import keep_freed_memory

if {kept}:
    keep_freed_memory()
library = ctypes.CDLL(None)
library.malloc.restype = ctypes.c_void_p

def page_faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

def step():
    buffers = [ctypes.c_void_p(library.malloc(1 << 20)) for _ in range(8)]
    for buffer in buffers:
        ctypes.memset(buffer, 1, 1 << 20)
    for buffer in buffers:
        library.free(buffer)

for _ in range(3):
    step()
before = page_faults()
for _ in range(20):
    step()
print(page_faults() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only the GNU C library is configured")
def test_repeated_allocations_use_the_same_pages() -> None:
    def page_faults(kept: bool) -> int:
        program = REPEATED_ALLOCATIONS.format(kept=kept)
        return int(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout)

    pages_of_a_step = 8 * (1 << 20) // 4096
    assert page_faults(kept=True) < pages_of_a_step < page_faults(kept=False)
