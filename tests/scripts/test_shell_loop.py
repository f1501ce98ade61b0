"""The shell loop: its files and bytes, also after being killed, and its error messages."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from selfplay.runs.run_folder import RunFolder
from tests.support.rejections import assert_refused
from tests.support.runs import LEARN, PROJECT, TINY, files_of, run_forked

LOOP = [*(one for one in TINY if one != "levels=3"), "levels=2", "comparison.matches=50"]
RUN_LOOP, LEARN_TICTACTOE = PROJECT / "shell" / "run_loop.py", PROJECT / "learn_tictactoe.sh"


def this_environment():
    """The variables with which a shell script uses the Python environment of these tests."""
    return os.environ | {
        "VIRTUAL_ENV": sys.prefix + os.sep,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }


def shell_script(*arguments, cwd, **options):
    command = ["bash", str(LEARN_TICTACTOE), *map(str, arguments)]
    return subprocess.Popen(
        command, cwd=cwd, env=this_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def result_of(process):
    """The process when it has ended."""
    output, error = process.communicate(timeout=120)
    return subprocess.CompletedProcess(process.args, process.returncode, output, error)


@pytest.fixture(scope="module")
def shell_run(tmp_path_factory):
    """The folder of a shell run in another folder with a relative run_dir."""
    cwd = tmp_path_factory.mktemp("elsewhere")
    result = result_of(shell_script(*LOOP, "run_dir=runs/tiny", cwd=cwd))
    assert result.returncode == 0, result.stderr
    assert "\nLevel 2 can" in result.stdout
    assert result.stdout.endswith("play/web.py run_dir=runs/tiny\n")
    return cwd / "runs" / "tiny"


@pytest.mark.slow
def test_a_relative_run_dir_is_relative_to_the_working_folder(shell_run):
    run_dir = shell_run
    assert [path.name for path in run_dir.parent.parent.iterdir()] == ["runs"]
    names = [f"level_{level:02d}" for level in range(3)]
    assert sorted(path.name for path in run_dir.iterdir() if path.is_dir()) == ["comparison", "figures", *names]


@pytest.mark.slow
def test_learn_py_writes_the_same_bytes_as_the_shell_loop(shell_run, tmp_path):
    result = run_forked(LEARN, *LOOP, f"run_dir={tmp_path / 'run'}")
    assert result.returncode == 0, result.stderr
    assert files_of(tmp_path / "run") == files_of(shell_run)


@pytest.mark.slow
def test_a_shell_loop_that_was_killed_several_times_ends_in_the_same_bytes(shell_run, tmp_path):
    run_dir, chance, seen = tmp_path / "run", random.Random(11), set()
    for lines in (1, 4):
        with shell_script(*LOOP, f"run_dir={run_dir}", cwd=tmp_path, start_new_session=True) as process:
            # A line tells that a stage is finished or skipped; the kill comes during the next one.
            for _ in range(lines):
                process.stdout.readline()
            time.sleep(chance.uniform(0, 0.2))
            os.killpg(process.pid, signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL
        seen.add(len(files_of(run_dir)))
    # The kills hit different moments; otherwise they would prove little.
    assert len(seen) == 2
    result = result_of(shell_script(*LOOP, f"run_dir={run_dir}", cwd=tmp_path))
    assert result.returncode == 0, result.stderr
    assert files_of(run_dir) == files_of(shell_run)


def test_the_shell_loop_rejects_a_run_that_another_process_holds(tmp_path):
    with RunFolder(tmp_path).lock():
        result = run_forked(RUN_LOOP, LEARN_TICTACTOE, *LOOP, f"run_dir={tmp_path}")
    assert_refused(result, 1, "another process is using", tmp_path)
    assert result.stdout == ""
    assert files_of(tmp_path) == {}


@pytest.mark.parametrize(
    ("argument", "code", "named"),
    [
        ("foo=1", 2, "unknown setting 'foo'"),
        ("--help", 2, "--help: the shell loop takes only settings; use train/learn.py --help"),
        ("--level=3", 2, "level=3: only for selfplay generate, train, compare"),
    ],
)
def test_the_shell_loop_reports_errors_in_one_line(argument, code, named):
    result = run_forked(RUN_LOOP, LEARN_TICTACTOE, argument)
    assert_refused(result, code, named)
    assert result.stdout == ""


def written_loop(folder, *lines):
    """A loop with these lines."""
    script = folder / "loop.sh"
    script.write_text("\n".join(["set -euo pipefail", f"source {PROJECT}/shell/stages.sh", *lines]))
    return script


GENERATE_0 = 'stage preprocessing/generate_positions_expectations.py --level 0 "$@"'


def test_commands_between_two_stages_run_between_them_and_do_not_keep_the_loop_from_ending(tmp_path):
    train = 'stage train/train_agent.py --level 1 "$@"'
    background = "sleep 600 >/dev/null 2>&1 & echo $!"
    run_dir = tmp_path / "run"
    script = written_loop(tmp_path, GENERATE_0, "echo train/none.py", f"ls {run_dir}/level_00", background, train)
    result = run_forked(RUN_LOOP, script, *TINY, f"run_dir={run_dir}")
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    printed = lines.index("train/none.py")
    assert lines[printed + 1 : printed + 3] == ["dataset.csv", "manifest.json"]
    os.kill(int(lines[printed + 3]), signal.SIGKILL)
    assert lines[printed - 2].startswith("level 0: ")
    assert lines[-1].startswith("level 1: ")


@pytest.mark.usefixtures("default_sigint")
@pytest.mark.parametrize(
    ("command", "code", "named"),
    [
        ("(exit 7)", 7, ""),
        ('stage train/train_agent.py --level 3 "$@" || echo continued', 1, "error: "),
        ("kill -INT $PPID", 130, "error: interrupted; run the same command again to resume"),
        ("kill -TERM $PPID", 143, "error: terminated by SIGTERM; run the same command again to resume"),
    ],
)
def test_a_loop_ends_at_the_first_command_that_fails(tmp_path, command, code, named):
    script = written_loop(tmp_path, command, "sleep 10", GENERATE_0, "echo continued")
    result = run_forked(RUN_LOOP, script, *TINY, f"run_dir={tmp_path / 'run'}")
    assert result.returncode == code
    assert result.stderr.startswith(named)
    assert result.stderr.count("\n") == bool(named)
    assert result.stdout == ""
    assert not (tmp_path / "run" / "level_00").exists()
