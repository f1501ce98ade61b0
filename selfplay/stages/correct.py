"""Correct the mistakes of a level on every line of play, until it is proved to make none (selfplay correct).

RUN_DIR/corrected/level_NN/   the corrected level, in a run of its own
    agent.safetensors         its weights
    manifest.json             the settings, and the hashes of the files
    corrections.npz           the state of an unfinished correction
"""

import logging
from pathlib import Path
from typing import Any

import numpy as np

from selfplay.architectures.ntuple import NTuple, with_more_walks
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.errors import SettingError, StageError
from selfplay.files import errors_of_archive, open_file, sha256, written_whole
from selfplay.grading.winning_proof.action_judge import EVERY_LOSS
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.checkpoints import load_checkpoint, save_checkpoint
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder, prepare_process
from selfplay.settings.matches import CorrectionSettings, ProofSettings
from selfplay.stages.prove import exact_result, prove_and_report, start_of, whole_match_solver
from selfplay.training.corrections import WIN, Corrections, Lessons, Round

log = logging.getLogger(__name__)

STATE = "corrections.npz"
WEIGHTS, ROUNDS = "weights", "rounds"


def correct_and_prove(settings: CorrectionSettings, progress: ProgressBar = NoProgress) -> str:
    """Correct a level, or continue an interrupted correction, and prove it; returns the report of the proof.

    Raises:
        SettingError: the network has no tables, the game has no exact solver of such positions, or an action in `after`
            is not legal.
        StageError: the run lacks the level, or mistakes are left after all rounds.
        InvalidFileError: a file is broken.
    """
    context = prepare_process(settings)
    level = context.run.newest_level() if settings.level is None else settings.level
    agent, corrected = context.run.existing_agent(level), RunFolder(context.run.path / "corrected")
    proof = _proof(settings, level, corrected)
    manifest, record = Manifest(corrected.level(level)), _record(settings, level, agent)
    state = corrected.level(level) / STATE
    if manifest.is_done("correction", record, force=settings.force) and not settings.force:
        log.info("level %d: already corrected, skipped", level)
        _forget_state(manifest, state)
        return prove_and_report(proof, progress)
    checkpoint = load_checkpoint(agent, context.game)
    network, architecture = checkpoint.network, checkpoint.metadata["architecture"]
    # Not a capability: only tables of this class can be joined by others, and say which images share their weights.
    if not isinstance(network, NTuple):
        raise SettingError(
            f"level={level}: only tables of patterns can be corrected; train it with architecture=ntuple"
        )
    learning = images = len(network.patterns.images)
    if settings.more_walks:
        walks = settings.more_walks, settings.walk_length, settings.seed
        network, architecture = with_more_walks(network, architecture, *walks)
        learning = len(network.patterns.images) - images
    start = start_of(context.game, proof)
    solver = whole_match_solver(context.game, start, proof)
    lowest = {1: WIN, 0: 0, -1: EVERY_LOSS}[exact_result(solver, start, proof)]
    key = stream_key(settings.seed, level, Activity.TRAINING)
    corrections = Corrections(context.game, network, learning, solver, start, lowest, settings, key)
    found = _corrected(corrections, settings, manifest, record, state)
    with written_whole(corrected.agent(level)) as beside:
        trained_with, outcome = _numbers(settings), checkpoint.metadata["outcome"]
        save_checkpoint(beside, network, context.game, level, architecture, trained_with, outcome)
    manifest.record("correction", record, {"positions": found.positions}, [corrected.agent(level).name])
    _forget_state(manifest, state)
    return prove_and_report(proof, progress)


def _forget_state(manifest: Manifest, state: Path) -> None:
    """Remove the state of a correction that has ended; a kill may have left it."""
    manifest.forget("unfinished")
    state.unlink(missing_ok=True)


def _proof(settings: CorrectionSettings, level: int, corrected: RunFolder) -> ProofSettings:
    """The proof that the corrected level makes no mistake."""
    search = f"search:negascout?depth=1&evaluation=level:{level}&endgame={settings.endgame}"
    player = search if settings.endgame else f"level:{level}"
    common = {name: getattr(settings, name) for name in ("game", "seat", "after", "table_bits", "executor", "threads")}
    return ProofSettings(run_dir=str(corrected.path), player=player, force=settings.force, **common)


def _numbers(settings: CorrectionSettings) -> dict[str, Any]:
    """The settings of the correction itself."""
    names = ("endgame", "more_walks", "walk_length", "passes", "steady_plies", "margin", "rate")
    return {name: getattr(settings, name) for name in names}


def _record(settings: CorrectionSettings, level: int, agent: Path) -> dict[str, Any]:
    """Everything that the result depends on."""
    chosen = {name: getattr(settings, name) for name in ("seat", "after", "seed")} | _numbers(settings)
    return {"game": settings.game.name, "level": level, "agent_sha256": sha256(agent), **chosen}


def _corrected(
    corrections: Corrections, settings: CorrectionSettings, manifest: Manifest, record: dict[str, Any], state: Path
) -> Round:
    """Go through rounds until no mistake is left; returns the last one. Raises StageError if there are too few."""
    weights, first = corrections.training.weights, 0
    if not settings.force and state.exists() and manifest.is_done("unfinished", record, force=True):
        first = _resumed(corrections, state)
        log.info("resumed after %d rounds", first)
    manifest.forget("correction")
    manifest.record("unfinished", record, {}, [])
    for number in range(first, settings.rounds):
        found = corrections.walk(number)
        log.info("round %d: %s", number + 1, _text(found))
        if not found.mistakes:
            return found
        corrections.train(number)
        fields: dict[str, Any] = {WEIGHTS: weights, ROUNDS: np.array(number + 1)}
        for ply, lessons in corrections.lessons.items():
            fields |= {f"{ply}_{name}": field for name, field in lessons._asdict().items()}
        with written_whole(state) as beside, beside.open("wb") as file:
            np.savez(file, **fields)
    raise StageError(f"mistakes are left after {settings.rounds} rounds; set more rounds, or a larger endgame")


def _resumed(corrections: Corrections, state: Path) -> int:
    """Read the state of an unfinished correction; returns its number of rounds."""
    with open_file(state) as file, errors_of_archive(state, "; force=true starts anew"):
        archive = np.load(file, allow_pickle=False)
        corrections.training.weights[:] = archive[WEIGHTS]
        plies = {int(name.partition("_")[0]) for name in archive.files if name not in (WEIGHTS, ROUNDS)}
        for ply in sorted(plies):
            corrections.lessons[ply] = Lessons(*(archive[f"{ply}_{name}"] for name in Lessons._fields))
        return int(archive[ROUNDS])


def _text(found: Round) -> str:
    mistakes = ", ".join(f"{number:,} at ply {ply}" for ply, number in found.mistakes.items())
    return f"{found.positions:,} positions, mistakes: {mistakes or 'none'}"
