"""Learning by function calls: the levels of a run, or one level from the rows of the matches of a player."""

import logging
from collections.abc import Iterable, Sequence
from typing import Any

from torch import nn

from selfplay.api.stages import learn_levels
from selfplay.checks import SEEDS, Range, whole_number
from selfplay.compute.devices import CPU
from selfplay.errors import SettingError
from selfplay.games import Game, make_game, name_of_game
from selfplay.learners.learner import LevelInputs, Resources
from selfplay.learners.values import FitsPlayedRows, Values
from selfplay.named_players.make import make_player
from selfplay.players.player import Player
from selfplay.progress import NoProgress, ProgressBar
from selfplay.settings.chosen_recipe import with_chosen_recipe
from selfplay.settings.overrides import overrides_of
from selfplay.settings.recorded import composed_for_run
from selfplay.stages.loop import LearnedRun
from selfplay.training.epochs import Callback, Callbacks, Epoch, checked_callbacks
from selfplay.training.fitting import fit_network
from selfplay.training.rows import TrainingRows

log = logging.getLogger(__name__)


def learn(
    game: Game | str | None = None,
    *,
    progress: ProgressBar = NoProgress,
    callbacks: Sequence[Callback] = (),
    **settings: Any,
) -> LearnedRun:
    """Learn the levels of a run, as the command `selfplay learn` does: `learn("tictactoe", levels=3, seed=0)`.

    Levels that are learned already are not learned again, and settings that are not given are those that the run has
    recorded. With `levels=3` the result has levels 1 to 3, also if the run has more.

    Args:
        game: a game or its name; None: as the recipe says, usually tictactoe.
        progress: makes the progress bars, such as `tqdm.tqdm`; none are shown by default.
        callbacks: as for `learn_levels`.
        settings: of the run, by their names; those of a section as a dict, such as `learner={"epochs": 3}`.

    Raises as `learn_levels`, and SettingError if no name makes the game, because the files of the run name it.

    Examples:
        >>> run = selfplay.learn("tictactoe", levels=1, matches=100, run_dir="outputs/short")
        >>> run.levels
        (1,)
        >>> run.player()
        <ValueNetPlayer level 1>
    """
    if game is not None:
        settings["game"] = game if isinstance(game, str) else name_of_game(make_game(game))
    overrides, chosen = with_chosen_recipe(overrides_of(settings))
    if chosen:
        log.info("%s", chosen)
    return learn_levels(composed_for_run(overrides), progress, callbacks)


def generate(
    game: Game | str,
    player: Player | str = "random",
    *,
    matches: int,
    seed: int = 0,
    level: int = 1,
    batch_size: int | None = None,
    learner: type[FitsPlayedRows] = Values,
    **parameters: Any,
) -> TrainingRows:
    """The rows of matches of a player against itself, from which a level can learn.

    Args:
        game: the game, or its name.
        player: the player, or its name. It plays as the learner says, `Values` for example with exploration.
        level: that which learns from the rows, from 1; each has other random numbers.
        batch_size: number of matches in a batch, which does not change the rows; None: as is usual.
        learner: the class of the way of learning: `Values`, or `Policy` for a player that searches trees.
        parameters: of the learner, by name, such as `gamma=0.9`; the others have their usual values.

    Raises SettingError for an argument that is out of range, and as `make_player`.

    Examples:
        >>> rows = selfplay.generate("tictactoe", matches=1000, gamma=0.9)
        >>> rows.num_rows
        7551
    """
    game, learning = make_game(game), learner_with(learner, parameters)
    numbers = range(whole_number("matches", matches, Range(1)))
    seed, level = whole_number("seed", seed, Range(*SEEDS)), whole_number("level", level, Range(1))
    inputs = LevelInputs(game, seed=seed, level=level - 1, resources=Resources(batch_size=batch_size))
    itself = learning.exploring(game, make_player(player, game))
    played = learning.played(inputs, (itself, itself), numbers)
    return TrainingRows(game, learning.rows_of(inputs, played, learning.opening_plies))


def fit(
    network: nn.Module,
    rows: TrainingRows,
    *,
    seed: int = 0,
    level: int = 1,
    device: str = CPU,
    callbacks: Iterable[Callback] = (),
    learner: type[FitsPlayedRows] = Values,
    **parameters: Any,
) -> list[Epoch]:
    """Train a network in place on rows, and give it the weights of the epoch with the lowest validation loss.

    Afterwards the network is on the CPU, in evaluation mode. The same seed gives the same weights as the training of
    a run with these parameters.

    Args:
        network: such as that of `initial_network`.
        rows: those of `generate`.
        level: that which is trained, from 1; the learning rate may decay from level to level.
        device: on which the network is trained, cpu or cuda.
        callbacks: called after each epoch; one that returns True ends the training.
        learner: as for `generate`.
        parameters: as for `generate`, such as `epochs=10` or `learning_rate=0.003`.

    Returns:
        What was measured in each epoch.

    Raises StageError if there are too few matches to hold some out, or a loss is not a number, and SettingError for a
    parameter that is out of range.

    Examples:
        >>> rows = selfplay.generate("tictactoe", "perfect", matches=1000)
        >>> network = selfplay.initial_network(rows.game, {"name": "mlp", "hidden_sizes": [32]})
        >>> [epoch.epoch for epoch in selfplay.fit(network, rows, epochs=2, learning_rate=0.003)]
        [1, 2]
    """
    learning, told = learner_with(learner, parameters), Callbacks(checked_callbacks(callbacks))
    return fit_network(
        network,
        rows,
        learning,
        seed=whole_number("seed", seed, Range(*SEEDS)),
        level=whole_number("level", level, Range(1)),
        loss=learning.loss_weights,
        device=device,
        on_epoch=lambda epoch: told.on_epoch(level, epoch),
    )


def learner_with(learner: type[FitsPlayedRows], parameters: dict[str, Any]) -> FitsPlayedRows:
    """A learner with these parameters. Raises SettingError for one that it does not have, or that is out of range."""
    known = learner.parameters()
    for name, value in parameters.items():
        if name not in known:
            raise SettingError(f"{name}={value}: {learner.__name__} has the parameters {', '.join(known)}")
    return learner(**parameters)
