"""The requests and answers of the server. Its OpenAPI description is made from these classes."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.dataclasses import dataclass

from selfplay.players.solver_player import ValueKind
from selfplay.playing.match_description import MatchDescription

SeatOfPerson = Literal["first", "second"]

OpponentId = Annotated[str, Field(min_length=1, max_length=100, examples=["level-3", "random"])]


class RequestBody(BaseModel):
    """The body of a request. Unknown fields are rejected."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NewMatchRequest(RequestBody):
    """A new match."""

    game: str = Field(min_length=1, max_length=100, examples=["tictactoe"])
    opponent: OpponentId
    person: SeatOfPerson = Field("first", description="Whether the person moves first or second.")


class ActionRequest(RequestBody):
    """An action of the person."""

    action: int = Field(ge=0, le=1000)
    ply: int = Field(
        ge=0,
        le=1000,
        description="The number of plies that the page shows; rejected if the match has another number of plies.",
    )


class NextMatchRequest(RequestBody):
    """The next match against the same opponent."""

    person: SeatOfPerson = "first"


class TakeOverRequest(RequestBody):
    """Another opponent for the current match."""

    opponent: OpponentId


class ErrorView(BaseModel):
    """An error as a sentence."""

    error: str


class GameView(BaseModel):
    """A game that can be played."""

    name: str
    title: str
    aim: str
    action_help: str
    rows: int | None = Field(description="The size of the board; null in a game without a board.")
    columns: int | None
    seat_names: list[str] = Field(description="The names of the player who moves first and of the other.")
    stone_colours: list[str] | None
    counts_stones: bool = Field(description="Whether the number of stones decides the match.")
    square_names: list[str]
    line_label: str | None = Field(description="The meaning of the number, in games whose positions are numbers.")
    line_end: int | None
    is_default: bool


class OpponentView(BaseModel):
    """An opponent that can be chosen."""

    id: str
    kind: str = Field(description="The kind of player: level, table, experience, search, random, perfect, ...")
    label: str
    about: str
    group: str | None = Field(
        default=None, description="The name of the group of numbered opponents that it belongs to."
    )
    number: int | None = Field(
        default=None, description="Its number in the group: the level, or the depth of a search."
    )
    is_default: bool = Field(default=False, description="Whether it is selected at first in its group.")
    neutral: float = Field(default=0.0, description="The value of an even match.")
    span: float | None = Field(
        default=1.0, description="The largest difference from the neutral value; null: unlimited."
    )
    is_slow: bool = Field(default=False, description="Whether it may take seconds to reply.")
    learns: bool = Field(default=False, description="Whether it learns from its matches.")


class OpponentsView(BaseModel):
    """The opponents in a game."""

    run: str = Field(description="The folder of the run whose levels and tables are listed.")
    opponents: list[OpponentView]
    has_perfect_play: bool = Field(description="Whether the result of each action with perfect play is known.")
    notes: list[str] = Field(description="What is missing, and the command that makes it.")


class ProofView(BaseModel):
    """What has been proved about an opponent."""

    is_unbeatable: bool | None = Field(description="Whether it cannot lose in either seat; null: unknown.")
    unbeatable_seats: list[int] | None = Field(
        description="The seats in which it cannot lose: 0 moves first, 1 moves second; null: unknown."
    )
    text: str


@dataclass(frozen=True, kw_only=True)
class MatchView(MatchDescription):
    """A match of a person against an opponent. Seat 0 moves first, seat 1 second."""

    id: str
    opponent: OpponentView
    person_seat: int


class HintView(BaseModel):
    """A suggested action."""

    action: int
    text: str
    square: int | None
    value: float
    words: str | None = Field(description='The value in words if it is exact, such as "wins in 8"; null: an estimate.')
    source: str


class PerfectView(BaseModel):
    """The value of each legal action if both players play perfectly afterwards."""

    kind: ValueKind | None = Field(
        description="What the values are. results: 1 won, 0 drawn, -1 lost. scores: above 0 won, 0 drawn, below 0 "
        "lost; a sooner win and a later loss have higher scores. points: the points by which the match is won "
        "(Othello: discs). null: the game is too large to solve, or the match is over."
    )
    values: list[float | None] | None = Field(
        description="In the order of the legal actions; null for an action that is still being solved."
    )
    words: list[str | None] | None = Field(description='The values in words, such as "wins in 8" or "loses by 6".')
    is_complete: bool = Field(description="Whether all values are known. Ask again for those that are not.")


class EpochView(BaseModel):
    epoch: int
    training: float
    validation: float
    is_champion: bool


class LevelLosses(BaseModel):
    """The losses in the training of a level."""

    level: int
    epochs: list[EpochView]


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
    losing_lines_first: str
    losing_lines_second: str
    lost_first: str = Field(description="The lines lost moving first in readable form: 3 of 59.")
    lost_second: str
    optimal: float


class LevelRow(BaseModel):
    """A row of comparison/levels.csv."""

    level: int
    previous: ResultsView | None
    random: ResultsView | None
    exact: ExactView | None
    rating: float


class RatedPlayerView(BaseModel):
    """A row of tournament/players.csv or comparison/references.csv."""

    player: str
    rating: float
    low: float
    high: float


class StoryView(BaseModel):
    """The training and the results of a run, read from its files."""

    run: str
    game: str
    is_running: bool
    levels: list[int] = Field(description="The trained levels.")
    losses: list[LevelLosses]
    comparison: list[LevelRow] | None
    references: list[RatedPlayerView] | None = Field(
        description="The players that the levels were compared with, in a game too large to enumerate."
    )
    tournament: list[RatedPlayerView] | None
    notes: list[str] = Field(description="What is missing, and the command that makes it.")
