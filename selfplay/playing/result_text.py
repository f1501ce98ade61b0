"""The result of a finished match: what counts, and as sentences."""

from dataclasses import dataclass

from selfplay.games.game import Game
from selfplay.games.match import Match
from selfplay.games.state import State


@dataclass(frozen=True)
class Result:
    """How a match has ended, or would end. The points and the lead are those of `points_of` and `lead_of`."""

    winner: int | None
    """The winning seat; None after a draw."""
    points: tuple[float, float] | None
    lead: float | None
    komi: float | None
    """The points in it that player 1 gets from the start; None if the game has no komi."""


def result_of(match: Match) -> Result:
    """The result of a match that is over. If a player has given up, no points count."""
    game, state = match.game, match.state
    if not bool(game.state_at(state.position).terminated):
        return Result(match.winner, None, None, None)
    return Result(match.winner, points_of(game, state), lead_of(game, state), game.komi_in(state))


def result_text(game: Game, result: Result, person: int | None = None) -> str:
    """The result, and the points or the lead in points.

    person: the seat of the person who is addressed; None: nobody.
    """
    winner = result.winner
    if winner is None:
        said = "A draw."
    elif person is None:
        name = game.presentation.player_names[winner]
        said = f"{name[:1].upper()}{name[1:]} wins."
    else:
        said = "You win." if person == winner else "You lose."
    return " ".join(filter(None, [said, _points_text(game, result)]))


def _points_text(game: Game, result: Result) -> str:
    """The points of both players, or the lead if only this is known."""
    show = game.presentation
    if result.points is not None:
        (first, second), (one, other) = show.player_names, result.points
        included = f", with komi {result.komi:g}" if result.komi else ""
        return f"{show.point_name.capitalize()}: {first} {one:g}, {second} {other:g}{included}."
    return f"The lead in {show.point_name} is {abs(result.lead):g}." if result.lead else ""


def points_of(game: Game, state: State) -> tuple[float, float] | None:
    """The points of player 0 and of player 1 in a match (B = 1), with komi; None if only a lead is known, or none."""
    if (points := game.points(state)) is not None:
        first, second = points[0].tolist()
        return first, second + (game.komi_in(state) or 0.0)
    if game.rules.owned is None or not bool(state.terminated):
        return None
    owners = game.owners(state)
    return float((owners == 1).sum()), int((owners == -1).sum()) + (game.komi_in(state) or 0.0)


def lead_of(game: Game, state: State) -> float | None:
    """By how many points player 0 leads in a match (B = 1) as it stands; None if no points count."""
    return None if game.rules.margin is None else float(game.score(state))
