"""The console's command graph: the known boards ahead, for players that keep an experience graph."""

from selfplay.errors import NotNowError, SettingError, StageError
from selfplay.players.capabilities import KeepsExperience
from selfplay.playing.session import Session
from selfplay.settings.experience import PictureSettings


def draw_graph(session: Session, picture: PictureSettings | None) -> str:
    """Draw the known boards that follow the current one, and return what was drawn, in one line.

    Raises NotNowError if there is nothing to draw.
    """
    # Imports matplotlib, which takes longer than starting the console.
    from selfplay.figures.experience_graph import boards_ahead, draw_boards_ahead

    keepers = [player.as_a(KeepsExperience) for player in session.players if player is not None]
    store = next((keeper.store for keeper in keepers if keeper is not None), None)
    if store is None or picture is None:
        raise NotNowError("no player here keeps an experience graph")
    squares = tuple(session.game.squares(session.state)[0].tolist())
    ahead = boards_ahead(store, squares, picture)
    if ahead is None:
        raise NotNowError("this board is not in the experience graph yet")
    try:
        draw_boards_ahead(ahead, picture.file)
    except (SettingError, StageError) as error:
        # The match continues without the picture.
        raise NotNowError(str(error)) from error
    return f"from this board on, {ahead.counts()}"
