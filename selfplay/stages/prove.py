"""Prove that a player wins against every play, or find its shortest line to a mistake (selfplay prove).

FOLDER/proof.csv       the result
FOLDER/plies.csv       what was found in each ply
FOLDER/manifest.json   the settings, and the hashes of the player's files and of the results
FOLDER/walk/           the state of an unfinished walk
"""

import json
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from selfplay.errors import IllegalActionError, SettingError
from selfplay.executors import open_executor
from selfplay.files import FileFormat, sha256, written_whole
from selfplay.games import Game, State, make_game
from selfplay.games.game import SEATS
from selfplay.grading.winning_proof.action_judge import Judged, Positions, judge
from selfplay.grading.winning_proof.report import PLY_COLUMNS, PROOF_COLUMNS, proof_report, read_result
from selfplay.grading.winning_proof.saved_walk import problem_of_walk
from selfplay.grading.winning_proof.walk import PlyCounts, Walk
from selfplay.named_players.make import files_of_player, make_player
from selfplay.players.player import Player
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.command_lines import command_line
from selfplay.runs.manifest import Made, Stage
from selfplay.runs.saved_arrays import REMEDY, SavedArrays
from selfplay.search.exact_solver import ExactSolver, empties, make_exact_solver, solver_class
from selfplay.settings.common import recorded_defaults
from selfplay.settings.matches import ProofSettings, WalkSettings
from selfplay.settings.run import Run, opened
from selfplay.tables import Row, data_frame, write_csv

log = logging.getLogger(__name__)

RESULT, PLIES = "proof.csv", "plies.csv"
FINISHED = "finished"
"""The entry of the state that has what an unfinished walk has found so far, as text in JSON."""
FINISHED_PLIES = FileFormat("a list of what was found in each ply", list[PlyCounts], REMEDY)


def prove_and_report(settings: ProofSettings, progress: ProgressBar = NoProgress) -> str:
    """Walk the lines of play, or continue an interrupted walk, write the tables, and return the report.

    Raises:
        RunLockedError: another process or thread is using the run.
        SettingError: the game has no exact solver of such positions, or an action in `after` is not legal.
        NotNowError: the player has no policy for arbitrary positions.
        StageError, InvalidFileError: a file is missing or broken, or cannot be written.
    """
    with opened(settings, create=True) as run:
        name = settings.player
        if name is None:
            newest = run.folder.newest_level() or 1
            run.folder.check_level(newest)
            name = f"level:{newest}"
        folder, record = _folder(run, name), _record(settings, name)
        defaults = recorded_defaults(settings)
        stage = Stage("proof", folder, record, defaults, force=True, unfinished="walk", state=folder / "walk")
        if not settings.force and stage.is_done("already walked", "; force=true walks again"):
            return proof_report(read_result(folder / RESULT, command_line("prove")))
        cached_solver.cache_clear()
        _player_of.cache_clear()
        # Before files of an earlier proof are replaced.
        _player_of(name, run.game.name, settings.run_dir)
        start = start_of(run.game, settings)
        solver = whole_match_solver(run.game, start, settings)
        with stage.making(anew=settings.force) as made:
            walk, finished = _walked(run, name, start, solver, stage, made, progress)
            row = _row(settings, name, walk, solver, finished)
            write_csv(data_frame(PROOF_COLUMNS, [row]), folder / RESULT)
            made.counts, made.files = {"positions": row["positions"]}, [RESULT, PLIES]
        return proof_report(row)


def _walked(
    run: Run[ProofSettings],
    name: str,
    start: State,
    solver: ExactSolver,
    stage: Stage,
    made: Made,
    progress: ProgressBar,
) -> tuple[Walk, list[PlyCounts]]:
    """The walk from `start`, and what was found in each of its plies, which is also written to plies.csv."""
    settings, game, plies = run.settings, run.game, stage.folder / PLIES
    state = SavedArrays(stage.folder / "walk", stage.record, partial(_problem, game))
    finished = _finished(state) if made.is_resumed else []
    if not finished:
        plies.unlink(missing_ok=True)
    with open_executor(settings.executor, settings.threads) as executor:

        def judged(parts: Iterable[Positions]) -> Iterator[Judged]:
            tasks = (JudgeTask(run, name, positions) for positions in parts)
            return executor.map(judge_part, tasks, run.task_files(run.folder.player_files()))

        walk = Walk(
            game,
            start,
            SEATS.index(settings.seat),
            exact_result(solver, start, settings),
            judged,
            state,
            len(game.read_transcript(settings.after)),
            reply_mask(solver, settings),
            settings.walk == "first_mistake",
            settings.part_positions,
            progress,
        )
        for counts in walk.plies(finished):
            finished.append(counts)
            with written_whole(plies) as beside:
                rows = [{**counts._asdict(), "is_turn": int(counts.is_turn)} for counts in finished]
                data_frame(PLY_COLUMNS, rows).to_csv(beside, index=False)
            state[FINISHED] = {"plies": np.array(json.dumps(finished))}
            log.info("%s", _ply_text(counts))
    return walk, finished


def _folder(run: Run[ProofSettings], name: str) -> Path:
    settings = run.settings
    if settings.folder is not None:
        return Path(settings.folder)
    replies = "" if settings.replies == "all" else f"{settings.replies} replies"
    text = f"{name} {settings.seat} {replies} {settings.after}"
    return run.folder.proofs / re.sub(r"[^A-Za-z0-9.]+", "_", text).strip("_")


