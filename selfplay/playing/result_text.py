"""The result of a finished match as sentences."""

from selfplay.games.game import Game
from selfplay.games.state import State


def result_text(game: Game, state: State, winner: int | None, person: int | None = None) -> str:
    """The result, and points, the lead in points or empty squares where they count.

    Args:
        state: the end (B = 1), which a player may have brought about by giving up.
        winner: the winning seat; None after a draw.
        person: the seat of the person who is addressed; None: nobody.
    """
    if winner is None:
        return " ".join(filter(None, ["A draw.", _points_text(game, state)]))
    name = game.presentation.player_names[winner]
    said = f"{name[:1].upper()}{name[1:]} wins." if person is None else "You win." if person == winner else "You lose."
    return " ".join(filter(None, [said, _points_text(game, state), _empty_squares_text(game, state, winner)]))


def _points_text(game: Game, state: State) -> str:
    """The points of both players, or the lead if only this is known; empty if a player has given up."""
    if game.rules.margin is None or not _is_end(game, state):
        return ""
    show = game.presentation
    if (points := points_of(game, state)) is not None:
        (first, second), (one, other) = show.player_names, points
        included = f", with komi {game.komi:g}" if game.komi else ""
        return f"{show.point_name.capitalize()}: {first} {one:g}, {second} {other:g}{included}."
    lead = lead_of(game, state)
    return f"The lead in {show.point_name} is {abs(lead):g}." if lead else ""


def points_of(game: Game, state: State) -> tuple[float, float] | None:
    """The points of player 0 and of player 1 in a match (B = 1), with komi; None if only a lead is known, or none."""
    if (points := game.points(state)) is not None:
        first, second = points[0].tolist()
        return first, second + (game.komi or 0.0)
    if game.rules.owned is None or not bool(state.terminated):
        return None
    owners = game.owners(state)
    return float((owners == 1).sum()), int((owners == -1).sum()) + (game.komi or 0.0)


def lead_of(game: Game, state: State) -> float | None:
    """By how many points player 0 leads in a match (B = 1) as it stands; None if no points count."""
    return None if game.rules.margin is None else float(game.score(state))


def _empty_squares_text(game: Game, state: State, winner: int) -> str:
    """To whom exact values count the squares that are empty at the end, where they do; empty if there are none.

    Empty too if a player has given up.
    """
    squares = game.squares(state)[0].tolist() if game.turning_rules is not None and _is_end(game, state) else []
    if not (count := squares.count(0)):
        return ""
    own, other = (squares.count(1 - 2 * seat) for seat in (winner, 1 - winner))
    empty = "the empty square" if count == 1 else f"the {count} empty squares"
    return f"Exact values count {empty} for the winner: {own + count} to {other}."


def _is_end(game: Game, state: State) -> bool:
    """Whether the rules end the match there; False if a player has given up."""
    return bool(game.state_at(state.position).terminated)
