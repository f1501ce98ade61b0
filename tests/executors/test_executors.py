"""Executors: results in order, few tasks at a time, and killed workers."""

import errno
import os
import signal
import sys
from multiprocessing.context import SpawnProcess

import pytest

from selfplay import registry
from selfplay.api.stages import generate_level
from selfplay.errors import InvalidFileError, StageError
from selfplay.executors import IN_FLIGHT, ExecutorOptions, open_executor
from tests.support.executor_jobs import die_at_first, jobs, may_name, refuse, refuse_file, square
from tests.support.runs import tiny_settings

WORKERS = 2


@pytest.fixture(scope="module")
def processes():
    with open_executor(ExecutorOptions("process", WORKERS)) as executor:
        yield executor


def test_processes_give_what_one_process_gives_in_the_same_order(processes):
    with open_executor(ExecutorOptions()) as serial:
        alone = list(serial.map(square, jobs(20)))
    together = list(processes.map(square, jobs(20)))
    assert [value for value, _ in together] == [value for value, _ in alone] == [n**2 for n in range(20)]
    assert {pid for _, pid in alone} == {os.getpid()}
    assert 1 <= len({pid for _, pid in together} - {os.getpid()}) <= WORKERS


def test_tasks_of_workers_killed_between_two_maps_and_during_one_are_restarted(processes, tmp_path):
    workers = {pid for _, pid in processes.map(square, jobs(8))}
    for pid in workers:
        os.kill(pid, signal.SIGKILL)
    notes = tmp_path / "deaths"
    notes.write_text("1")
    assert list(processes.map(die_at_first, jobs(8, notes))) == list(range(8))
    assert notes.read_text() == "0"


@pytest.mark.usefixtures("forget_modules")
def test_files_may_name_the_same_modules_in_a_worker():
    with open_executor(ExecutorOptions("process", 1)) as executor:
        assert list(executor.map(may_name, jobs(1))) == [False]
    registry.name_modules(["colorsys"])
    with open_executor(ExecutorOptions("process", 1)) as executor:
        assert list(executor.map(may_name, jobs(1))) == [True]


@pytest.mark.usefixtures("forget_modules")
def test_tasks_may_be_of_a_module_in_the_current_folder(tmp_path, monkeypatch):
    (tmp_path / "job_of_folder.py").write_text("class Job:\n    number = 3\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [folder for folder in sys.path if folder])
    jobs_there = registry.Registry("job", {})
    with open_executor(ExecutorOptions("process", 1)) as executor:
        assert [number for number, _ in executor.map(square, [jobs_there["job_of_folder:Job"]()])] == [9]


def test_ctrl_c_while_a_worker_starts_leaves_no_worker(monkeypatch):
    started, start = [], SpawnProcess.start

    def interrupted(process):
        start(process)
        started.append(process)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(SpawnProcess, "start", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), open_executor(ExecutorOptions("process", 1)) as executor:
            list(executor.map(square, jobs(1)))
    finally:
        signal.signal(signal.SIGINT, before)
    (worker,) = started
    worker.join(60)
    assert worker.exitcode == -signal.SIGKILL


def test_few_tasks_start_before_results_are_consumed(processes):
    begun = []

    def told():
        for job in jobs(100):
            begun.append(job.number)
            yield job

    results = processes.map(square, told())
    assert next(results)[0] == 0
    assert len(begun) == IN_FLIGHT * WORKERS
    results.close()


def test_an_exception_of_a_task_is_raised():
    with open_executor(ExecutorOptions("process", 1)) as executor:
        with pytest.raises(StageError, match="job 0 cannot be done"):
            list(executor.map(refuse, jobs(3)))
        with pytest.raises(InvalidFileError, match=r"^nowhere: job 0 cannot read it$"):
            list(executor.map(refuse_file, jobs(3)))


def test_repeated_worker_deaths_end_the_work_with_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr("selfplay.executors.processes.ATTEMPTS", 2)
    notes = tmp_path / "deaths"
    notes.write_text("100")
    with (
        open_executor(ExecutorOptions("process", 1)) as executor,
        pytest.raises(StageError, match=r"a worker process was killed 2 times.* set fewer executor\.workers"),
    ):
        list(executor.map(die_at_first, jobs(8, notes)))
    assert notes.read_text() == "98"


UNGUARDED = """
from selfplay.executors import open_executor
from selfplay.executors import ExecutorOptions

with open_executor(ExecutorOptions("process", 1)) as executor:
    print(type(executor).__name__, list(executor.map(square, jobs(1))))
"""


GUARDED_TOO_LATE = f"{UNGUARDED}\nif __name__ == '__main__':\n    pass\n"


@pytest.mark.parametrize(
    ("text", "started"),
    [(UNGUARDED, ""), (GUARDED_TOO_LATE, "x"), ("raise SystemExit(0 * len(__name__))", "x"), (None, "")],
    ids=["unguarded", "guarded too late", "exits", "stdin"],
)
def test_a_script_that_cannot_be_started_again_in_a_worker_is_refused_at_once(tmp_path, monkeypatch, text, started):
    script, notes = tmp_path / ("<stdin>" if text is None else "script.py"), tmp_path / "started"
    notes.touch()
    if text is not None:
        script.write_text(f"open({str(notes)!r}, 'a').write('x')\n{text}")
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None, raising=False)
    monkeypatch.setattr(sys.modules["__main__"], "__file__", str(script), raising=False)
    with (
        open_executor(ExecutorOptions("process", 1)) as executor,
        pytest.raises(StageError, match=r"executor=process starts the script again.* if __name__ == \"__main__\":$"),
    ):
        list(executor.map(square, jobs(1)))
    assert notes.read_text() == started


def test_a_script_may_ask_for_the_name_of_its_process(tmp_path, monkeypatch):
    script = tmp_path / "script.py"
    script.write_text("from multiprocessing import current_process\n\nassert current_process().name != 'MainProcess'\n")
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None, raising=False)
    monkeypatch.setattr(sys.modules["__main__"], "__file__", str(script), raising=False)
    with open_executor(ExecutorOptions("process", 1)) as executor:
        assert [value for value, _ in executor.map(square, jobs(2))] == [0, 1]


def test_a_system_that_cannot_start_processes_is_not_blamed_on_the_dataset(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(SpawnProcess, "start", refuse)
    with pytest.raises(StageError, match=r"^cannot start worker processes: Read-only file system; executor=serial"):
        generate_level(tiny_settings(tmp_path, "executor=process"), 0)
