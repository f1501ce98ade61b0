"""The answers of the server about games: what they are, who can be played against, and what is known of opponents."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field
from pydantic.dataclasses import dataclass

from selfplay.players.perfect import ValueKind
from selfplay.playing.match_description import MatchData


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
    mark_signs: list[str] = Field(description="The letter of each mark.")
    captures_stones: bool = Field(description="Whether the stones that a player has captured are counted.")
    line_length: int | None = Field(description="The number of stones in a line that win; null if no line wins.")
    line_is_exact: bool = Field(description="Whether longer lines do not win.")
    is_rhombus: bool = Field(
        description="Whether the board is a rhombus of hexagons: each row is half a cell further to the right than the "
        "row above. Its edges belong to the players if all cells are used."
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
    way: Annotated[str, Field(exclude=True)] = ""
    """What changes how it plays besides the file, such as the temperature of a strength."""
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
