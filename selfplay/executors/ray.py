"""The executor whose workers are the cores of a Ray cluster.

Nodes need not share the driver's disk: files that tasks read are sent to each node once, and results return as bytes.
"""

import logging
import os
import socket
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from selfplay.compute.process import default_variables, tune_process
from selfplay.compute.versions import versions
from selfplay.errors import SettingError, StageError, shortened
from selfplay.executors import ATTEMPTS, IN_FLIGHT, AnyTask, ExecutorOptions, Result, TaskFiles
from selfplay.executors.same_code import OutsideCode, check_same_code, outside_code
from selfplay.files import read_bytes
from selfplay.installation import require_package
from selfplay.registry import name_modules, named_modules

REACHABLE_BY_OTHERS = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""Ray's environment variable, on all systems, for whether other computers may connect; it is read by `import ray`."""

PATIENCE = 5.0
"""Seconds to wait for a cluster to answer."""


class Sent(NamedTuple):
    """The data sent with every task of a `map`. The contents of files are sent once per node."""

    versions: dict[str, str]
    modules: tuple[str, ...]
    """The modules that files may name, see `selfplay.registry`."""
    code: OutsideCode
    contents: Any
    """A reference to the contents of the files that the tasks read, by name; None if they read none."""
    moved: Callable[[Any, Path], Any] | None
    """As in `TaskFiles`."""


class RayExecutor:
    """Runs tasks in parallel on the cores of a Ray cluster; Ray restarts tasks whose worker or node died."""

    def __init__(self, options: ExecutorOptions, threads: int = 1) -> None:
        require_package("executor=ray", "ray")
        self._options, self._began = options, False
        self._ray: Any = None

    def map(
        self, function: Callable[[AnyTask], Result], tasks: Iterable[AnyTask], files: TaskFiles[AnyTask] | None = None
    ) -> Iterator[Result]:
        """As `Executor.map`. Also raises SettingError if there is no cluster at the address."""
        rest = iter(tasks)
        if (first_task := next(rest, None)) is None:
            return
        contents = {name: read_bytes(path) for name, path in files.paths.items()} if files else {}
        ray = self._connected()
        unbegun, begun = chain([first_task], rest), deque[Any]()
        with _reported(ray):
            in_flight = IN_FLIGHT * (self._options.workers or max(1, int(ray.cluster_resources().get("CPU", 1))))
            remote = ray.remote(max_retries=ATTEMPTS - 1, num_cpus=1)(_run)
            moved = files.moved if files and contents else None
            given = ray.put(contents) if contents else None
            sent = ray.put(Sent(versions(), named_modules(), outside_code(), given, moved))
            while True:
                begun.extend(remote.remote(function, task, sent) for task in islice(unbegun, in_flight - len(begun)))
                if not begun:
                    return
                yield ray.get(begun.popleft())

    def _connected(self) -> Any:
        """The module ray, connected to a cluster."""
        if self._ray is not None:
            return self._ray
        variables = {"RAY_USAGE_STATS_ENABLED": "0"}
        if self._options.address is None:
            variables[REACHABLE_BY_OTHERS] = "0"
        with default_variables(variables):
            import ray

            if not ray.is_initialized():
                address = self._options.address
                own: dict[str, Any] = {"num_cpus": self._options.workers, "include_dashboard": False}
                try:
                    _require_listener(address)
                    ray.init(
                        address=address or "local",
                        log_to_driver=False,
                        logging_level=logging.ERROR,
                        **({} if address else own),
                    )
                except (OSError, ValueError, RuntimeError) as error:
                    raise SettingError(
                        f"address={address}: no Ray cluster found ({shortened(error)}); start one with "
                        "ray start --head, or give no address to use this machine only"
                    ) from error
                self._began = True
        self._ray = ray
        return ray

    def close(self) -> None:
        if self._began:
            self._ray.shutdown()
            self._ray, self._began = None, False


@contextmanager
def _reported(ray: Any) -> Iterator[None]:
    """Raise an error of a task as it is, and StageError for one of the cluster."""
    try:
        yield
    except ray.exceptions.RayTaskError as error:
        raise (error.cause if isinstance(error.cause, Exception) else error) from None
    # A lost connection must not be reported as a failure to write a file of the run.
    except (ray.exceptions.RayError, OSError) as error:
        raise StageError(
            f"Ray gave up on a task whose workers died ({shortened(error)}); "
            "repair the cluster and run again, or set a smaller dataset.shard_matches"
        ) from error


def _require_listener(address: str | None) -> None:
    """Raise OSError or ValueError unless a server listens at HOST:PORT; Ray itself would retry for many minutes."""
    if address not in (None, "auto", "local"):
        host, _, port = address.rpartition(":")
        socket.create_connection((host, int(port)), timeout=PATIENCE).close()


def _run(function: Callable[[AnyTask], Result], task: AnyTask, sent: Sent) -> Result:
    """Run a task in a worker."""
    check_versions(sent.versions)
    name_modules(sent.modules)
    tune_process()
    check_same_code(sent.code)
    result = function(task if sent.moved is None else sent.moved(task, _received(sent.contents)))
    # The task may have imported more.
    check_same_code(sent.code)
    return result


def check_versions(driver: dict[str, str]) -> None:
    """Raise StageError, naming the difference, unless this worker has the same versions as the driver."""
    here = versions()
    differing = [f"{name} {here.get(name)}, not {driver[name]}" for name in driver if here.get(name) != driver[name]]
    if differing:
        raise StageError(
            f"the worker on {os.uname().nodename} has {', '.join(differing)}; install the same version on all nodes"
        )


_received_folders: dict[Any, tempfile.TemporaryDirectory[str]] = {}
"""Folders of the files sent to this worker, by the references to them; they are deleted when it ends."""


def _received(contents: Any) -> Path:
    """The folder with the files that a reference names, which Ray brings to each node once."""
    if contents not in _received_folders:
        import ray

        folder = tempfile.TemporaryDirectory(prefix="selfplay-")
        for name, content in ray.get(contents).items():
            path = Path(folder.name) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        _received_folders[contents] = folder
    return Path(_received_folders[contents].name)
