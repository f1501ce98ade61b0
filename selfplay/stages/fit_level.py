"""The computation of the training stage: read the rows, make the network, fit it to the rows."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from torch import nn

from selfplay.architectures import build_network, option_defaults
from selfplay.compute.devices import CPU
from selfplay.compute.random_numbers import Activity, Purpose, single_word, stream_key
from selfplay.dataset.formats import DatasetFormat
from selfplay.dataset.rows import Rows
from selfplay.errors import InvalidFileError, StageError
from selfplay.games import Game
from selfplay.players.dataset_players import require_policy_head
from selfplay.runs.checkpoints import load_checkpoint
from selfplay.runs.context import run_context
from selfplay.settings.choices import DATASET_FORMATS, OPTIMIZERS
from selfplay.settings.run import Settings
from selfplay.stages.training_plan import TrainingPlan
from selfplay.training.fitting import EpochLoss, fit, seeded
from selfplay.training.process_group import ProcessGroup
from selfplay.training.rows_in_memory import RowsInMemory, TrainingRows
from selfplay.training.streaming import StreamedRows


class FittedLevel(NamedTuple):
    """A trained network and how it was trained."""

    network: nn.Module
    game: Game
    losses: list[EpochLoss]
    num_rows: int
    seconds: float


def training_rows(plan: TrainingPlan, processes: ProcessGroup) -> TrainingRows:
    """The rows that a level is trained on, in memory or streamed from the disk. Raises InvalidFileError."""
    game, settings, key = run_context(plan.settings).game, plan.settings, _key(plan)
    form: DatasetFormat = DATASET_FORMATS[settings.dataset.format]
    if (buffer_rows := settings.dataset.buffer_rows) is not None:
        groups = [form.row_groups(path, game.observation_codec) for path in plan.datasets]
        return StreamedRows(groups, settings.matches, settings.training, game, key, buffer_rows, processes)
    # Matches of different levels get different numbers, so that each is held out independently of the others.
    parts = (
        _fitting_policies(settings, game, path, rows)._replace(match=rows.match + number * settings.matches)
        for number, path in enumerate(plan.datasets)
        for rows in form.read(path, game.observation_codec)
    )
    return RowsInMemory(parts, settings.training, game, key, processes)


def _fitting_policies(settings: Settings, game: Game, path: Path, rows: Rows) -> Rows:
    """The rows of a dataset with policies if the settings need them, otherwise without.

    Raises InvalidFileError if the dataset does not have them.
    """
    if not settings.has_policies:
        return rows._replace(policy=None)
    if rows.policy is None:
        raise InvalidFileError(
            path, f"has no policies, which targets={settings.targets} needs; generate it again with force=true"
        )
    if (found := rows.policy.shape[1]) != game.num_distinct_actions:
        raise InvalidFileError(path, f"its policies have {found} actions; {game.name} has {game.num_distinct_actions}")
    return rows


def fit_level(
    plan: TrainingPlan,
    rows: TrainingRows,
    processes: ProcessGroup,
    on_epoch: Callable[[EpochLoss], None] = lambda _: None,
) -> FittedLevel:
    """Train the network of a level on `rows`, together with the other processes; `on_epoch` is called after each epoch.

    Raises as `selfplay.training.fitting.fit`, and StageError if the initial network has another architecture.
    """
    began = time.perf_counter()
    context, settings = run_context(plan.settings), plan.settings
    network = _initial_network(plan, context.game)
    losses = fit(
        network,
        rows,
        settings.training,
        context.game.observation_shape,
        _key(plan),
        on_epoch,
        level=plan.level,
        processes=processes,
        loss=settings.loss,
        device=CPU if OPTIMIZERS[settings.training.optimizer.name].runs_on_cpu_only else context.device,
    )
    return FittedLevel(network, context.game, losses, rows.num_rows, time.perf_counter() - began)


def _initial_network(plan: TrainingPlan, game: Game) -> nn.Module:
    """The network with the weights that its training starts from."""
    architecture = plan.settings.architecture
    with seeded(single_word(_key(plan), Purpose.INITIAL_WEIGHTS)):
        network = build_network(architecture, game.observation_shape, game.num_distinct_actions)
    if plan.settings.has_policies:
        require_policy_head(plan.settings, network, game)
    if plan.start is not None:
        earlier = load_checkpoint(plan.start, game)
        if _with_defaults(earlier.metadata["architecture"]) != _with_defaults(architecture):
            raise StageError(
                f"{plan.start} has the architecture {earlier.metadata['architecture']}, not {architecture}; "
                "set another run_dir"
            )
        network.load_state_dict(earlier.network.state_dict())
    return network


def _with_defaults(architecture: Mapping[str, Any]) -> dict[str, Any]:
    """An architecture with all its options, including those that an older version of the program did not have."""
    return {**option_defaults(architecture["name"]), **architecture}


def _key(plan: TrainingPlan) -> int:
    """The stream of random numbers of a level's training."""
    return stream_key(plan.settings.seed, plan.level, Activity.TRAINING)
