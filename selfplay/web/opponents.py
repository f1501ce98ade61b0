"""The games and the opponents that the page offers: levels and tables of a run, searches, and players without a file.

A request can only choose from these lists; no path and no name of a player is ever taken from a request.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from selfplay.compute.made_once import MadeOnce
from selfplay.games import Game, game_names, make_game
from selfplay.named_players.names import PLAYERS, parse_name
from selfplay.named_players.strengths import STRENGTHS
from selfplay.names_of_games import parts_of_game_name
from selfplay.players.estimates import THRESHOLDS, thresholds_text
from selfplay.protocols.gtp.handicap import handicaps
from selfplay.runs.run_folder import RunFolder, no_levels_text
from selfplay.settings.playing import WebSettings
from selfplay.web.game_schemas import GameOption, GameView, OfferedPlayer, OpponentsView
from selfplay.web.loaded_players import NotFoundError
from selfplay.web.offers import offered_players

STRENGTH_WORDS = {strength.capitalize(): strength for strength in STRENGTHS} | {"Perfect": "perfect"}
"""Words for strengths, the weakest first, and the ids of the opponents for which they stand."""


MOST_OTHERS = 20
"""Number of games with other options that are kept."""


def name_of_listed(name: str) -> str:
    """The name of a game without its options."""
    return name.partition("_" + next(iter(parts_of_game_name(name).parameters), "=") + "=")[0]


class OpponentCatalog:
    """The opponents in every game. Methods may be called from several threads."""

    def __init__(self, settings: WebSettings) -> None:
        self.settings = settings
        self.games = {name: make_game(name) for name in dict.fromkeys((*game_names(), settings.game.name))}
        # Listed once, because the entry points of other packages are read in about 10 ms.
        self._kinds = tuple(PLAYERS)
        self._others = MadeOnce[Game](MOST_OTHERS)
        # Opponents without a file in these games, which are always there.
        self._fixed: dict[tuple[str, str], OfferedPlayer] = {}
        # A mistyped name ends the program at its start.
        for text in settings.opponents:
            parse_name(text)

    def game(self, name: str) -> Game:
        """The game with this name, which may have other options than the listed one. Raises NotFoundError if there is
        none, and SettingError for impossible options."""
        if name in self.games:
            return self.games[name]
        board = self.games.get(name_of_listed(name))
        if board is None or not parts_of_game_name(name).parameters.keys() <= board.presentation.option_names.keys():
            raise NotFoundError(f"unknown game; choose one of {', '.join(self.games)}")
        return self._others.get(name, partial(make_game, name))

    def game_view(self, game: Game) -> GameView:
        presentation, rows_and_columns = game.presentation, game.board_shape or (None, None)
        line, labels = presentation.position_line, presentation.option_names
        usual = game.usual_parameters(parts_of_game_name(game.name).size)
        options = [
            GameOption(name=name, label=labels[name], value=value, usual=usual[name], is_flag=isinstance(value, bool))
            for name, value in game.parameters.items()
            if name in labels
        ]
        same = {name: getattr(presentation, name) for name in GameView.model_fields if hasattr(presentation, name)}
        others = {
            "name": game.name,
            "board": name_of_listed(game.name),
            "options": options,
            "handicaps": handicaps(game),
            "rows": rows_and_columns[0],
            "columns": rows_and_columns[1],
            "seat_names": presentation.player_names,
            "square_marks": list(presentation.shown_marks.values()),
            "may_move_again": game.rules.moves_again is not None,
            "can_be_set_up": game.can_be_set_up,
            "square_names": [presentation.square_name(square) for square in range(game.num_squares or 0)],
            "has_territory": game.rules.safe is not None,
            "grades": thresholds_text(game),
            "grade_losses": {kind: list(losses) for kind, losses in THRESHOLDS.items()},
            "line_label": None if line is None else line.label,
            "line_end": None if line is None else line.end,
            "is_default": game.name == self.settings.game.name,
        }
        return GameView.model_validate(same | others)

    def run(self, game: Game) -> RunFolder:
        """The run of a game: `run_dir` for the game in the settings, a folder with the game's name for other games."""
        name = game.learned_as()
        is_set = name == game.learned_as(self.settings.game.name)
        return RunFolder(Path(self.settings.run_dir)) if is_set else RunFolder(Path(self.settings.other_runs) / name)

    # ------------------------------------------------------------------ the list

    def opponents(self, game: Game) -> OpponentsView:
        """All opponents, and notes on what is missing. The first call for a game can take seconds."""
        opponents, notes = list(self._offers(game)), []
        offered = {one.id for one in opponents}
        strengths = {word: name for word, name in STRENGTH_WORDS.items() if name in offered}
        if not self.run(game).trained_levels():
            notes.append(no_levels_text(self.run(game), game.name))
        return OpponentsView(
            opponents=opponents,
            strengths=strengths,
            default=next(iter(strengths.values())),
            notes=notes,
        )

    def opponent(self, game: Game, opponent_id: str) -> OfferedPlayer:
        """The opponent with this id. For perfect play and later opponents, the first call for a game can take seconds.

        Raises NotFoundError, listing the ids, if there is none.
        """
        if (game.name, opponent_id) in self._fixed:
            return self._fixed[game.name, opponent_id]
        ids = []
        for offer in self._offers(game):
            if offer.id == opponent_id:
                # Strengths can become levels of a run that goes on.
                if game.name in self.games and offer.file is None and opponent_id not in STRENGTHS:
                    self._fixed[game.name, opponent_id] = offer
                return offer
            ids.append(offer.id)
        raise NotFoundError(f"unknown opponent in {game.name}; choose one of {', '.join(ids)}")

    def _offers(self, game: Game) -> Iterator[OfferedPlayer]:
        return offered_players(game, self.run(game).path, self.settings, self._kinds)
