"""Ctrl-C and closed pipes: one line, no traceback, no partial files."""

import shutil
import signal
import subprocess
import sys

import pytest

from selfplay.process_exit import INTERRUPTED, INTERRUPTED_MESSAGE, TERMINATED, TERMINATED_MESSAGE
from tests.support.rejections import assert_refused
from tests.support.runs import (
    GENERATE,
    TINY,
    TRAIN,
    files_of,
    interrupted_when_there_is,
    interruptible,
    run_forked,
)

DROPPED = """
import os, signal, time
import selfplay.process_exit

class Dropping:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)

Dropping()
for _ in range(100):
    time.sleep(0.05)
print("went on")
"""


def test_ctrl_c_ends_the_process_even_where_python_ignores_exceptions():
    with interruptible([sys.executable, "-c", DROPPED]) as process:
        output, error = process.communicate(timeout=120)
    assert (process.returncode, output, error) == (INTERRUPTED, "", f"error: {INTERRUPTED_MESSAGE}\n")


SWALLOWING = """
import os, signal, sys, time
from pathlib import Path
import selfplay.process_exit as process_exit
from selfplay.cli.command import run_reporting_errors
from selfplay.runs.written_files import written_whole

process_exit.SECONDS_TO_END = 0.3

def work():
    with written_whole(Path(sys.argv[1]) / "file") as beside:
        beside.touch()
        {body}
    print("went on")

run_reporting_errors(work)
"""

DROPPING_BODIES = {
    "a library drops it": """
        try:
            os.kill(os.getpid(), signal.NUMBER)
            time.sleep(1)
        except BaseException:
            pass
        time.sleep(60)""",
    "an import turns it into another error": """
        Path(sys.argv[1], "turning.py").write_text(
            "import os, signal, time\\ntry:\\n    os.kill(os.getpid(), signal.NUMBER)\\n    time.sleep(1)\\n"
            "except BaseException as error:\\n    raise ImportError('no such library') from error"
        )
        sys.path.insert(0, sys.argv[1])
        import turning""",
}


@pytest.mark.parametrize(
    ("body", "number", "code", "named"),
    [
        ("a library drops it", "SIGTERM", TERMINATED, TERMINATED_MESSAGE),
        ("an import turns it into another error", "SIGINT", INTERRUPTED, INTERRUPTED_MESSAGE),
    ],
)
def test_a_signal_ends_the_program_even_where_a_library_handles_its_exception(tmp_path, body, number, code, named):
    script = SWALLOWING.replace("{body}", DROPPING_BODIES[body].strip().replace("NUMBER", number))
    with interruptible([sys.executable, "-c", script, tmp_path]) as process:
        output, error = process.communicate(timeout=50)
    assert (process.returncode, output, error) == (code, "", f"error: {named}\n")
    assert not list(tmp_path.glob(".file*"))


def test_an_interrupt_that_was_handled_is_not_repeated(tmp_path):
    body = """
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)
        except KeyboardInterrupt:
            process_exit.end_of_interrupt()
        time.sleep(1)"""
    command = [sys.executable, "-c", SWALLOWING.replace("{body}", body.strip()), tmp_path]
    with interruptible(command) as process:
        output, error = process.communicate(timeout=50)
    assert (process.returncode, output, error) == (0, "went on\n", "")


@pytest.mark.parametrize(
    ("executor", "number", "code", "named"),
    [
        ("process", signal.SIGINT, INTERRUPTED, INTERRUPTED_MESSAGE),
        ("serial", signal.SIGTERM, TERMINATED, TERMINATED_MESSAGE),
    ],
    ids=["Ctrl-C", "SIGTERM"],
)
def test_a_signal_leaves_one_line_no_partial_file_and_no_process(tmp_path, number, code, named, executor):
    arguments = ["--level", "0", "matches=40000000", "dataset.shard_matches=2000", f"executor={executor}"]
    partial = tmp_path / "level_00" / ".dataset.csv.partial"
    result = interrupted_when_there_is(partial, GENERATE, *arguments, f"run_dir={tmp_path}", number=number)
    assert_refused(result, code, named)
    assert files_of(tmp_path) == {}


def test_an_error_after_work_in_processes_leaves_one_line(tmp_path):
    (tmp_path / "level_00").mkdir()
    (tmp_path / "level_00" / "dataset.csv").mkdir()
    arguments = ["--level", 0, "matches=200", "dataset.shard_matches=100", "executor=process", "executor.workers=1"]
    result = run_forked(GENERATE, *arguments, f"run_dir={tmp_path}")
    assert_refused(result, 1, f"cannot write {tmp_path}/level_00/dataset.csv")


@pytest.mark.slow
def test_closed_standard_streams_change_no_byte(run_copy):
    expected = files_of(run_copy)
    shutil.rmtree(run_copy / "level_01")
    for script, closed, more in ((TRAIN, "2>&-", []), (GENERATE, "<&- >&- 2>&-", ["executor=process"])):
        command = [sys.executable, str(script), *TINY, f"run_dir={run_copy}", "--level", "1", "executor.workers=1"]
        result = subprocess.run(
            ["bash", "-c", f'"$@" {closed}', "bash", *command, *more], check=False, capture_output=True, text=True
        )
        assert (result.returncode, result.stderr) == (0, "")
    assert files_of(run_copy) == expected


@pytest.mark.parametrize(
    ("module", "number", "code", "named"),
    [
        ("selfplay.process_exit", signal.SIGINT, INTERRUPTED, INTERRUPTED_MESSAGE),
        ("project_environment", signal.SIGTERM, TERMINATED, TERMINATED_MESSAGE),
        ("tqdm", signal.SIGTERM, TERMINATED, TERMINATED_MESSAGE),
        ("omegaconf", signal.SIGINT, INTERRUPTED, INTERRUPTED_MESSAGE),
    ],
)
def test_a_signal_while_modules_are_imported_gets_one_line(tmp_path, module, number, code, named):
    command = [sys.executable, "-X", "importtime", str(GENERATE), f"run_dir={tmp_path}"]
    with interruptible(command) as process:
        for line in process.stderr:
            if line.rpartition("|")[2].strip() == module:
                process.send_signal(number)
                break
        rest = [line for line in process.stderr if not line.startswith("import time:")]
        output = process.stdout.read()
    result = subprocess.CompletedProcess(command, process.returncode, output, "".join(rest))
    assert_refused(result, code, named)
