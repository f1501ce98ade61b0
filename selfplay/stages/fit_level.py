"""The computation of the training stage: read the rows, make the network, fit it to the rows, and let it pass
the gate: a new level is taken only if it scores well enough against the level before it (AlphaGo Zero: 55 %).
"""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from torch import nn

from selfplay.architectures import build_network, option_defaults
from selfplay.compute.devices import CPU
from selfplay.compute.random_numbers import Activity, Purpose, stream_key, torch_seed
from selfplay.dataset.formats import DatasetFormat
from selfplay.dataset.rows import Rows
from selfplay.errors import InvalidFileError, StageError
from selfplay.games import Game
from selfplay.matches.series import count_matches
from selfplay.players.agent import Agent
from selfplay.players.dataset_players import exploring_agent, require_policy_head
from selfplay.runs.checkpoints import Checkpoint, load_checkpoint
from selfplay.runs.run_folder import prepare_process
from selfplay.settings.choices import DATASET_FORMATS, OPTIMIZERS
from selfplay.settings.run import Settings
from selfplay.training.fitting import EpochLoss, fit, seeded
from selfplay.training.process_group import ProcessGroup
from selfplay.training.rows_in_memory import RowsInMemory, TrainingRows
from selfplay.training.streaming import StreamedRows

log = logging.getLogger(__name__)


class FittedLevel(NamedTuple):
    """A trained network and how it was trained."""

    network: nn.Module
    game: Game
    losses: list[EpochLoss]
    num_rows: int
    seconds: float
    learner_file: bytes | None = None
    """learner.safetensors, where the level learned while it played."""


def training_rows(settings: Settings, level: int, datasets: Sequence[Path], processes: ProcessGroup) -> TrainingRows:
    """The rows that a level is trained on, in memory or streamed from the disk. Raises InvalidFileError."""
    game, key = prepare_process(settings).game, training_key(settings, level)
    form: DatasetFormat = DATASET_FORMATS[settings.dataset.format]
    if (buffer_rows := settings.dataset.buffer_rows) is not None:
        groups = [form.row_groups(path, game.observation_codec) for path in datasets]
        return StreamedRows(groups, settings.matches, settings.training, game, key, buffer_rows, processes)
    # Matches of different levels get different numbers, so that each is held out independently of the others.
    parts = (
        _fitting_policies(settings, game, path, rows)._replace(match=rows.match + number * settings.matches)
        for number, path in enumerate(datasets)
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
    settings: Settings,
    level: int,
    start: Path | None,
    rows: TrainingRows,
    processes: ProcessGroup,
    on_epoch: Callable[[EpochLoss], None] = lambda _: None,
) -> FittedLevel:
    """Train the network of a level on `rows`, together with the other processes; `on_epoch` is called after each epoch.

    `start`: the agent whose weights it starts from; None: fresh weights.

    Raises as `selfplay.training.fitting.fit`, and StageError if the initial network has another architecture.
    """
    began = time.perf_counter()
    context = prepare_process(settings)
    network = initial_network(settings, level, start, context.game)
    losses = fit(
        network,
        rows,
        settings.training,
        context.game.observation_shape,
        training_key(settings, level),
        on_epoch,
        level=level,
        processes=processes,
        loss=settings.loss,
        device=CPU if OPTIMIZERS[settings.training.optimizer.name].runs_on_cpu_only else context.device,
    )
    return FittedLevel(network, context.game, losses, rows.num_rows, time.perf_counter() - began)


def initial_network(settings: Settings, level: int, start: Path | None, game: Game) -> nn.Module:
    """The network with the weights that its training starts from."""
    architecture = settings.architecture
    with seeded(torch_seed(training_key(settings, level), Purpose.INITIAL_WEIGHTS)):
        network = build_network(architecture, game.observation_shape, game.num_distinct_actions)
    if settings.has_policies:
        require_policy_head(settings, network, game)
    if start is not None:
        earlier = load_checkpoint(start, game)
        if _with_defaults(earlier.metadata["architecture"]) != _with_defaults(architecture):
            raise StageError(
                f"{start} has the architecture {earlier.metadata['architecture']}, not {architecture}; "
                "set another run_dir"
            )
        network.load_state_dict(earlier.network.state_dict())
    return network


def _with_defaults(architecture: Mapping[str, Any]) -> dict[str, Any]:
    """An architecture with all its options, including those that an older version of the program did not have."""
    return {**option_defaults(architecture["name"]), **architecture}


def training_key(settings: Settings, level: int) -> int:
    """The stream of random numbers of a level's training."""
    return stream_key(settings.seed, level, Activity.TRAINING)


def pass_gate(settings: Settings, level: int, gate_agent: Path, fitted: FittedLevel) -> dict[str, int]:
    """Play the matches of the gate; a level that does not pass gets the weights of the level before it, in place.

    Returns the counts for the manifest.
    """
    game = fitted.game
    before = Agent.load(gate_agent, game, f"level {level - 1}")
    after = Agent(Checkpoint(fitted.network, {"outcome": settings.outcome}), game, f"level {level}")
    new, old = (exploring_agent(settings, agent) for agent in (after, before))
    device = prepare_process(settings).device
    key = stream_key(settings.seed, level, Activity.GATE)
    results = count_matches(game, (new, old), settings.gate_matches, key, settings.batch_size, device=device).results
    fitted.network.to("cpu")
    score, gate = results.score, settings.gate or 0.0
    is_taken = score >= gate
    if not is_taken:
        fitted.network.load_state_dict(before.network.to("cpu").state_dict())
    verdict = "taken" if is_taken else f"not taken: keeps the weights of level {level - 1}"
    log.info("level %d: scores %.3f against level %d (gate=%g), %s", level, score, level - 1, gate, verdict)
    wins, draws, losses = results
    return {"gate_wins": wins, "gate_draws": draws, "gate_losses": losses, "gate_taken": int(is_taken)}
