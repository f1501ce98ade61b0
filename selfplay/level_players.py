"""The levels of a run as players."""

from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.play_settings import PlaySettings
from selfplay.run_folder import RunFolder
from selfplay.settings import CommonSettings, Settings

# A script that only asks which level is the newest should not wait for torch.
if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.players.player import Player
    from selfplay.players.value_net import ValueNetPlayer


def newest_level(settings: CommonSettings) -> int:
    """The newest trained level of the run; 0 if there is none."""
    return max(RunFolder(Path(settings.run_dir)).trained_levels(), default=0)


def load_level(
    run_dir: str | Path, level: int, game: "Game | None" = None, *, depth: int = 1, temperature: float = 0.0
) -> "ValueNetPlayer":
    """The agent of a level of a run, as a player.

    Args:
        game: the game that it must play; None takes what its file says.

    Raises:
        StageError: the run has no such level; the message says which it has.
        InvalidFileError: its file is broken or belongs to another game.
    """
    from selfplay.checkpoints import load_checkpoint, read_metadata
    from selfplay.games import make_game
    from selfplay.players.value_net import ValueNetPlayer

    run = RunFolder(Path(run_dir))
    run.check_level(level)
    path = run.agent(level)
    game = game or make_game(read_metadata(path)["game"])
    network = load_checkpoint(path, game).network
    return ValueNetPlayer(game, network, depth, temperature, name=f"level {level}")


def level_player(settings: Settings | PlaySettings, game: "Game", level: int) -> "Player":
    """Level `level` of the run as a player without exploration; level 0 is the random player."""
    from selfplay.players.random import RandomPlayer

    if level == 0:
        return RandomPlayer(game)
    player = settings.player
    return load_level(settings.run_dir, level, game, depth=player.depth, temperature=player.temperature)


def exploring_player(settings: Settings, game: "Game", level: int) -> "Player":
    """Level `level` as it plays the matches of its dataset."""
    from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer

    player = level_player(settings, game, level)
    return player if level == 0 else EpsilonGreedyPlayer(game, player, settings.epsilons)
