"""The lock of a run: one process at a time."""

import logging
import multiprocessing
import os
import shutil
import signal
import threading
import time

import pytest

import selfplay
from selfplay.cli.entry import program_named
from selfplay.errors import RunLockedError, StageError
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.classical import TabularSettings
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.run import Run
from selfplay.stages.train_tabular import train_tabular
from tests.support.runs import files_of, held_by_another_thread, tiny_settings


def hold(folder, is_held):
    with RunFolder(folder).lock():
        is_held.set()
        time.sleep(600)


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the run."""
    fork = multiprocessing.get_context("fork")
    is_held = fork.Event()
    process = fork.Process(target=hold, args=(tmp_path, is_held))
    process.start()
    assert is_held.wait(60)
    yield process
    process.kill()
    process.join()


def test_a_run_held_by_another_process_is_refused_and_free_after_its_kill(tmp_path, holder):
    with pytest.raises(RunLockedError, match=f"another process is using {tmp_path}"), RunFolder(tmp_path).lock():
        pytest.fail("the lock was given")
    with RunFolder(tmp_path / "other").lock():
        assert (tmp_path / "other" / ".lock").exists()
    holder.kill()
    holder.join()
    assert holder.exitcode == -signal.SIGKILL
    with RunFolder(tmp_path).lock():
        assert (tmp_path / ".lock").exists()


@pytest.fixture
def held_run(run_copy):
    """A run that another thread of this process holds."""
    with held_by_another_thread(run_copy):
        yield run_copy


def assert_is_refused(run_dir, write):
    files = files_of(run_dir)
    with pytest.raises(RunLockedError, match=f"another thread of this program is using {run_dir}; wait for it"):
        write()
    assert files_of(run_dir) == files


WRITING = {
    "learn_levels": selfplay.learn_levels,
    "generate_level": lambda settings: selfplay.generate_level(settings, 0),
    "train_level": lambda settings: selfplay.train_level(settings, 1),
    "compare_levels": lambda settings: selfplay.compare_levels(settings=settings),
}
"""The functions of the library that write a run, which take its settings."""


@pytest.mark.parametrize("name", WRITING)
def test_a_function_of_the_library_refuses_a_run_in_use_and_changes_nothing(held_run, name):
    assert_is_refused(held_run, lambda: WRITING[name](tiny_settings(held_run, "force=true")))


WRITERS = (
    *("learn", "generate", "train", "compare", "plot", "prove", "correct"),
    *("train-tabular", "tournament", "export-evaluation", "fit-probcut"),
)
"""The programs that write a run."""


@pytest.mark.parametrize("name", WRITERS)
def test_a_program_refuses_a_run_in_use(held_run, name):
    program = program_named(name)
    overrides = [f"run_dir={held_run}", *(["force=true"] if hasattr(program.kind, "force") else [])]
    settings = compose_settings_of(program.kind, program.config, overrides)
    assert_is_refused(held_run, lambda: program.body(settings))


def test_tables_are_not_trained_while_a_player_saves_what_it_has_learned(tmp_path):
    settings = compose_settings_of(TabularSettings, "tabular", [f"run_dir={tmp_path}", "episodes=10"])
    with held_by_another_thread(tmp_path / "tabular"):
        assert_is_refused(tmp_path / "tabular", lambda: train_tabular(Run.of(settings)))
    assert train_tabular(Run.of(settings)).exists()


def test_a_thread_may_take_a_lock_that_it_holds_and_keeps_it_until_the_end_of_the_first_block(tmp_path):
    refused = []

    def try_it():
        try:
            with RunFolder(tmp_path).lock():
                pass
        except RunLockedError as error:
            refused.append(error)

    with RunFolder(tmp_path).lock():
        with RunFolder(tmp_path).lock():
            pass
        thread = threading.Thread(target=try_it)
        thread.start()
        thread.join()
    assert len(refused) == 1
    try_it()
    assert len(refused) == 1


@pytest.mark.slow
def test_a_program_of_several_stages_takes_the_lock_once(run_copy, monkeypatch):
    opened = []
    open_file = os.open
    monkeypatch.setattr(
        os, "open", lambda path, *args, **kwargs: opened.append(path) or open_file(path, *args, **kwargs)
    )
    program_named("learn").body(tiny_settings(run_copy, "levels=4", "comparison.matches=20"))
    assert RunFolder(run_copy).trained_levels() == [1, 2, 3, 4]
    assert [path for path in opened if str(path).endswith(".lock")] == [run_copy / ".lock"]


def test_a_function_of_the_library_writes_messages_to_the_log_of_its_run_only(run_copy, caplog):
    caplog.set_level(logging.INFO, "selfplay")
    selfplay.generate_level(tiny_settings(run_copy), 0)
    logging.getLogger("selfplay").info("later")
    lines = (run_copy / "run.log").read_text().splitlines()
    assert lines[-1][24:] == "level 0: matches already generated, skipped"


def test_the_lock_is_free_after_its_block(tmp_path):
    for _ in range(2):
        with RunFolder(tmp_path).lock():
            pass
    with pytest.raises(ZeroDivisionError), RunFolder(tmp_path).lock():
        raise ZeroDivisionError
    with RunFolder(tmp_path).lock():
        pass


@pytest.mark.parametrize("is_made_again", [False, True])
def test_a_folder_deleted_while_it_is_locked_is_an_error(tmp_path, is_made_again):
    run = RunFolder(tmp_path / "run")

    def delete():
        shutil.rmtree(run.path)
        if is_made_again:
            run.path.mkdir()
            (run.path / ".lock").touch()

    with pytest.raises(StageError, match=rf"^{run.path} was deleted or replaced meanwhile; run the"), run.lock():
        delete()


def test_a_pipe_in_place_of_the_lock_is_refused(tmp_path):
    os.mkfifo(tmp_path / ".lock")
    message = rf"^cannot write {tmp_path}/\.lock: it is not a regular file$"
    with pytest.raises(StageError, match=message), RunFolder(tmp_path).lock():
        pytest.fail("the lock was given")


def test_a_block_that_fails_leaves_neither_lock_nor_new_folder(tmp_path):
    with pytest.raises(FileExistsError), RunFolder(tmp_path / "new").lock():
        (tmp_path / "new" / "level_00").mkdir() or (tmp_path / "new").mkdir()
    assert list(tmp_path.iterdir()) == []
