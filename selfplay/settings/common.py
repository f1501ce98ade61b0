"""Settings that several programs share: conf/common.yaml, conf/game/, conf/executor/ and conf/level_player/."""

from dataclasses import dataclass, field
from typing import TypeVar

from selfplay.compute.devices import require_device
from selfplay.settings.checks import require, require_package

EXECUTORS = ("serial", "process", "ray")


@dataclass
class GameSettings:
    """Which game (conf/game/)."""

    name: str = "tictactoe"


@dataclass
class PlayerSettings:
    """How a level chooses actions by its network (conf/level_player/)."""

    depth: int = 1
    temperature: float = 0.0

    def __post_init__(self) -> None:
        require("player.depth", self.depth, self.depth >= 1, "1 or more")
        require("player.temperature", self.temperature, self.temperature >= 0, "0 or more")


@dataclass
class ExecutorSettings:
    """Who runs the shards of a stage (conf/executor/)."""

    name: str = "serial"
    workers: int | None = None
    """Shards that are played side by side; None: as many as there are cores, here or in the cluster."""
    address: str | None = None
    """Of a Ray cluster; "auto" is the one that this machine belongs to; None starts Ray on this machine alone."""

    def __post_init__(self) -> None:
        require("executor.name", self.name, self.name in EXECUTORS, " or ".join(EXECUTORS))
        require("executor.workers", self.workers, self.workers is None or self.workers >= 1, "1 or more, or null")
        if self.name == "ray":
            require_package("executor=ray", "ray")


@dataclass
class CommonSettings:
    """What every program can be told: conf/common.yaml."""

    run_dir: str
    game: GameSettings = field(default_factory=GameSettings)
    seed: int = 0
    batch_size: int | None = None
    """Matches played in lockstep; None: 16,384 on the CPU, on a GPU as many as its memory holds."""
    threads: int = 1
    """Threads of torch in one process."""
    device: str = "auto"
    """Where matches are played and networks trained: cpu, cuda, or auto, the GPU if there is one."""

    def __post_init__(self) -> None:
        require("seed", self.seed, -(2**63) <= self.seed < 2**63, "a whole number of 64 bits")
        require("batch_size", self.batch_size, self.batch_size is None or self.batch_size >= 1, "1 or more, or null")
        require("threads", self.threads, self.threads >= 1, "1 or more")
        require_device(self.device)


AnySettings = TypeVar("AnySettings", bound=CommonSettings)
