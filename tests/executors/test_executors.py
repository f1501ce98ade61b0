"""Executors: results in order, few tasks at a time, and killed workers."""

import multiprocessing
import os
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from selfplay import registry
from selfplay.errors import InvalidFileError, SettingError, StageError
from selfplay.executors import open_executor
from selfplay.executors.executor import ATTEMPTS, IN_FLIGHT
from selfplay.settings.choices import EXECUTORS
from selfplay.settings.common import CommonSettings, ExecutorSettings

WORKERS = 2


class Job(NamedTuple):
    settings: CommonSettings
    number: int
    notes: Path = Path("nowhere")


def square(job: Job) -> tuple[int, int]:
    return job.number**2, os.getpid()


def threads(job: Job) -> list[str | None]:
    return [os.environ.get(name) for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")]


def refuse(job: Job) -> None:
    raise StageError(f"job {job.number} cannot be done")


def refuse_file(job: Job) -> None:
    raise InvalidFileError(job.notes, f"job {job.number} cannot read it")


def die_at_first(job: Job) -> int:
    """Job 3 kills its worker, as often as `notes` says."""
    left = int(job.notes.read_text()) if job.number == 3 else 0
    if left:
        job.notes.write_text(str(left - 1))
        os.kill(os.getpid(), signal.SIGKILL)
    return job.number


def jobs(count, notes=Path("nowhere"), threads=1):
    return [Job(CommonSettings("nowhere", threads=threads), number, notes) for number in range(count)]


@pytest.fixture(scope="module")
def processes():
    with open_executor(ExecutorSettings("process", WORKERS)) as executor:
        yield executor


def children() -> set[int | None]:
    return {process.pid for process in multiprocessing.active_children()}


def test_processes_give_what_one_process_gives_in_the_same_order(processes):
    with open_executor(ExecutorSettings()) as serial:
        alone = list(serial.map(square, jobs(20)))
    together = list(processes.map(square, jobs(20)))
    assert [value for value, _ in together] == [value for value, _ in alone] == [n**2 for n in range(20)]
    assert {pid for _, pid in alone} == {os.getpid()}
    assert 1 <= len({pid for _, pid in together} - {os.getpid()}) <= WORKERS


def test_workers_are_reused_for_the_next_tasks(processes):
    list(processes.map(square, jobs(8)))
    workers = children()
    assert {pid for _, pid in processes.map(square, jobs(8))} <= workers
    assert children() == workers


def test_tasks_of_workers_killed_between_two_maps_and_during_one_are_restarted(processes, tmp_path):
    workers = {pid for _, pid in processes.map(square, jobs(8))}
    for pid in workers:
        os.kill(pid, signal.SIGKILL)
    time.sleep(0.5)  # the pool notices, and refuses the next task
    notes = tmp_path / "deaths"
    notes.write_text("1")
    assert list(processes.map(die_at_first, jobs(8, notes))) == list(range(8))
    assert notes.read_text() == "0"


def test_closing_an_executor_ends_only_its_own_workers(processes):
    list(processes.map(square, jobs(8)))
    workers = children()
    with open_executor(ExecutorSettings("process", 1)) as other:
        # A worker has the threads of the settings.
        assert list(other.map(threads, jobs(1, threads=3))) == [["3", "3"]]
        assert len(children() - workers) == 1
    assert workers <= children()


def test_closing_ends_every_worker_even_if_it_is_stopped():
    before = set(multiprocessing.active_children())
    with open_executor(ExecutorSettings("process", WORKERS)) as executor:
        list(executor.map(square, jobs(8)))
        workers = set(multiprocessing.active_children()) - before
        for worker in workers:
            os.kill(worker.pid, signal.SIGSTOP)
            os.waitid(os.P_PID, worker.pid, os.WSTOPPED)
    time.sleep(0.5)  # the pool tells its workers to exit; none has read the message yet
    for worker in workers:
        worker.join(20)
    ends = [worker.exitcode for worker in workers]
    assert ends == [-signal.SIGKILL] * WORKERS


def may_name(job: Job) -> bool:
    """Whether a file may name an object of the module `colorsys` in this worker."""
    with suppress(SettingError):
        EXECUTORS.check_recorded("colorsys:Executor")
        return True
    return False


def test_files_may_name_the_same_modules_in_a_worker(monkeypatch):
    monkeypatch.setattr(registry, "_named_modules", set())
    with open_executor(ExecutorSettings("process", 1)) as executor:
        assert list(executor.map(may_name, jobs(1))) == [False]
    registry.name_modules(["colorsys"])
    with open_executor(ExecutorSettings("process", 1)) as executor:
        assert list(executor.map(may_name, jobs(1))) == [True]


def test_a_stopped_worker_is_reported_once_and_awaited(tmp_path, monkeypatch, caplog):
    caplog.set_level("INFO", logger="selfplay")
    monkeypatch.setattr("selfplay.executors.processes.STOPPED_CHECK", 0.1)
    with open_executor(ExecutorSettings("process", 1)) as executor:
        ((_, worker),) = executor.map(square, jobs(1))
        os.kill(worker, signal.SIGSTOP)
        threading.Timer(1.0, os.kill, (worker, signal.SIGCONT)).start()
        assert list(executor.map(square, jobs(2))) == [(0, worker), (1, worker)]
    text = f"worker process {worker} is stopped, and the run waits for it; to continue: kill -CONT {worker}"
    assert caplog.messages == [text]


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


@pytest.mark.parametrize("name", ["serial", "process"])
def test_an_exception_of_a_task_is_raised(name):
    with open_executor(ExecutorSettings(name, 1)) as executor:
        with pytest.raises(StageError, match="job 0 cannot be done"):
            list(executor.map(refuse, jobs(3)))
        with pytest.raises(InvalidFileError, match=r"^nowhere: job 0 cannot read it$"):
            list(executor.map(refuse_file, jobs(3)))


def test_ctrl_c_while_workers_start_is_handled_by_their_parent(capfd):
    """Ctrl-C reaches all processes of a terminal."""
    before, over = set(multiprocessing.active_children()), threading.Event()
    interrupted = set()

    def interrupt():
        while not over.wait(0.01):
            for worker in set(multiprocessing.active_children()) - before:
                interrupted.add(worker.pid)
                with suppress(ProcessLookupError):
                    os.kill(worker.pid, signal.SIGINT)

    interrupting = threading.Thread(target=interrupt)
    interrupting.start()
    with open_executor(ExecutorSettings("process", WORKERS)) as executor:
        answers = list(executor.map(square, jobs(8)))
    over.set()
    interrupting.join()
    assert [value for value, _ in answers] == [n**2 for n in range(8)]
    assert {pid for _, pid in answers} <= interrupted
    assert capfd.readouterr().err == ""


def test_repeated_worker_deaths_end_the_work_with_one_line(tmp_path):
    notes = tmp_path / "deaths"
    notes.write_text("100")
    with (
        open_executor(ExecutorSettings("process", 1)) as executor,
        pytest.raises(StageError, match=r"a worker process was killed 4 times.* set fewer executor\.workers"),
    ):
        list(executor.map(die_at_first, jobs(8, notes)))
    assert notes.read_text() == str(100 - ATTEMPTS)
