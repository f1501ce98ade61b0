"""Ctrl-C and closed pipes: one line, no traceback, no partial files."""

import signal
import subprocess
import sys

import pytest

from selfplay.cli.entry import INTERRUPTED, INTERRUPTED_MESSAGE, RESUMED, TERMINATED, TERMINATED_MESSAGE
from tests.support.rejections import assert_refused
from tests.support.runs import COMMAND, GENERATE, files_of, interrupted_when_there_is, interruptible, run_forked

DROPPED = """
import os, signal, time
from selfplay.cli.entry import handle_signals
handle_signals()

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
    assert (process.returncode, output, error) == (INTERRUPTED, "", f"error: {INTERRUPTED_MESSAGE}{RESUMED}\n")


FINISHED = """
import os, signal
from selfplay.cli.entry import reporting_errors

with reporting_errors():
    print("done")
os.kill(os.getpid(), signal.SIGINT)
os.kill(os.getpid(), signal.SIGTERM)
"""


def test_a_signal_after_the_work_is_done_changes_nothing():
    """Python's end would let the signal end the process without a line."""
    with interruptible([sys.executable, "-c", FINISHED]) as process:
        output, error = process.communicate(timeout=120)
    assert (process.returncode, output, error) == (0, "done\n", "")


INTERRUPTED_BY_A_MODULE = """
from pathlib import Path
from selfplay.cli.entry import handle_signals
handle_signals()
from selfplay.files import written_whole

with written_whole(Path("dataset.csv")) as beside:
    beside.write_text("half of it")
    import interrupting
"""


def test_an_import_that_is_interrupted_leaves_no_partial_file(tmp_path):
    module = tmp_path / "interrupting.py"
    module.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    with interruptible([sys.executable, "-B", "-c", INTERRUPTED_BY_A_MODULE], cwd=tmp_path) as process:
        output, error = process.communicate(timeout=120)
    assert (process.returncode, output, error) == (INTERRUPTED, "", f"error: {INTERRUPTED_MESSAGE}{RESUMED}\n")
    assert list(tmp_path.iterdir()) == [module]


@pytest.mark.parametrize(
    ("executor", "number", "code", "named"),
    [
        ("process", signal.SIGINT, INTERRUPTED, INTERRUPTED_MESSAGE + RESUMED),
        ("serial", signal.SIGTERM, TERMINATED, TERMINATED_MESSAGE + RESUMED),
    ],
    ids=["Ctrl-C", "SIGTERM"],
)
def test_a_signal_leaves_one_line_no_partial_file_and_no_process(tmp_path, number, code, named, executor):
    arguments = ["--level", "0", "matches=40000000", "dataset.shard_matches=2000", f"executor={executor}"]
    partial = tmp_path / "level_00" / ".dataset.csv.partial"
    result = interrupted_when_there_is(partial, GENERATE, *arguments, f"run_dir={tmp_path}", number=number)
    assert_refused(result, code, named)
    assert files_of(tmp_path) == {}


@pytest.mark.parametrize(
    ("module", "number", "code", "named"),
    [
        ("omegaconf", signal.SIGINT, INTERRUPTED, INTERRUPTED_MESSAGE + RESUMED),
        ("tqdm", signal.SIGTERM, TERMINATED, TERMINATED_MESSAGE + RESUMED),
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


PROGRAMS = {
    "--version": ([], 0),
    "unheard-of": ([], 2),
    "generate": (["--level", "0", "matches=50", "run_dir={}"], 0),
    "play": (["opponent=random"], 0),
    "gtp": (["player=random"], 0),
    "compare": (["oops=1"], 2),
}


@pytest.mark.parametrize("closed", [0, 1, 2])
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_closed_standard_stream_changes_no_exit_code(tmp_path, monkeypatch, program, closed):
    monkeypatch.chdir(tmp_path)
    arguments, code = PROGRAMS[program]
    result = run_forked(COMMAND, program, *(one.format(tmp_path) for one in arguments), closed=closed)
    assert result.returncode == code, result.stderr
    assert "Traceback" not in result.stderr
    assert (closed == 2) or (code == 0) == (result.stderr == "")
