"""The answers of the server about the story of a run."""

from pydantic import BaseModel, Field

from selfplay.grading.proof import Lines


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


class ResultsView(BaseModel):
    """Matches that a level won, drew and lost."""

    wins: int
    draws: int
    losses: int


class ExactView(BaseModel):
    """Exact results of a level: against the random player, and against an opponent that tries every reply."""

    win: float
    draw: float
    loss: float
    lines: tuple[Lines, Lines] = Field(description="In each seat, the lines lost and all lines of play.")
    lost_first: str = Field(description="The lines lost moving first in readable form: 3 of 59.")
    lost_second: str
    optimal: float


class RunSummary(BaseModel):
    """What a run is and how far it is."""

    settings: list[str] = Field(description="The settings that best identify the run, such as seed=0.")
    wanted_levels: int | None = Field(description="The number of levels that were asked for; null: unknown.")
    seconds_left: float | None = Field(description="Until the last level, while the run is in progress.")
    log: list[str] = Field(description="The last lines of the log.")
    report: str | None = Field(description="The report of the comparison: the verdict first.")


class SolvedView(BaseModel):
    """How a player acts in positions with exact values."""

    optimal: float = Field(description="The share of positions in which its action is a best one.")
    points_lost: float | None = Field(description="How far its action is below the best one on average; null: unknown.")
    mistakes: float | None = Field(exclude=True)
    """The share in which it gives a win or a draw away; None: not measured."""


class MistakeRow(BaseModel):
    """A row of comparison/mistakes.csv, a player in a group of positions; or a level that was not compared yet."""

    level: int | None
    player: str = Field(description="Its name in readable form.")
    group: str
    positions: int | None = Field(None, description="null: not counted.")
    mistake_rate: float
    perfect_rate: float
    points_lost: float


class PairRow(BaseModel):
    """Matches of a level against a reference player, from comparison/matches.csv."""

    level: int
    opponent: str = Field(description="Its name in readable form.")
    results: ResultsView


class LevelRow(BaseModel):
    """A row of comparison/levels.csv, or of strength.csv of a level that has not been compared yet."""

    level: int
    previous: ResultsView | None
    random: ResultsView | None
    exact: ExactView | None
    solved: SolvedView | None
    rating: float | None = Field(description="null until the levels have been compared.")


class RatedPlayerView(BaseModel):
    """A row of tournament/players.csv or comparison/references.csv."""

    player: str = Field(description="Its name in readable form.")
    rating: float
    low: float
    high: float
    solved: SolvedView | None = None


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
    comparison: list[LevelRow] | None
    references: list[RatedPlayerView] | None = Field(
        description="The players that the levels were compared with, in a game too large to enumerate."
    )
    matches: list[PairRow] | None = Field(description="The matches of the levels against these players.")
    mistakes: list[MistakeRow] | None = Field(description="Judged by an exact solver, in groups of positions.")
    tournament: list[RatedPlayerView] | None
    summary: RunSummary
    notes: list[str] = Field(description="What is missing, and the command that makes it.")
