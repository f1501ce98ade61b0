"""The network addresses that this process and its descendants listen on (Linux)."""

import os
from collections.abc import Iterator
from contextlib import suppress
from ipaddress import IPv6Address, ip_address
from pathlib import Path

LISTENING = "0A"


def addresses_listened_on() -> set[str]:
    """The addresses of all listening TCP sockets; an IPv4 address in IPv6 form is given as IPv4."""
    own = {inode for number in _descendants(os.getpid()) for inode in _socket_inodes(number)}
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == LISTENING and words[9] in own:
                found.add(_address(words[1].partition(":")[0]))
    return found


def _descendants(number: int) -> Iterator[int]:
    yield number
    for tasks in Path(f"/proc/{number}/task").glob("*/children"):
        with suppress(OSError):
            for child in tasks.read_text().split():
                yield from _descendants(int(child))


def _socket_inodes(number: int) -> Iterator[str]:
    for descriptor in Path(f"/proc/{number}/fd").glob("*"):
        with suppress(OSError):
            target = str(descriptor.readlink())
            if target.startswith("socket:["):
                yield target.removeprefix("socket:[").removesuffix("]")


def _address(digits: str) -> str:
    """The address in a table of /proc/net: words of 32 bits in the byte order of the machine."""
    words = [bytes.fromhex(digits[start : start + 8])[::-1] for start in range(0, len(digits), 8)]
    address = ip_address(b"".join(words))
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return str(mapped or address)
