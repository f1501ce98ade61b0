"""The executor whose workers are those of a Ray cluster.

A node need not share the driver's disk: the files that tasks read are sent to it once, and results come back as bytes.
"""

import logging
import os
import socket
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from selfplay.compute.versions import versions
from selfplay.errors import SettingError, StageError
from selfplay.executors.executor import ATTEMPTS, IN_FLIGHT, AnyTask, Result
from selfplay.runs.written_files import sha256
from selfplay.settings.common import ExecutorSettings

PATIENCE = 5.0
"""Seconds in which a cluster answers."""


class Sent(NamedTuple):
    """What every task of a `map` is sent beside itself; the contents once a node."""

    versions: dict[str, str]
    digests: tuple[tuple[str, str], ...]
    """The files below run_dir that the tasks read, with their SHA-256."""
    contents: Any
    """Their contents by name, or a reference to that, which only a node that lacks the files fetches."""


class RayExecutor:
    """Tasks side by side on the cores of a Ray cluster; Ray begins those of workers and nodes that die again."""

    def __init__(self, settings: ExecutorSettings) -> None:
        self._settings, self._began = settings, False
        self._ray: Any = None

    def map(
        self, function: Callable[[AnyTask], Result], tasks: Iterable[AnyTask], files: Sequence[Path] = ()
    ) -> Iterator[Result]:
        """As `Executor.map`. Raises SettingError too, if there is no cluster at the address."""
        rest = iter(tasks)
        if (first := next(rest, None)) is None:
            return
        ray = self._connected()
        in_flight = IN_FLIGHT * (self._settings.workers or max(1, int(ray.cluster_resources().get("CPU", 1))))
        remote = ray.remote(max_retries=ATTEMPTS - 1, num_cpus=1)(_run)
        sent = ray.put(_sent(ray, Path(first.settings.run_dir), files))
        unbegun, begun = chain([first], rest), deque[Any]()
        while True:
            begun.extend(remote.remote(function, task, sent) for task in islice(unbegun, in_flight - len(begun)))
            if not begun:
                return
            yield _result(ray, begun.popleft())

    def _connected(self) -> Any:
        """Ray, with a cluster."""
        if self._ray is not None:
            return self._ray
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        import ray

        if not ray.is_initialized():
            address = self._settings.address
            own: dict[str, Any] = {"num_cpus": self._settings.workers, "include_dashboard": False}
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
                    f"executor.address={address}: there is no Ray cluster ({_brief(error)}); begin one with "
                    "ray start --head, or leave executor.address out to use this machine alone"
                ) from error
            self._began = True
        self._ray = ray
        return ray

    def close(self) -> None:
        if self._began:
            self._ray.shutdown()
            self._ray, self._began = None, False


def _sent(ray: Any, run_dir: Path, files: Sequence[Path]) -> Sent:
    names = [str(path.relative_to(run_dir)) for path in files]
    digests = tuple((name, sha256(run_dir / name)) for name in names)
    return Sent(versions(), digests, ray.put({name: (run_dir / name).read_bytes() for name in names}))


def _result(ray: Any, reference: Any) -> Any:
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise (error.cause if isinstance(error.cause, Exception) else error) from None
    except ray.exceptions.RayError as error:
        raise StageError(
            f"Ray gave up a task whose workers died ({_brief(error)}); "
            "mend the cluster and start again, or give a smaller dataset.shard_matches"
        ) from error


def _require_listener(address: str | None) -> None:
    """Raise OSError or ValueError unless something listens at HOST:PORT: Ray itself would try for many minutes."""
    if address not in (None, "auto", "local"):
        host, _, port = address.rpartition(":")
        socket.create_connection((host, int(port)), timeout=PATIENCE).close()


def _run(function: Callable[[AnyTask], Result], task: AnyTask, sent: Sent) -> Result:
    """What a worker does."""
    check_versions(sent.versions)
    run_dir = Path(task.settings.run_dir)
    if any(not _has(run_dir / name, digest) for name, digest in sent.digests):
        run_dir = _received(sent)
        task = task._replace(settings=replace(task.settings, run_dir=str(run_dir)))  # type: ignore[attr-defined]
    return function(task)


def check_versions(driver: dict[str, str]) -> None:
    """Raise StageError, naming what differs, unless this worker has the versions of the driver."""
    here = versions()
    differing = [f"{name} {here.get(name)}, not {driver[name]}" for name in driver if here.get(name) != driver[name]]
    if differing:
        raise StageError(
            f"the worker on {os.uname().nodename} has {', '.join(differing)}; install the same version on all nodes"
        )


@cache
def _has(path: Path, digest: str) -> bool:
    return path.exists() and sha256(path) == digest


_received_folders: dict[tuple[tuple[str, str], ...], tempfile.TemporaryDirectory[str]] = {}
"""The files that this worker was sent, by their digests; they go when it ends."""


def _received(sent: Sent) -> Path:
    """The folder with the files that this worker was sent."""
    if sent.digests not in _received_folders:
        folder = tempfile.TemporaryDirectory(prefix="selfplay-")
        for name, content in _fetched(sent.contents).items():
            path = Path(folder.name) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        _received_folders[sent.digests] = folder
    return Path(_received_folders[sent.digests].name)


def _fetched(contents: Any) -> dict[str, bytes]:
    import ray

    there: dict[str, bytes] = ray.get(contents) if isinstance(contents, ray.ObjectRef) else contents
    return there


def _brief(error: BaseException) -> str:
    """The beginning of what Ray has to say, on one line."""
    words = " ".join(str(error).split())
    return words if len(words) <= 160 else f"{words[:157]}..."
