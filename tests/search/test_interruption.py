"""Work in a separate thread: its result, its errors, time limits and Ctrl-C."""

import os
import signal
import threading
import time

import pytest

from selfplay.errors import SettingError, TimeLimitError
from selfplay.search.deadline import Deadline, StoppedError
from selfplay.search.threads import LIMIT, run_interruptibly


class Work:
    """Runs until it is stopped, and records that it was."""

    def __init__(self):
        self.begun, self.stopped = threading.Event(), threading.Event()

    def __call__(self, stop):
        self.begun.set()
        while stop[0] == 0:
            time.sleep(0.001)
        self.stopped.set()


@pytest.mark.parametrize(("steps", "threads"), [(10, 1), (11, 2)])
def test_quick_work_is_done_in_the_calling_thread_and_continued_in_another(steps, threads):
    seen = []

    def count(stop):
        seen.append(threading.get_ident())
        if stop[LIMIT] < steps:
            raise StoppedError
        return steps

    assert run_interruptibly(count, time_limit=60, quick_steps=10) == steps
    assert seen[0] == threading.get_ident()
    assert len(set(seen)) == threads


def test_work_that_takes_too_long_is_stopped():
    work = Work()
    with pytest.raises(TimeLimitError, match=r"^the solver did not finish within 0.05 seconds; set a longer"):
        run_interruptibly(work, time_limit=0.05, name="the solver")
    assert work.stopped.is_set()


def test_the_deadline_of_the_context_ends_work_without_a_time_limit():
    work, deadline = Work(), Deadline(0.05)
    with deadline.applied(), pytest.raises(TimeLimitError, match=r"^the search did not finish in time"):
        run_interruptibly(work)
    assert work.stopped.is_set()
    with deadline.applied():
        assert run_interruptibly(lambda stop: "short", must_finish=True) == "short"


@pytest.mark.parametrize("options", [{}, {"time_limit": 60}, {"must_finish": True}])
def test_a_cancelled_deadline_ends_the_work_at_once_and_that_which_follows(options):
    work, deadline = Work(), Deadline()
    threading.Thread(target=lambda: (work.begun.wait(), deadline.cancel())).start()
    with deadline.applied():
        with pytest.raises(StoppedError):
            run_interruptibly(work, **options)
        assert work.stopped.is_set()
        with pytest.raises(StoppedError):
            run_interruptibly(lambda stop: "never", **options)
    assert run_interruptibly(lambda stop: "outside", **options) == "outside"


def test_a_time_limit_must_be_positive():
    with pytest.raises(SettingError, match="time_limit="):
        run_interruptibly(Work(), 0)


@pytest.mark.usefixtures("default_sigint")
def test_ctrl_c_ends_the_work():
    work = Work()

    def press():
        work.begun.wait()
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press).start()
    with pytest.raises(KeyboardInterrupt):
        run_interruptibly(work)
    assert work.stopped.is_set()
