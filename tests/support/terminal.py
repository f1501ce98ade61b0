"""Scripts in a terminal."""

import ctypes
import os
import pty
import sys
import termios
from pathlib import Path

import pexpect
import ptyprocess

from tests.support.runs import become


class Terminal(pexpect.spawn):
    """A script in a terminal of its own, in a fork of this process, which has imported torch already."""

    def __init__(self, script: Path, *arguments: str, env: dict[str, str], timeout: float) -> None:
        command = [str(script), *arguments]
        super().__init__(sys.executable, command, env=env, timeout=timeout, encoding="utf-8", dimensions=(50, 160))

    def _spawnpty(self, args: list[bytes], *, env: dict[str, str], dimensions: tuple[int, int], **options: object):
        child, descriptor = pty.fork()
        if child == 0:
            os.environ.clear()
            os.environ.update(env)
            termios.tcsetwinsize(0, dimensions)
            # pytest has imported readline, which would edit the lines that the script reads.
            ctypes.c_void_p.in_dll(ctypes.pythonapi, "PyOS_ReadlineFunctionPointer").value = None
            become(Path(os.fsdecode(args[1])), map(os.fsdecode, args[2:]))
        return ptyprocess.PtyProcess(child, descriptor)
