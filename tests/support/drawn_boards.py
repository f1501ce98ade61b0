"""Othello boards drawn in rows."""

from selfplay.games import make_game
from selfplay.games.feature_kernels import feature_values


def features_of(drawing):
    """The features of a board drawn in rows: X the player to move, O the opponent, - empty."""
    rows = drawing.split()
    game = make_game({8: "othello", 6: "othello_6x6", 4: "othello_4x4"}[len(rows)])
    values = feature_values(game, game.read_board("".join(rows), "X"))[0].tolist()
    return dict(zip(game.features.names, values, strict=True))
