"""Correct the mistakes of a level on the lines of play, until it is proved to make none (selfplay correct).

RUN_DIR/corrected/level_NN/   the corrected level, in a run of its own
    agent.safetensors         its weights
    manifest.json             the settings, and the hashes of the files
    corrections.npz           the state of an unfinished correction
"""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from selfplay.agents.checkpoints import load_checkpoint, save_checkpoint
from selfplay.architectures.ntuple import NTuple, with_phases
from selfplay.checks import part_of
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.errors import InvalidFileError, SettingError, StageError, shortened
from selfplay.files import sha256, written_whole
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.manifest import Stage, check_against_manifest
from selfplay.runs.run_folder import RunFolder
from selfplay.runs.saved_arrays import REMEDY, load_arrays, save_arrays
from selfplay.search.exact_solver import EVERY_LOSS, WIN, empties
from selfplay.settings.common import recorded_defaults
from selfplay.settings.matches import CorrectionSettings, ProofSettings, WalkSettings
from selfplay.settings.run import Run, opened
from selfplay.stages.prove import exact_result, prove_and_report, reply_mask, start_of, whole_match_solver
from selfplay.training.corrections import Corrected, Corrections
from selfplay.training.lessons import ExactExpert
from selfplay.training.saved_lessons import are_reasonable, lessons_in

log = logging.getLogger(__name__)

STATE = "corrections.npz"
WEIGHTS = "weights"

Record = Mapping[str, Any]
"""Everything that the result of a correction depends on."""


def correct_and_prove(settings: CorrectionSettings, progress: ProgressBar = NoProgress) -> str:
    """Correct a level, or continue an interrupted correction, and prove it; returns the report of the proof.

    Raises:
        RunLockedError: another process or thread is using the run.
        SettingError: the network has no tables, the game has passes or no exact solver of such positions, `endgame` is
            more than all squares, or an action in `after` is not legal.
        StageError: the run lacks the level, or mistakes are left that training does not correct.
        InvalidFileError: a file is broken.
    """
    with opened(settings, create=True) as run:
        level = settings.level or run.folder.newest_level() or 1
        agent, corrected = run.folder.existing_agent(level), RunFolder(run.folder.corrected)
        proof = _proof(settings, level, corrected)
        record, folder = _record(settings, level, agent), corrected.level(level)
        defaults, force = recorded_defaults(settings), settings.force
        stage = Stage("correction", folder, record, defaults, force, unfinished="unfinished", state=folder / STATE)
        if force or not stage.is_done(f"level {level}: already corrected"):
            _correct_level(run, agent, proof, stage)
        return prove_and_report(proof, progress)


def _correct_level(run: Run[CorrectionSettings], agent: Path, proof: ProofSettings, stage: Stage) -> None:
    """Correct the level in `agent`, and write the corrected one to the folder of the stage."""
    settings, game, level = run.settings, run.game, stage.record["level"]
    check_against_manifest(agent)
    checkpoint = load_checkpoint(agent, game)
    if game.pass_action is not None:
        raise SettingError(f"game={game.name}: only games without passes can be corrected")
    start = start_of(game, proof)
    solver = whole_match_solver(game, start, proof)
    # Not a capability: only tables of this class can have weights for each ply, and know which images share weights.
    if not isinstance(checkpoint.network, NTuple):
        raise SettingError(
            f"level={level}: only tables of patterns can be corrected; train it with architecture=ntuple"
        )
    network, architecture = with_phases(checkpoint.network, checkpoint.metadata["architecture"])
    if settings.endgame > (most := solver.practical_empties):
        raise SettingError(f"endgame={settings.endgame}: must be a number of empty squares from 0 to {most}")
    lowest = {1: WIN, 0: 0, -1: EVERY_LOSS}[exact_result(solver, start, proof)]
    key = stream_key(settings.seed, level, Activity.TRAINING)
    expert = ExactExpert(solver, lowest)
    replies = reply_mask(solver, settings)
    corrections = Corrections(
        game, network, expert, start, key, seat=settings.seat, reply_mask=replies, **_numbers(settings)
    )
    with stage.making(anew=settings.force) as made:
        if made.is_resumed:
            _resume(corrections, stage.folder / STATE, stage.record)
        positions = _correct(corrections, stage.folder / STATE, stage.record)
        with written_whole(stage.folder / agent.name) as beside:
            outcome = checkpoint.metadata["outcome"]
            save_checkpoint(beside, network, game, level, architecture, _numbers(settings), outcome)
        made.counts, made.files = {"positions": positions}, [agent.name]