def _record(settings: ProofSettings, name: str) -> dict[str, Any]:
    """Everything that the result depends on."""
    return {
        "game.name": settings.game.name,
        "player": name,
        "agents_sha256": [sha256(path) for path in files_of_player(name, settings.run_dir)],
        "seat": settings.seat,
        "replies": settings.replies,
        "walk": settings.walk,
        "after": settings.after,
        "walk_solved": settings.walk_solved,
    }


# ---------------------------------------------------------------------- the start of the walk


def start_of(game: Game, settings: ProofSettings) -> State:
    """The position at which the walk starts. Raises SettingError if there is none, or the match is over there."""
    try:
        state = game.follow(game.read_transcript(settings.after))
    except IllegalActionError as error:
        raise SettingError(f"after={settings.after}: {error}") from error
    if bool(state.terminated[0]):
        raise SettingError(f"after={settings.after}: the match is over there")
    return state


def whole_match_solver(game: Game, start: State, settings: ProofSettings) -> ExactSolver:
    """The exact solver of the game. Raises SettingError if there is none, or it does not solve the start."""
    most, left = solver_class(game).practical_empties, int(empties(game, start)[0])
    if left > most:
        raise SettingError(
            f"game={game.name}: its exact solver takes positions of up to {most} empty squares, and the start has "
            f"{left}; give the actions before a later position in after="
        )
    return cached_solver(game.name, settings.table_bits)


def exact_result(solver: ExactSolver, start: State, settings: ProofSettings) -> int:
    """1 if the start is won for the player, 0 if drawn, -1 if lost."""
    value = int(solver.values_within(start, np.array([-1]), np.array([1]))[0])
    return value if int(start.current_player[0]) == SEATS.index(settings.seat) else -value


def reply_mask(solver: ExactSolver, settings: WalkSettings) -> Callable[[State], Tensor]:
    """The function that finds the actions of the opponent that are followed (bool[B, A])."""
    return solver.game.legal_action_mask if settings.replies == "all" else solver.best_action_mask


# ---------------------------------------------------------------------- judging in workers


class JudgeTask(NamedTuple):
    """Positions to be judged, as a task for an executor."""

    run: Run[ProofSettings]
    player: str
    positions: Positions


def judge_part(task: JudgeTask) -> Judged:
    """The actions of the player in some positions."""
    settings, game = task.run.settings, task.run.game
    with settings.computing():
        solver = cached_solver(game.name, settings.table_bits)
        player = _player_of(task.player, game.name, settings.run_dir)
        return judge(task.positions, player, solver, walk_solved=settings.walk_solved)


@cache
def cached_solver(game: str, table_bits: int) -> ExactSolver:
    """The exact solver of a game, made once in each process. Raises SettingError if it has none."""
    return make_exact_solver(game, table_bits)


@cache
def _player_of(name: str, game: str, run_dir: str) -> Player:
    """The player with this name, without a time limit, made once in each process. Raises as `make_player`."""
    return make_player(name, make_game(game), run_dir).without_time_limit()


# ---------------------------------------------------------------------- files and result


def _problem(game: Game, name: str, arrays: Mapping[str, NDArray[Any]]) -> str | None:
    """What is wrong with an entry of the state of a walk that was read; None if the walk can continue from it."""
    if name == FINISHED:
        is_text = set(arrays) == {"plies"} and arrays["plies"].dtype.kind == "U"
        return None if is_text else "its arrays have other names or types"
    return problem_of_walk(game, arrays)


def _finished(state: SavedArrays) -> list[PlyCounts]:
    """The plies that an interrupted walk has finished. Raises InvalidFileError."""
    text = str(state[FINISHED]["plies"]) if FINISHED in state else "[]"
    finished = FINISHED_PLIES.parse_json(state.folder / f"{FINISHED}.npz", text)
    log.info("resumed after %d plies", len(finished))
    return finished


def _ply_text(counts: PlyCounts) -> str:
    if not counts.is_turn:
        return f"ply {counts.ply}: {counts.positions:,} positions, the opponent to move"
    mistakes = f", {counts.mistakes:,} mistakes" if counts.mistakes else ""
    return f"ply {counts.ply}: {counts.positions:,} positions, {counts.judged:,} actions judged{mistakes}"


SUMMED = ("positions", "judged", "solved", "won", "drawn", "lost")
MISTAKES = ("wins_given_away", "draws_given_away", "losses_hastened")


def _row(
    settings: ProofSettings, player: str, walk: Walk, solver: ExactSolver, plies: list[PlyCounts]
) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(PROOF_COLUMNS)
    row |= {name: getattr(settings, name) for name in ("seat", "replies", "walk", "after")}
    row |= {"player": player, "start": {1: "win", 0: "draw", -1: "loss"}[walk.result], "plies": len(plies)}
    row |= {name: sum(getattr(counts, name) for counts in plies) for name in (*SUMMED, *MISTAKES)}
    line = next((counts.line for counts in plies if counts.line is not None), None)
    return row | {"proved": int(line is None)} | ({} if line is None else _first_mistake(settings, walk, solver, line))


def _first_mistake(settings: ProofSettings, walk: Walk, solver: ExactSolver, line: str) -> Row:
    """The fields that describe a mistake: the last action of a line from the start of the walk."""
    game, (*before, mistake) = walk.game, map(int, line.split())
    state = game.follow(before, walk.start)
    values = solver.action_values(state)
    best = max(values.values())
    player, played = int(state.current_player), (*game.read_transcript(settings.after), *before, mistake)
    return {
        "line": " ".join(game.line_texts(played, game.start_of_transcript(settings.after) or game.init())),
        "value": values[mistake],
        "in_words": solver.value_text(values[mistake], state),
        "best": " or ".join(game.action_text(action, player) for action, value in values.items() if value == best),
        "best_value": best,
        "best_in_words": solver.value_text(best, state),
    }
