"""The requests about a match, and their answers. The OpenAPI description of the server is made from these classes."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.dataclasses import dataclass

from selfplay.players.perfect import ValueKind
from selfplay.playing.match_description import MatchData, ValuedAction
from selfplay.playing.result_text import Result
from selfplay.web.game_schemas import OfferedPlayer

LARGEST = 16_000
"""The most characters of the moves, and so plies and squares, of a match."""
OpponentId = Annotated[str, Field(min_length=1, max_length=100, examples=["level-3", "random"])]


class People(StrEnum):
    """The seats that people hold: one of them, both, or neither, to watch two players."""

    FIRST = "first"
    SECOND = "second"
    BOTH = "both"
    NONE = "none"


class RequestBody(BaseModel):
    """The body of a request. Unknown fields are rejected."""

    model_config = ConfigDict(extra="forbid", strict=True)


class PositionRequest(RequestBody):
    """A position that was set up by hand."""

    squares: list[Literal[-1, 0, 1]] = Field(
        max_length=LARGEST, description="1: a stone of seat 0; -1: a stone of seat 1; 0: empty."
    )
    to_move: Literal[0, 1] = Field(description="The seat to move.")


Squares = Annotated[list[Annotated[int, Field(ge=0, lt=LARGEST)]], Field(max_length=LARGEST)]

Part = Literal["view", "record", "judged", "hint", "file", "dead", "territory"]
"""What a request about a match can ask for."""


class MatchRequest(RequestBody):
    """A match, described by who plays and the moves so far, and what is asked about it.

    The server keeps no matches: the same request has the same answer, unless a search or a solver needs more time.
    """

    game: str = Field(min_length=1, max_length=100, examples=["tictactoe"])
    opponent: OpponentId
    person: People = Field(
        People.FIRST,
        strict=False,
        description="Which seats people hold. both: the opponent only values the actions; none: the opponent moves "
        "second against `partner`.",
    )
    partner: OpponentId | None = Field(
        default=None, description="Who moves first if no person plays; null: the opponent plays against itself."
    )
    adviser: OpponentId | None = Field(
        default=None, description="Who values the actions; null: the players themselves, or the opponent for people."
    )
    seed: int = Field(
        default=0, ge=0, lt=2**53, description="The number of its stream of random numbers, drawn for each new match."
    )
    moves: str = Field(
        default="",
        max_length=LARGEST,
        description="The actions so far as text, such as f5d6c3, or a file of the match.",
    )
    position: PositionRequest | None = Field(default=None, description="Where the match begins; null: at the start.")
    is_practice: bool = Field(default=False, description="Whether its end must not count.")
    values_all: bool = Field(
        default=False,
        description="Whether the judge values every action in the position that is shown; else, where tree search "
        "estimates values, the best action and that of the match.",
    )
    dead: Squares | None = Field(
        default=None,
        description="Where both players have passed and stones can be dead: the squares of the dead ones, which are "
        "taken off the board. null: people have not agreed on them, and the match is not over.",
    )
    ended: Literal["resigned", "drawn"] | None = Field(
        default=None,
        description="How people ended the match before its rules do: resigned: the only person, or the one to move, "
        "has given up; drawn: both sides have agreed on a draw.",
    )
    is_agreed: bool = Field(default=True, description="Whether people have agreed on `dead`, which ends the match.")
    advance: bool = Field(
        default=False,
        description="Whether the opponent then moves until a person has to choose; if no person plays, one player "
        "moves once.",
    )
    stand_in: bool = Field(
        default=False,
        description="Whether a simple player that is always ready moves in place of the players, whose loading can "
        "take long (`preparation`). Such a match is practice.",
    )
    stood_in: list[Annotated[int, Field(ge=0, le=LARGEST)]] = Field(
        default=[], max_length=LARGEST, description="The numbers of the plies that it has played, from the answers."
    )
    learn: bool = Field(
        default=False,
        description="Whether players that learn shall learn from the match, which must be over. They learn from each "
        "match once.",
    )
    ply: int | None = Field(
        default=None, ge=0, le=LARGEST, description="Show the position after this number of plies; null: after all."
    )
    valued: int | None = Field(
        default=None,
        ge=0,
        le=LARGEST,
        description="Value the legal actions in the position that is shown, and the plies from this number on, as "
        "many as the time of a reply allows; null: nothing is valued.",
    )
    show: list[Part] = Field(
        default=["view"],
        max_length=7,
        description="Which parts of the answer are wanted: `match` (view) and others. With `record`, a match is shown "
        "up to the first move that cannot be played; without it, such a match is refused.",
    )
    seconds: float = Field(
        default=0.0,
        ge=0,
        le=60,
        description="How long `judged` waits for values that are not known, within `search_seconds`.",
    )

    @property
    def asks_players(self) -> bool:
        """Whether players must be loaded for the answer."""
        others_move = self.advance and self.person is not People.BOTH and not self.stand_in
        return others_move or self.learn or self.valued is not None


class CountView(BaseModel):
    """The count of a match in which both have passed, before people have agreed on it."""

    dead: list[int] = Field(description="The squares of the stones that are counted as dead.")
    result: Result = Field(description="The result without these stones.")
    owners: list[int] = Field(description="1 for a square that then counts for seat 0, -1 for seat 1, 0 for neither.")


class ErrorView(BaseModel):
    """An error as a sentence."""

    error: str
    game: str | None = Field(default=None, description="That of the match, if it is of another game or other options.")


@dataclass(frozen=True, kw_only=True)
class ServedMatch(MatchData):
    """A match in which people or opponents play. Seat 0 moves first, seat 1 second."""

    opponent: OfferedPlayer
    people: People
    judge: OfferedPlayer = Field(
        description="Who values actions of which the exact value is not known, in hints and after the match."
    )
    advisers: list[OfferedPlayer] = Field(description="Who values the actions of each seat during the match.")
    seats: list[OfferedPlayer | None] = Field(description="Who holds each seat; null: a person.")
    count: CountView | None = Field(
        description="Where both have passed and people have to agree on dead stones, which ends the match; else null."
    )
    position: PositionRequest | None = Field(description="The position in which it began; null: the start of the game.")
    opening: str | None = Field(description="The name of its opening; null if it has none.")
    stood_in: list[int] = Field(description="The numbers of the plies that a simple player has played for others.")


class MatchFileView(BaseModel):
    """A match as a file."""

    name: str
    text: str


class RecordView(BaseModel):
    """What the text of a match says besides its moves."""

    players: list[str] = Field(description="The names of the players of both seats; empty where there is none.")
    result: str | None = Field(description="Its result in words, where the rules do not end the match; null: none.")
    comments: dict[int, str] = Field(description="Comments, by the number of plies before the position.")
    variations: int = Field(description="The number of other lines of play, which are left out.")
    broken: str | None = Field(description="Why the match breaks off: a move that cannot be played; null: it does not.")


class HintView(BaseModel):
    """The best action that is known, whoever plays the match."""

    action: int
    text: str
    value: float
    words: str | None = Field(description='The value in words if it is exact, such as "wins in 8"; null: an estimate.')
    in_points: bool = Field(description="Whether the value is a number of points, estimated or exact.")
    source: str = Field(description="Who values it.")
    line: list[str] = Field(
        description="The action and those that follow if both players take the best action by the same values."
    )
    line_names: list[str] = Field(description="What people read of them.")
    line_squares: list[list[int]] = Field(
        description="For each of them, the square on which it puts a stone or a mark, after that which a stone leaves; "
        "none if it has no square."
    )


class JudgedView(BaseModel):
    """The best known value of each legal action: if both players play perfectly afterwards, or an estimate of this."""

    kind: ValueKind | None = Field(
        description="What the values are. results: 1 won, 0 drawn, -1 lost. scores: above 0 won, 0 drawn, below 0 "
        "lost; a sooner win and a later loss have higher scores. points: the points by which the match is won "
        "(Othello: discs). null: the match is over."
    )
    is_exact: bool = Field(description="Whether they are exact rather than estimates.")
    source: str = Field(description="Who values the actions.")
    legal: list[ValuedAction] = Field(description="The legal actions.")
    is_complete: bool = Field(description="Whether no action is still being solved. Ask again for those that are.")


class MatchAnswer(BaseModel):
    """The parts that were asked for; null for the others, and for those that are late."""

    match: ServedMatch | None = None
    record: RecordView | None = None
    judged: JudgedView | None = None
    hint: HintView | None = None
    file: MatchFileView | None = None
    dead: list[int] | None = Field(
        default=None, description="The squares of the stones that are proposed as dead, where `count` is not null."
    )
    territory: list[float] | None = Field(
        default=None,
        description="By square of the position that is shown, who can be expected to own it at the end, as random "
        "matches from it end: from 1, always seat 0, to -1, always seat 1.",
    )
    late: list[Part] = Field(
        default_factory=list,
        description="The parts for which the time of the reply (`search_seconds`) did not suffice. Ask for them again.",
    )
