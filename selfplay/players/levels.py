"""The trained levels of a run, as players."""

from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.runs.run_folder import RunFolder
from selfplay.settings.common import CommonSettings
from selfplay.settings.playing import PlaySettings
from selfplay.settings.run import Settings

# torch and numba are imported where they are used, so that a stage whose files are up to date does not wait for them.
if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.players.player import Player
    from selfplay.players.search import SearchPlayer
    from selfplay.players.value_net import ValueNetPlayer
    from selfplay.runs.checkpoints import Checkpoint


def newest_level(settings: CommonSettings) -> int:
    """The newest trained level of the run; 0 if there is none."""
    return max(RunFolder.of(settings).trained_levels(), default=0)


def load_level(
    run_dir: str | Path,
    level: int | None = None,
    game: "Game | None" = None,
    *,
    depth: int = 1,
    temperature: float = 0.0,
) -> "ValueNetPlayer | SearchPlayer":
    """The agent of a level of a run, as a player.

    If compiled searches can compute the values of its network, NegaScout searches to any depth; otherwise the whole
    tree is searched, up to 3 plies.

    Args:
        level: the number of the level; None: the newest.
        game: the game that the agent must play; None: the game named in its file.

    Raises:
        SettingError: the depth or the temperature is out of range.
        StageError: the run does not have this level; the message says which levels it has.
        InvalidFileError: the file of the level is broken or belongs to another game.
    """
    level = existing_level(run_dir, level)
    return load_agent(agent_of(run_dir, level), f"level {level}", game, depth=depth, temperature=temperature)


def load_agent(
    path: Path, name: str, game: "Game | None" = None, *, depth: int = 1, temperature: float = 0.0
) -> "ValueNetPlayer | SearchPlayer":
    """The agent in a file agent.safetensors, as a player with this name. Arguments and errors: see `load_level`."""
    from selfplay.games import make_game
    from selfplay.runs.checkpoints import load_checkpoint, read_metadata

    if game is None:
        game = make_game(read_metadata(path)["game"])
    return checkpoint_player(load_checkpoint(path, game), game, depth, temperature, name)


def checkpoint_player(
    checkpoint: "Checkpoint", game: "Game", depth: int, temperature: float, name: str
) -> "ValueNetPlayer | SearchPlayer":
    """The network of a level as a player with this name. Other arguments and errors: see `load_level`."""
    from selfplay.players.learned_evaluation import compiled_evaluation
    from selfplay.players.search import SearchPlayer
    from selfplay.players.value_net import ValueNetPlayer
    from selfplay.search.searcher import Searcher

    evaluation = compiled_evaluation(checkpoint, game, name)
    if evaluation is None or temperature > 0:
        outcome = checkpoint.metadata["outcome"]
        return ValueNetPlayer(game, checkpoint.network, depth, temperature, name, outcome)
    # A table does not help a search of depth 1, and without one several threads may share the player.
    searcher = Searcher(game, evaluation, ordered=depth > 1, table_bits=16 if depth > 1 else 0)
    return SearchPlayer(searcher, depth, name=name)


def existing_level(run_dir: str | Path, level: int | None) -> int:
    """`level`, or the newest level of the run if it is None. Raises StageError if the run does not have it."""
    run = RunFolder(Path(run_dir))
    chosen = max(run.trained_levels(), default=1) if level is None else level
    run.check_level(chosen)
    return chosen


def agent_of(run_dir: str | Path, level: int) -> Path:
    """The path of the agent of a level. Raises StageError if the run does not have this level."""
    run = RunFolder(Path(run_dir))
    run.check_level(level)
    return run.agent(level)


def level_player(settings: Settings | PlaySettings, game: "Game", level: int) -> "Player":
    """Level `level` of the run as a player without exploration; level 0 is the random player."""
    from selfplay.players.random import RandomPlayer

    if level == 0:
        return RandomPlayer(game)
    player = settings.player
    return load_level(settings.run_dir, level, game, depth=player.depth, temperature=player.temperature)