def _proof(settings: CorrectionSettings, level: int, corrected: RunFolder) -> ProofSettings:
    """The proof that the corrected level makes no mistake."""
    # Not `level:N`, which compares the values of positions as rounded by torch.
    player = f"search:negascout?depth=1&evaluation=level:{level}"
    if settings.endgame:
        player += f"&endgame={settings.endgame}"
    return ProofSettings(**part_of(WalkSettings, settings) | {"run_dir": str(corrected.path), "player": player})


def _numbers(settings: CorrectionSettings) -> dict[str, Any]:
    """The settings of the correction itself."""
    names = ("endgame", "passes", "margin")
    return {name: getattr(settings, name) for name in names}


def _record(settings: CorrectionSettings, level: int, agent: Path) -> Record:
    chosen = {name: getattr(settings, name) for name in ("seat", "replies", "after", "seed")} | _numbers(settings)
    return {"game.name": settings.game.name, "level": level, "agent_sha256": sha256(agent), **chosen}


def _correct(corrections: Corrections, state: Path, record: Record) -> int:
    """Correct every ply; returns the number of positions in which the level chooses. Raises StageError if mistakes are
    left in a ply."""
    positions, saved = {}, corrections.known
    for corrected in corrections.plies():
        # If the walk goes back, it may not reach this ply again.
        positions[corrected.ply] = 0 if corrected.avoided else corrected.positions
        log.info("%s", _text(corrected))
        if (mistakes := corrected.mistakes[-1]) and not corrected.avoided:
            left = int(empties(corrections.game, corrections.start)[0]) - corrected.ply
            raise StageError(f"{mistakes:,} mistakes are left with {left} empty squares; set endgame={left} or larger")
        if corrections.known == saved and corrected.mistakes == [0]:
            continue
        saved = corrections.known
        fields: dict[str, Any] = {WEIGHTS: corrections.apprentice.training.weights}
        for ply, lessons in corrections.lessons.items():
            fields |= {f"{ply}_{name}": field for name, field in lessons._asdict().items()}
        save_arrays(state, fields, record)
    return sum(positions.values())


def _resume(corrections: Corrections, state: Path, record: Record) -> None:
    """Read the state of an unfinished correction. Raises InvalidFileError as `load_arrays`, and for other arrays."""
    arrays, now = load_arrays(state, record), corrections.apprentice.training.weights
    weights, game = arrays.pop(WEIGHTS, now[:0]), corrections.game
    if (weights.shape, weights.dtype) != (now.shape, now.dtype) or not are_reasonable(weights):
        raise InvalidFileError(state, f"does not fit the tables of the level{REMEDY}")
    plies = {str(ply): ply for ply in range(game.max_game_length)}
    for prefix in sorted({name.partition("_")[0] for name in arrays}):
        if prefix not in plies:
            raise InvalidFileError(state, f"has lessons of the unknown ply {shortened(prefix)}{REMEDY}")
        fields = {name.partition("_")[2]: array for name, array in arrays.items() if name.startswith(f"{prefix}_")}
        try:
            corrections.lessons[plies[prefix]] = lessons_in(fields, game, np.int64)
        except ValueError as error:
            raise InvalidFileError(state, f"{error}{REMEDY}") from error
    now[:] = weights
    log.info("resumed: %s positions are known", f"{corrections.known:,}")


def _text(corrected: Corrected) -> str:
    mistakes = ", ".join(f"{number:,}" for number in corrected.mistakes)
    places = f"{corrected.avoided:,} position{'s' if corrected.avoided > 1 else ''}"
    avoided = f"; back to avoid them in {places}" if corrected.avoided else ""
    return f"after {corrected.ply} plies: {corrected.positions:,} positions, mistakes: {mistakes}{avoided}"
