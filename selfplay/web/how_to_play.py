"""The rules of a game for people who do not know it, with a picture."""

from selfplay.games.game import Game
from selfplay.games.match import Match
from selfplay.players.player import RandomPlayer
from selfplay.playing.match_description import describe
from selfplay.playing.session import Session
from selfplay.web.game_schemas import RulesView


def how_to_play(game: Game) -> RulesView:
    """The texts of the game's presentation, and the last position of its example; the start if it has none.

    Raises IllegalActionError if the example cannot be played.
    """
    presentation = game.presentation
    # Nobody plays on in the picture; between people, it would describe all legal actions.
    player = RandomPlayer(game)
    session = Session(game, (player, player), key=0)
    session.resume(Match(game).play_all(game.read_transcript(presentation.example)))
    return RulesView(
        sentences=list(presentation.how_to_play), picture=describe(session), caption=presentation.example_caption
    )
