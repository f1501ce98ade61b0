"""The story of a run, read from its files: losses, comparison and ratings. The run may still be in progress.

If a game has no run, it is the story of the run of the agent that comes with the program, if there is such an agent.
"""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from selfplay.errors import InvalidFileError
from selfplay.games import Game
from selfplay.games.game import SEATS
from selfplay.grading.comparison import level_columns, reference_columns
from selfplay.grading.mistakes import ALL_GROUPS, MISTAKE_COLUMNS
from selfplay.grading.proof import Lines, count_text
from selfplay.grading.ratings import MATCH_COLUMNS, PLAYER_COLUMNS
from selfplay.grading.tables import RESULTS, read_rows
from selfplay.named_players.names import readable_name
from selfplay.players.pretrained import PRETRAINED_FOLDER
from selfplay.runs.command_lines import command_line
from selfplay.runs.data_changes import data_changes
from selfplay.runs.finished_runs import level_table
from selfplay.runs.run_folder import RunFolder, no_levels_text
from selfplay.training.epochs import Epoch, described, read_epochs
from selfplay.training.fitting import TRAINING_LOSS
from selfplay.web.opponents import OpponentCatalog
from selfplay.web.runs import other_run, read_once, run_summary, shown_path
from selfplay.web.story_schemas import (
    DataChangeView,
    EpochView,
    ExactView,
    LevelLosses,
    LevelRow,
    MistakeRow,
    PairRow,
    RatedPlayerView,
    ResultsView,
    SolvedView,
    StoryView,
)

PLAYER_TABLE = f"a table of players; {command_line('tournament')} with the same players writes it again"
"""The name of the table of a tournament in error messages, and how to replace it."""

Row = dict[str, Any]
"""The values of a row by column."""


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
        if (epochs := read_once(read_epochs, run.epoch_loss(level), notes)) is not None
    ]
    compared = read_once(_comparison, run.comparison, notes)
    newest = max((row.level for row in compared or ()), default=0)
    newer = [level for level in levels if level > newest]
    measured = [read_once(_comparison, run.strength(level), notes) or [] for level in newer]
    comparison = [*(compared or ()), *chain.from_iterable(measured)] or None
    mistakes = [*(read_once(_mistakes, run.mistakes, notes) or ()), *_mistakes_of(measured)] or None
    references = read_once(_references, run.references, notes)
    tournament = read_once(_tournament, run.tournament / "players.csv", notes)
    summary = run_summary(run, levels, notes)
    if not levels:
        notes.append(no_levels_text(run, game.name))
    elif compared is None:
        notes.append("The levels have not been compared yet; this is the last step of the run.")
    elif newer:
        notes.append(f"The comparison is older than level {newer[0]}; it is updated when the run ends.")
    return StoryView(
        run=shown_path(catalog, run.path),
        comes_with_program=run.path.parent == PRETRAINED_FOLDER,
        is_running=run.is_at_work(),
        levels=levels,
        losses=losses,
        changes=_changes(run, levels, notes),
        comparison=comparison,
        references=references,
        matches=read_once(_pairs, run.matches, notes),
        mistakes=mistakes,
        tournament=tournament,
        summary=summary,
        notes=notes,
    )


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


def _comparison(path: Path) -> list[LevelRow]:
    rows = read_rows(path, level_columns(), level_table(path))
    return [
        LevelRow(
            level=row["level"],
            previous=_results(row, "previous"),
            random=_results(row, "random"),
            exact=_exact(row),
            solved=_solved(row),
            rating=row.get("rating"),
        )
        for row in rows
    ]


def _results(row: Row, opponent: str) -> ResultsView | None:
    counts: dict[str, Any] = {result: row.get(f"{result}_vs_{opponent}") for result in RESULTS}
    return None if counts["wins"] is None else ResultsView(**counts)


def _exact(row: Row) -> ExactView | None:
    if row.get("lines_first") is None:
        return None
    first, second = (Lines(row[f"losing_lines_{seat}"], row[f"lines_{seat}"]) for seat in SEATS)
    return ExactView(
        win=row["exact_win_vs_random"],
        draw=row["exact_draw_vs_random"],
        loss=row["exact_loss_vs_random"],
        lines=(first, second),
        lost_first=" of ".join(map(count_text, first)),
        lost_second=" of ".join(map(count_text, second)),
        optimal=row["optimal_action_rate"],
    )


def _tournament(path: Path) -> list[RatedPlayerView]:
    return [_rated(row, "player") for row in read_rows(path, PLAYER_COLUMNS, PLAYER_TABLE)]


def _references(path: Path) -> list[RatedPlayerView]:
    return [_rated(row, "reference") for row in read_rows(path, reference_columns(), level_table(path))]


def _rated(row: Row, column: str) -> RatedPlayerView:
    """The rating of the player named in `column`."""
    return RatedPlayerView(
        player=readable_name(row[column]),
        rating=row["rating"],
        low=row["rating_low"],
        high=row["rating_high"],
        solved=_solved(row),
    )


def _solved(row: Row) -> SolvedView | None:
    """How a player acts in late positions, or in all positions if an exact solver judges them."""
    optimal = _first_of(row, "endgame_optimal_rate", "judged_perfect_rate")
    if optimal is None:
        return None
    lost = _first_of(row, "endgame_mean_loss", "judged_points_lost")
    return SolvedView(optimal=optimal, points_lost=lost, mistakes=row.get("judged_mistake_rate"))


def _first_of(row: Row, *columns: str) -> float | None:
    return next((row[column] for column in columns if row.get(column) is not None), None)


def _mistakes(path: Path) -> list[MistakeRow]:
    return [
        MistakeRow(**row | {"player": readable_name(row["player"])})
        for row in read_rows(path, MISTAKE_COLUMNS, level_table(path))
    ]


def _mistakes_of(measured: list[list[LevelRow]]) -> list[MistakeRow]:
    """The mistakes in all judged positions of levels that have not been compared yet."""
    return [
        MistakeRow(
            level=row.level,
            player=f"level:{row.level}",
            group=ALL_GROUPS,
            positions=None,
            mistake_rate=row.solved.mistakes,
            perfect_rate=row.solved.optimal,
            points_lost=row.solved.points_lost or 0.0,
        )
        for row in chain.from_iterable(measured)
        if row.solved is not None and row.solved.mistakes is not None
    ]


def _pairs(path: Path) -> list[PairRow]:
    """The matches of levels against players that are not levels."""
    return [
        PairRow(
            level=row["level"],
            opponent=readable_name(row["opponent"]),
            results=ResultsView(wins=row["wins"], draws=row["draws"], losses=row["losses"]),
        )
        for row in read_rows(path, MATCH_COLUMNS, level_table(path))
        if row["level"] is not None and not row["opponent"].startswith("level:")
    ]
