"""A Ray cluster gives the bytes of one process even if nodes die, and reports errors."""

import functools
import multiprocessing
import os
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from selfplay import learn_levels
from selfplay.api.stages import generate_level
from selfplay.errors import SettingError, StageError
from selfplay.executors import ExecutorOptions, open_executor
from tests.support.executor_jobs import Job, jobs, refuse, square
from tests.support.runs import files_of, tiny_settings

ray = pytest.importorskip("ray", reason="pip install -e '.[ray]' brings it")

from selfplay.executors.ray import RayExecutor  # noqa: E402 - it needs ray


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray writes into the home folder. Compiled code stays where it is."""
    monkeypatch.setenv("XDG_CACHE_HOME", os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache")))
    monkeypatch.setenv("HOME", str(tmp_path))
    # Otherwise workers wait for the other tests.
    monkeypatch.setenv("RAY_worker_niceness", "0")
    monkeypatch.setenv("RAY_health_check_period_ms", "500")


def in_a_process_of_its_own(test):
    """Run the test in a fork: later tests fork this process, and Ray's threads crash in a fork."""

    @functools.wraps(test)
    def run_test(**fixtures):
        process = multiprocessing.get_context("fork").Process(target=test, kwargs=fixtures)
        process.start()
        process.join()
        assert process.exitcode == 0, "the traceback is on standard error"

    return run_test


def test_ray_that_is_not_installed_is_refused_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setattr("selfplay.installation.find_spec", lambda name: None)
    with pytest.raises(SettingError, match=r"^executor=ray needs the package ray.*-m pip install -e '/\S+\[ray\]'"):
        RayExecutor(ExecutorOptions("ray"))


@in_a_process_of_its_own
def test_a_missing_cluster_is_reported_in_one_line():
    with open_executor(ExecutorOptions("ray", address="127.0.0.1:1")) as executor:
        assert list(executor.map(square, [])) == []  # nothing to do needs no cluster
        with pytest.raises(SettingError, match=r"^address=127.0.0.1:1: no Ray cluster found") as caught:
            list(executor.map(square, jobs(1)))
    assert "\n" not in str(caught.value)


def die_once(job: Job) -> int:
    """Job 3 kills its worker the first time."""
    if job.number == 3 and not job.notes.exists():
        job.notes.touch()
        os._exit(1)
    return job.number


def node_of(job: Job) -> tuple[int, str]:
    """The job's number and the node that it ran on; slow enough for a node to be killed while the job runs."""
    node = ray.get_runtime_context().get_node_id()
    _note(job, f"begun {job.number} {node}")
    time.sleep(2.0)
    _note(job, f"ended {job.number} {node}")
    return job.number, node


def _note(job: Job, line: str) -> None:
    with job.notes.open("a") as file:
        file.write(f"{line}\n")


def is_running_on(node: str, notes: Path) -> bool:
    """Whether a job of `node_of` has begun on this node and not ended."""
    lines = {line for line in notes.read_text().splitlines() if line.endswith(node)}
    return any(line.startswith("begun") and line.replace("begun", "ended") not in lines for line in lines)


@pytest.mark.slow
@in_a_process_of_its_own
def test_a_local_ray_cluster_gives_the_bytes_of_one_process(tiny_run, tmp_path):
    settings = tiny_settings(tmp_path / "run", "executor=ray", "executor.workers=2", "dataset.shard_matches=100")
    # What is begun inside this block uses its cluster.
    with open_executor(settings.executor) as executor:
        learn_levels(settings)
        assert files_of(tmp_path / "run") == files_of(tiny_run)
        assert list(executor.map(die_once, jobs(8, tmp_path / "died"))) == list(range(8))
        with pytest.raises(StageError, match=r"^job 0 cannot be done$"):
            list(executor.map(refuse, jobs(3)))

    chosen = ["level=1", f"agent_file={tiny_run / 'level_01/agent.safetensors'}"]
    elsewhere = tmp_path / "elsewhere"
    learned = tiny_settings(elsewhere, "executor=ray", "executor.workers=1", *chosen)
    assert generate_level(learned, 1)
    assert (elsewhere / "level_01/dataset.csv").read_bytes() == (tiny_run / "level_01/dataset.csv").read_bytes()


@contextmanager
def local_cluster():
    """Two nodes with a core each, on this computer."""
    from ray.cluster_utils import Cluster

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    cluster.add_node(num_cpus=1)
    try:
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


@pytest.mark.slow
@in_a_process_of_its_own
def test_a_node_killed_in_the_middle_changes_no_byte(tiny_run, tmp_path):
    with local_cluster() as cluster:
        settings = ExecutorOptions("ray", address=cluster.address)
        notes = tmp_path / "begun"
        with open_executor(settings) as executor:
            results = executor.map(node_of, jobs(16, notes))
            first = [next(results)]
            victim = next(node for node in cluster.list_all_nodes() if not node.head)
            while not is_running_on(victim.node_id, notes):
                first.append(next(results))
            cluster.remove_node(victim, allow_graceful=False)
            rest = list(results)
            assert [number for number, _ in [*first, *rest]] == list(range(16))
            assert notes.read_text().count("begun") > 16, "nothing was lost with the node"
            run_dir = tmp_path / "run"
            overrides = ["executor=ray", f"executor.address={cluster.address}", "dataset.shard_matches=20"]
            cluster.add_node(num_cpus=1)
            assert generate_level(tiny_settings(run_dir, *overrides), 0)
        assert (run_dir / "level_00/dataset.csv").read_bytes() == (tiny_run / "level_00/dataset.csv").read_bytes()
