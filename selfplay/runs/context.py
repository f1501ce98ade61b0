"""What a stage or program needs besides its settings: run folder, game and device, found once and passed down."""

from dataclasses import dataclass
from typing import Generic

import torch

from selfplay.compute.devices import chosen_device, keep_freed_memory, set_search_threads
from selfplay.games import Game, make_game
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.common import AnySettings


@dataclass(frozen=True)
class RunContext(Generic[AnySettings]):
    """Settings, and what is made from them."""

    settings: AnySettings
    run: RunFolder
    game: Game
    device: str
    """cpu or cuda."""


def prepare_process(settings: AnySettings) -> RunContext[AnySettings]:
    """Prepare this process to compute with these settings, and return their context.

    Sets the number of threads of torch, and of searches of one position, and keeps freed memory for the next step.

    Raises SettingError for an unknown game, or a device that does not exist.
    """
    torch.set_num_threads(settings.threads)
    set_search_threads(settings.search_threads)
    keep_freed_memory()
    run = RunFolder.of(settings)
    return RunContext(settings, run, make_game(settings.game.name), chosen_device(settings.device))
