"""The requests and answers of the server. Its OpenAPI description is made from these classes."""

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.dataclasses import dataclass

from selfplay.players.perfect import ValueKind
from selfplay.playing.match_description import MatchData, ValuedAction
from selfplay.playing.result_text import Result

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
        max_length=400, description="1: a stone of seat 0; -1: a stone of seat 1; 0: empty."
    )
    to_move: Literal[0, 1] = Field(description="The seat to move.")


Squares = Annotated[list[Annotated[int, Field(ge=0, lt=400)]], Field(max_length=400)]

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
        default="", max_length=16_000, description="The actions so far as text, such as f5d6c3, or a file of the match."
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
    stood_in: list[Annotated[int, Field(ge=0, le=1000)]] = Field(
        default=[], max_length=1000, description="The numbers of the plies that it has played, from the answers."
    )
    learn: bool = Field(
        default=False,
        description="Whether players that learn shall learn from the match, which must be over. They learn from each "
        "match once.",
    )
    ply: int | None = Field(
        default=None, ge=0, le=1000, description="Show the position after this number of plies; null: after all."
    )
    valued: int | None = Field(
        default=None,
        ge=0,
        le=1000,
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


class GameOption(BaseModel):
    """A parameter of a game that people choose for a match."""

    name: str
    label: str
    value: float = Field(description="Its value in this game; 1 or 0 if it is true or false.")
    usual: float = Field(description="Its value in the game of the board.")
    is_flag: bool = Field(description="Whether it is true or false.")


class GameView(BaseModel):
    """A game that can be played."""

    name: str = Field(description="That of the board, and _name=value for each option that is not as usual.")
    board: str = Field(description="The name of the game with this board and the usual options.")
    options: list[GameOption]
    handicaps: dict[int, list[int]] = Field(
        description="By number, the squares of the handicap stones of seat 0, after which seat 1 moves; empty: none."
    )
    title: str
    aim: str
    action_help: str
    rows: int | None = Field(description="The size of the board; null in a game without a board.")
    columns: int | None
    seat_names: list[str] = Field(description="The names of the player who moves first and of the other.")
    stone_colours: list[str] | None
    square_names: list[str]
    moves_stones: bool = Field(
        description="Whether an action with two squares moves a stone: it is clicked, then its target."
    )
    square_marks: list[str] = Field(description="What a mark says of its square, such as king.")
    captures_stones: bool = Field(description="Whether the stones that a player has captured are counted.")
    line_length: int | None = Field(description="The number of stones in a line that win; null if no line wins.")
    line_is_exact: bool = Field(description="Whether longer lines do not win.")
    is_rhombus: bool = Field(
        description="Whether the board is a rhombus of hexagons: each row is half a cell further to the right than the "
        "row above."
    )
    is_on_crossings: bool = Field(description="Whether stones stand on the crossings of lines rather than in squares.")
    star_points: list[int] = Field(description="The crossings that are marked by a dot.")
    joined_squares: list[tuple[int, int]] = Field(
        description="Pairs of squares that a line joins; empty: the lines fill the board."
    )
    unused_squares: list[int] = Field(description="The squares that do not belong to the board.")
    why_illegal: str = Field(
        description="Why a stone may not be placed on an empty square, apart from ko; empty: every one is legal."
    )
    draws_lines: bool = Field(
        description="Whether squares in even rows and columns, counted from 0, are dots, those in odd ones boxes, and "
        "the others the places of lines, which are drawn where there is a mark."
    )
    may_move_again: bool = Field(description="Whether the same player may move several times in a row.")
    drops_stones: bool = Field(description="Whether a click anywhere in a column drops a stone into it.")
    turns_for_second: bool = Field(
        description="Whether the board is turned by half a turn for a person who moves second."
    )
    can_be_set_up: bool = Field(description="Whether a person can set up a position.")
    has_territory: bool = Field(description="Whether squares belong to players, see `territory` of an answer.")
    point_name: str = Field(description="What points are called, such as discs.")
    lead_counts_from: float = Field(
        description="The share of the squares that have stones when the lead begins to mean something; until then, and "
        "before the match is over, it is not shown."
    )
    grades: str = Field(description="The thresholds at which a move is an inaccuracy, a mistake or a blunder.")
    grade_losses: dict[ValueKind, list[float]] = Field(
        description="By the kind of values: the smallest loss that is an inaccuracy, a mistake and a blunder; results "
        "are shares of the difference between a draw and a win."
    )
    line_label: str | None = Field(description="The meaning of the number, in games whose positions are numbers.")
    line_end: int | None
    is_default: bool


@dataclass(frozen=True)
class OfferedPlayer:
    """A player that a person can choose as the opponent. The page is not sent the fields that are excluded."""

    id: str
    kind: Annotated[str, Field(description="The kind of player: level, table, search, random, perfect, ...")]
    label: str
    about: str
    make: Annotated[Callable[[], Any], Field(exclude=True)]
    file: Path | None = Field(default=None, exclude=True)
    """The file from which the player is loaded, if there is one."""
    has_fixed_values: bool = Field(default=False, exclude=True)
    """Whether it always takes its best action, by values that depend only on the position and can be cached."""
    group: str | None = Field(
        default=None, description="The name of the group of numbered opponents that it belongs to."
    )
    number: int | None = Field(default=None, exclude=True)
    """Its number in the group: the level, or the depth of a search."""
    is_default: bool = Field(default=False, description="Whether it is selected at first in its group.")
    neutral: float = Field(default=0.0, description="The value of an even match.")
    span: float | None = Field(
        default=1.0, description="The largest difference from the neutral value; null: unlimited."
    )
    estimates: bool = Field(
        default=True, description="Whether its values of actions are estimates of the outcome of the match."
    )
    values_hold: str = Field(default="an equally strong player", description="Against whom its values are expected.")
    is_slow: bool = Field(default=False, exclude=True)
    """Whether it may take seconds to reply."""
    is_kept: bool = Field(default=False, exclude=True)
    """Whether a slow player is made once and serves one request after another, because making it may be slow, too."""
    learns: bool = Field(default=False, description="Whether it learns from its matches.")


class OpponentsView(BaseModel):
    """The opponents in a game."""

    opponents: list[OfferedPlayer]
    strengths: dict[str, str] = Field(description="The ids of opponents by words for their strength, weakest first.")
    default: str = Field(description="The id of the opponent that is selected at first.")
    notes: list[str] = Field(description="What is missing, and the command that makes it.")


class RulesView(BaseModel):
    """The rules of a game in sentences, with a picture. They stand between the game's `aim` and `action_help`."""

    sentences: list[str] = Field(description="How to move, and how a match ends; empty if the game does not say.")
    picture: MatchData = Field(description="The match whose last position is shown; at its start without plies.")
    caption: str = Field(description="What the picture shows.")


class PreparationView(BaseModel):
    """How far an opponent is that a request has asked for. It is loaded and, at its first use, compiled."""

    is_ready: bool = Field(description="Whether it replies without being loaded or compiled.")
    is_loading: bool = Field(description="Whether it is being loaded; else it waits for others, if it is not ready.")
    compiled: int = Field(description="How many of `functions` are compiled.")
    functions: int = Field(description="How many functions are needed, as far as known; 0: none is compiled so far.")
    seconds: float = Field(description="For how long it is being loaded.")


class ProofView(BaseModel):
    """What has been proved about an opponent."""

    is_unbeatable: bool | None = Field(description="Whether it cannot lose in either seat; null: unknown.")
    unbeatable_seats: list[int] | None = Field(
        description="The seats in which it cannot lose: 0 moves first, 1 moves second; null: unknown."
    )
    text: str


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
