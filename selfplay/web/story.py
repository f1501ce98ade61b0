"""The story of a run, read from its files: losses, comparison and ratings. The run may still be in progress.

If a game has no run, it is the story of the run of the agent that comes with the program, if there is such an agent.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from selfplay.agents.pretrained import PRETRAINED_FOLDER
from selfplay.errors import InvalidFileError
from selfplay.games import Game
from selfplay.games.win_draw_loss import RESULTS
from selfplay.grading.comparison import level_columns, reference_columns
from selfplay.grading.mistakes import ALL_GROUPS, MISTAKE_COLUMNS
from selfplay.grading.ratings import MATCH_COLUMNS, PLAYER_COLUMNS, RATING_COLUMNS
from selfplay.grading.solved_positions import QUALITY_COLUMNS
from selfplay.named_players.names import readable_name
from selfplay.runs.command_lines import command_line
from selfplay.runs.data_changes import data_changes
from selfplay.runs.finished_runs import level_table, outdated_comparison
from selfplay.runs.levels import RATED, RATED_COLUMNS
from selfplay.runs.run_folder import RunFolder, no_levels_text
from selfplay.tables import Columns, read_rows
from selfplay.training.epochs import Epoch, described, read_epochs
from selfplay.training.fitting import TRAINING_LOSS
from selfplay.web.opponents import OpponentCatalog
from selfplay.web.runs import other_run, read_or_note, run_summary, shown_path
from selfplay.web.story_schemas import DataChangeView, EpochView, LevelLosses, StoryView

PLAYER_TABLE = f"a table of players; {command_line('tournament')} with the same players writes it again"
"""The name of the table of a tournament in error messages, and how to replace it."""

Row = dict[str, Any]
"""The fields of a row by column, None where empty."""
PLAYERS = ("player", "opponent", "reference")
"""The columns with names of players."""


def story_of(catalog: OpponentCatalog, game: Game, run_id: str | None = None) -> StoryView:
    """The current story of the game's run, or of another run of it. Only tables that have changed are read again.

    Raises NotFoundError for an unknown id.
    """
    run = catalog.run(game) if run_id is None else other_run(catalog, game, run_id)
    notes: list[str] = []
    pretrained = RunFolder(PRETRAINED_FOLDER / game.name)
    if not run.path.exists() and pretrained.comparison.exists():
        notes, run = [no_levels_text(run, game.name)], pretrained
    levels = run.trained_levels()
    losses = [
        _losses(level, epochs)
        for level in run.levels_with("epoch_loss.csv")
        if (epochs := read_or_note(read_epochs, run.epoch_loss(level), notes)) is not None
    ]
    compared = read_or_note(_levels, run.comparison, notes)
    newest = max((row["level"] for row in compared or ()), default=0)
    newer = [level for level in levels if level > newest]
    measured = [row for level in newer for row in read_or_note(_levels, run.strength(level), notes) or ()]
    mistakes = read_or_note(_mistakes, run.mistakes, notes) or []
    references = read_or_note(_references, run.references, notes) or []
    tournament = read_or_note(_tournament, run.tournament / "players.csv", notes) or []
    rated = [
        row
        for level in run.levels_with(run.versus_rollouts(0).name)
        for row in read_or_note(_rated, run.versus_rollouts(level), notes) or ()
    ]
    summary = run_summary(run, levels, notes)
    if not levels:
        notes.append(no_levels_text(run, game.name))
    elif not run.comparison.exists():
        notes.append("The levels have not been compared yet; this is the last step of the run.")
    elif compared is not None and newer:
        notes.append(f"The comparison is older than level {newer[0]}; it is updated when the run ends.")
    if compared is not None and (reason := _outdated(run, notes)):
        notes.append(f"The comparison is not of what is there now: {reason}. {command_line('compare')} compares again.")
    return StoryView(
        run=shown_path(catalog, run.path),
        comes_with_program=run.path.parent == PRETRAINED_FOLDER,
        is_running=run.is_at_work(),
        levels=levels,
        losses=losses,
        changes=_changes(run, levels, notes),
        comparison=[*(compared or ()), *measured],
        references=references,
        matches=read_or_note(_pairs, run.matches, notes) or [],
        mistakes=[*mistakes, *_mistakes_of(measured)],
        rated=rated,
        tournament=tournament,
        summary=summary,
        # A file that is read for several parts of the story is broken for each.
        notes=list(dict.fromkeys(notes)),
    )


def _outdated(run: RunFolder, notes: list[str]) -> str:
    try:
        return outdated_comparison(run)
    except InvalidFileError as error:
        notes.append(f"{error}.")
        return ""


def _changes(run: RunFolder, levels: list[int], notes: list[str]) -> list[DataChangeView]:
    try:
        return [DataChangeView(level=level, text=text) for level, text in data_changes(run, levels).items()]
    except InvalidFileError as error:
        notes.append(f"{error}.")
        return []


def _losses(level: int, epochs: Sequence[Epoch]) -> LevelLosses:
    name = epochs[0].judged_by
    views = [EpochView(epoch=one.epoch, judged=one.judged, training=one.measured.get(TRAINING_LOSS)) for one in epochs]
    return LevelLosses(level=level, judged_by=name, title=described(name).title, unit=epochs[0].unit, epochs=views)


def _table(path: Path, columns: Columns, kind: str, *filled: str) -> list[Row]:
    """The rows of a table with all columns, and the names of players in readable form.

    Raises InvalidFileError if the file is broken, ValueError if one of the columns `filled` is empty or missing.
    """
    rows: list[Row] = [dict.fromkeys(columns) | row for row in read_rows(path, columns, kind)]
    if any(row[name] is None for row in rows for name in filled):
        raise ValueError(f"one of {', '.join(filled)} is empty")
    return [
        {name: readable_name(field) if name in PLAYERS and field else field for name, field in row.items()}
        for row in rows
    ]


def _levels(path: Path) -> list[Row]:
    return _table(path, level_columns(), level_table(path), "level")


def _references(path: Path) -> list[Row]:
    return _table(path, reference_columns(), level_table(path), "reference", "rating")


def _rated(path: Path) -> list[Row]:
    return _table(path, RATED_COLUMNS, RATED, "level", "score")


def _tournament(path: Path) -> list[Row]:
    return _table(path, PLAYER_COLUMNS, PLAYER_TABLE, "player", *RATING_COLUMNS)


def _mistakes(path: Path) -> list[Row]:
    return _table(path, MISTAKE_COLUMNS, level_table(path), "player", "group", *QUALITY_COLUMNS)


def _pairs(path: Path) -> list[Row]:
    """The matches of levels against players that are not levels."""
    rows = _table(path, MATCH_COLUMNS, level_table(path), "opponent", *RESULTS)
    return [row for row in rows if row["level"] is not None and not row["opponent"].startswith("level:")]


def _mistakes_of(levels: Iterable[Row]) -> list[Row]:
    """The mistakes in all judged positions of levels that have not been compared yet."""
    return [
        {"level": row["level"], "player": f"level:{row['level']}", "group": ALL_GROUPS, "positions": None}
        | {name: row[f"judged_{name}"] for name in QUALITY_COLUMNS}
        for row in levels
        if row["judged_mistake_rate"] is not None
    ]
