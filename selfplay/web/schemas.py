"""What goes in and out of the server, as its OpenAPI description shows it."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.dataclasses import dataclass

from selfplay.playing.match_description import MatchDescription

SeatOfPerson = Literal["first", "second"]

OpponentId = Annotated[str, Field(min_length=1, max_length=100, examples=["level-3", "random"])]

Kind = Literal["random", "level", "table", "experience", "search", "greedy", "perfect"]


class RequestBody(BaseModel):
    """A body of a request; it holds what is named here and nothing else."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NewMatchRequest(RequestBody):
    """Whom to play against, at what."""

    game: str = Field(min_length=1, max_length=40, examples=["tictactoe"])
    opponent: OpponentId
    person: SeatOfPerson = Field("first", description="Whether the person moves first or second.")


class ActionRequest(RequestBody):
    """What the person does."""

    action: int = Field(ge=0, le=1000)
    ply: int = Field(
        ge=0,
        le=1000,
        description="The number of plies that the person saw: a page that shows an older board is refused.",
    )


class NextMatchRequest(RequestBody):
    """The next match against the same opponent."""

    person: SeatOfPerson = "first"


class TakeOverRequest(RequestBody):
    """Who goes on in the opponent's place."""

    opponent: OpponentId


class ErrorView(BaseModel):
    """What went wrong, in a sentence."""

    error: str


class GameView(BaseModel):
    """A game on offer."""

    name: str
    title: str
    aim: str
    action_help: str
    rows: int | None = Field(description="null: positions are no boards.")
    columns: int | None
    seat_names: list[str] = Field(description="What who moves first, and who moves second, is called.")
    stone_colours: list[str] | None
    counts_stones: bool = Field(description="Whether stones are points.")
    square_names: list[str]
    line_label: str | None = Field(description="What the number is that a position is, if it is one.")
    line_end: int | None
    is_default: bool


class OpponentView(BaseModel):
    """Somebody to play against."""

    id: str
    kind: Kind
    label: str
    about: str
    number: int | None = Field(description="The level, or the plies that a search looks ahead.")
    neutral: float = Field(description="The value of an even match.")
    span: float | None = Field(description="How far values lie from it at most; null: without bounds.")
    is_slow: bool


class OpponentsView(BaseModel):
    """Who is there to play against."""

    run: str = Field(description="The folder of the run that levels and tables were looked for in.")
    opponents: list[OpponentView]
    notes: list[str] = Field(description="What is missing, and how to make it.")


class ProofView(BaseModel):
    """What is certain about an opponent."""

    is_unbeatable: bool | None = Field(description="Whether no line is lost in either seat; null: not known.")
    unbeatable_seats: list[int] | None = Field(
        description="The seats in which no line is lost, 0 moving first and 1 moving second; null: not known."
    )
    text: str


@dataclass(frozen=True, kw_only=True)
class MatchView(MatchDescription):
    """A match of a person against an opponent. Seat 0 moves first, seat 1 second."""

    id: str
    opponent: OpponentView
    person_seat: int


class HintView(BaseModel):
    """An action to consider."""

    action: int
    text: str
    square: int | None
    value: float
    source: str


class PerfectView(BaseModel):
    """The result of each legal action when both play perfectly afterwards."""

    values: list[float] | None = Field(
        description="In the order of the legal actions: 1 won, 0 drawn, -1 lost. null: the game is too large."
    )


class EpochView(BaseModel):
    epoch: int
    training: float
    validation: float
    is_champion: bool


class LevelLosses(BaseModel):
    """The losses of the training that made a level."""

    level: int
    epochs: list[EpochView]


class ResultsView(BaseModel):
    """Matches counted for the level."""

    wins: int
    draws: int
    losses: int


class ExactView(BaseModel):
    """What is certain about a level: against the random player, and with every reply tried."""

    win: float
    draw: float
    loss: float
    losing_lines_first: str
    losing_lines_second: str
    lost_first: str = Field(description="The lines lost moving first as people read them, 3 of 59, also large counts.")
    lost_second: str
    optimal: float


class LevelRow(BaseModel):
    """A row of comparison/levels.csv."""

    level: int
    previous: ResultsView | None
    random: ResultsView | None
    exact: ExactView | None
    rating: float


class RatedPlayer(BaseModel):
    """A row of tournament/players.csv or comparison/references.csv."""

    player: str
    rating: float
    low: float
    high: float


class StoryView(BaseModel):
    """What the files of a run tell."""

    run: str
    game: str
    is_running: bool
    levels: list[int] = Field(description="The trained levels.")
    losses: list[LevelLosses]
    comparison: list[LevelRow] | None
    references: list[RatedPlayer] | None = Field(description="Whom levels met, in a game too large to enumerate.")
    tournament: list[RatedPlayer] | None
    notes: list[str] = Field(description="What is missing, and how to make it.")
