"""Matches in which a controller of the Go Text Protocol says who moves, also after their end."""

from selfplay.errors import IllegalActionError, NotNowError, SettingError
from selfplay.games import Game
from selfplay.games.match import Match
from selfplay.protocols.gtp.notation import COLOUR_NAMES


def played_by(match: Match, seat: int, action: int | None) -> Match:
    """The match after an action of `seat`. A pass after the end has no effect, and in a game without passes, None is
    one; a stone continues the match, where the position allows it.

    Raises IllegalActionError if it is not legal, and NotNowError if it is the opponent's turn.
    """
    if match.is_over and action != match.game.any_pass:
        match = continued_by(match, seat)
    match = with_turn_of(match, seat)
    return match if match.is_over or action is None else match.play(action)


def with_turn_of(match: Match, seat: int) -> Match:
    """The match in which the opponent of `seat` has passed if it was its turn. Raises NotNowError if it cannot pass."""
    passing = match.game.any_pass
    if match.is_over or match.to_move == seat:
        return match
    if passing is not None and passing in match.legal_actions():
        return match.play(passing)
    # A controller that lets the colours take turns does not know games in which a player moves several times.
    is_again = bool(match.actions) and int(match.states[-2].current_player) == match.to_move
    raise NotNowError(f"it is {COLOUR_NAMES[match.to_move]}'s turn{' again' if is_again else ''}")


def continued_by(match: Match, seat: int) -> Match:
    """A match that has ended, such as by passes, in which `seat` moves on. Raises IllegalActionError.

    The passes that ended it are taken back, as far as that makes it the turn of `seat`, so that the record of the match
    is still whole. If that is not possible, it goes on from the board as it stands.
    """
    passing, number = match.game.any_pass, len(match.actions)
    if passing is not None and match.actions[-2:] == (passing, passing):
        for ply in (number - 2, number - 1):
            if int(match.states[ply].current_player) == seat:
                return match.before(ply)
    try:
        return Match(match.game, match.game.resumed(match.state, seat))
    except SettingError as error:
        raise IllegalActionError(str(error)) from error


def with_parameters_of(match: Match, game: Game) -> Match:
    """The same actions from the same board in a game with another komi. Raises IllegalActionError."""
    return Match(game, game.set_up_as_in(match.game, match.start)).play_all(match.actions)
