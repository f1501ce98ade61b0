"""The answers of the server about the story of a run."""

from typing import Annotated, Any

from pydantic import BaseModel, Field, WithJsonSchema

from selfplay.grading.comparison import level_columns, reference_columns
from selfplay.grading.mistakes import MISTAKE_COLUMNS
from selfplay.grading.ratings import MATCH_COLUMNS, PLAYER_COLUMNS
from selfplay.runs.levels import RATED_COLUMNS
from selfplay.tables import Columns


def row_schema(columns: Columns) -> WithJsonSchema:
    """The description of a row of a table. A field may be empty: null."""
    types = {int: "integer", float: "number", str: "string"}
    fields = {name: {"anyOf": [{"type": types[kind.of]}, {"type": "null"}]} for name, kind in columns.items()}
    return WithJsonSchema({"type": "object", "properties": fields, "required": list(fields)})


LevelRow = Annotated[dict[str, Any], row_schema(level_columns())]
"""A row of comparison/levels.csv, or of strength.csv of a level that has not been compared yet."""
ReferenceRow = Annotated[dict[str, Any], row_schema(reference_columns())]
MistakeRow = Annotated[dict[str, Any], row_schema(MISTAKE_COLUMNS)]
PairRow = Annotated[dict[str, Any], row_schema(MATCH_COLUMNS)]
RatedRow = Annotated[dict[str, Any], row_schema(RATED_COLUMNS)]
PlayerRow = Annotated[dict[str, Any], row_schema(PLAYER_COLUMNS)]


class EpochView(BaseModel):
    epoch: int
    judged: float
    training: float | None


class LevelLosses(BaseModel):
    """What was measured in the training of a level: `judged` is the number by which epochs are compared."""

    level: int
    judged_by: str
    title: str
    unit: str
    epochs: list[EpochView]


class DataChangeView(BaseModel):
    """A level whose training data differ in kind from those of the level before it."""

    level: int
    text: str


class RunView(BaseModel):
    """Another run of the same game."""

    id: str = Field(description="Its folder.")
    settings: list[str] = Field(description="The settings that best identify the run, such as seed=0.")
    levels: int = Field(description="The number of trained levels.")


class RunSummary(BaseModel):
    """What a run is and how far it is."""

    settings: list[str] = Field(description="The settings that best identify the run, such as seed=0.")
    wanted_levels: int | None = Field(description="The number of levels that were asked for; null: unknown.")
    seconds_left: float | None = Field(description="Until the last level, while the run is in progress.")
    log: list[str] = Field(description="The last lines of the log.")
    report: str | None = Field(description="The report of the comparison: the verdict first.")


class StoryView(BaseModel):
    """The training and the results of a run, read from its files."""

    run: str
    comes_with_program: bool = Field(
        description="Whether it is about the agent that comes with the program, because the game has no run."
    )
    is_running: bool
    levels: list[int] = Field(description="The levels that have an agent.")
    losses: list[LevelLosses]
    changes: list[DataChangeView] = Field(description="Where the data that levels are trained on change in kind.")
    comparison: list[LevelRow] = Field(
        description="The rows of comparison/levels.csv, and those of strength.csv of levels that are not compared yet. "
        "The names of players in all tables are in readable form."
    )
    references: list[ReferenceRow] = Field(description="The rows of comparison/references.csv.")
    matches: list[PairRow] = Field(
        description="The rows of comparison/matches.csv about matches of levels against players that are not levels."
    )
    mistakes: list[MistakeRow] = Field(
        description="The rows of comparison/mistakes.csv, and one for each level that is not compared yet."
    )
    rated: list[RatedRow] = Field(
        description="The matches of each level against tree search with random matches, of versus_rollouts.csv."
    )
    tournament: list[PlayerRow] = Field(description="The rows of tournament/players.csv.")
    summary: RunSummary
    notes: list[str] = Field(description="What is missing, and the command that makes it.")
