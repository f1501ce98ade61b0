"""Ctrl-C and closed pipes: one line, no traceback, no partial files."""

import os
import signal
import subprocess
import sys

import pytest

from selfplay.process_exit import INTERRUPTED, INTERRUPTED_MESSAGE
from tests.support.rejections import assert_refused
from tests.support.runs import (
    GENERATE,
    TINY,
    files_of,
    interrupted_when_there_is,
    interruptible,
)

DROPPED = """
import os, signal, time
import selfplay.process_exit

class Dropping:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)

Dropping()
time.sleep(5)
print("went on")
"""


def test_ctrl_c_ends_the_process_even_where_python_ignores_exceptions():
    with interruptible([sys.executable, "-c", DROPPED]) as process:
        output, error = process.communicate(timeout=120)
    assert (process.returncode, output, error) == (INTERRUPTED, "", f"error: {INTERRUPTED_MESSAGE}\n")


def test_ctrl_c_leaves_no_partial_file_and_no_traceback(tmp_path):
    command = [sys.executable, GENERATE, "--level", "0", "matches=4000000", f"run_dir={tmp_path}"]
    result = interrupted_when_there_is(tmp_path / "level_00" / ".dataset.csv.partial", command)
    assert_refused(result, INTERRUPTED, "interrupted")
    assert files_of(tmp_path) == {}


@pytest.mark.parametrize("module", ["selfplay.process_exit", "omegaconf", "hydra"])
def test_ctrl_c_while_modules_are_imported_gets_one_line(tmp_path, module):
    command = [sys.executable, "-X", "importtime", str(GENERATE), f"run_dir={tmp_path}"]
    with interruptible(command) as process:
        for line in process.stderr:
            if line.rpartition("|")[2].strip() == module:
                process.send_signal(signal.SIGINT)
                break
        rest = [line for line in process.stderr if not line.startswith("import time:")]
        output = process.stdout.read()
    result = subprocess.CompletedProcess(command, process.returncode, output, "".join(rest))
    assert_refused(result, INTERRUPTED, "interrupted")


def test_a_closed_pipe_causes_no_traceback(run_copy):
    read, write = os.pipe()
    os.close(read)
    result = subprocess.run(
        [sys.executable, str(GENERATE), *TINY, f"run_dir={run_copy}", "--level", "0"],
        check=False,
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(write)
    assert "Traceback" not in result.stderr
