"""The settings of programs that check and export (conf/check_game.yaml, conf/export_onnx.yaml)."""

from dataclasses import dataclass, field

from selfplay.checks import count
from selfplay.settings.common import PATH, CommonSettings


@dataclass
class CheckGameSettings(CommonSettings):
    """The game that is checked, and what is known about it."""

    perft: list[int] | None = field(default=None, metadata=count(0))
    """The known numbers of sequences of 1, 2, 3, ... plies from the start; null: they are printed."""


@dataclass
class ExportOnnxSettings(CommonSettings):
    """Which network is exported, and where."""

    level: int | None = field(default=None, metadata=count(0))
    """The level; null: the newest."""
    file: str = field(default="agent.onnx", metadata=PATH)
    """The file to write."""
