"""How the C library keeps freed memory."""

import ctypes
import platform

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""Parameters of mallopt(3) of the GNU C library."""
KEPT_BYTES = 64 << 20
"""The free memory at the end of the heap that is not returned to the system."""
MAPPED_BYTES = 32 << 20
"""Allocations from this size are mapped and unmapped one by one; 32 MiB is the largest size that mallopt accepts."""


def keep_freed_memory() -> None:
    """Let freed memory be used again instead of being returned to the system; does nothing without the GNU C library.

    Each step of training allocates and frees the same few megabytes. Where they lie at the end of the heap, the C
    library by default returns them to the system, and each step pays for new pages (see docs/design_notes.md).
    """
    if platform.libc_ver()[0] != "glibc":
        return
    library = ctypes.CDLL(None)
    library.mallopt(M_TRIM_THRESHOLD, KEPT_BYTES)
    library.mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES)
