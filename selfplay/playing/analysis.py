"""Analyses one position with several searches, and shows the features of which its value is the sum."""

from typing import NamedTuple

import pandas as pd

from selfplay.compute.bit_algebra import bit_count
from selfplay.errors import SettingError
from selfplay.games import Game, State, make_game
from selfplay.games.feature_kernels import feature_values
from selfplay.search.evaluation_files import make_evaluation
from selfplay.search.feature_evaluation import FeatureEvaluation
from selfplay.search.searcher import Searcher, SearchResult
from selfplay.settings.analysis import AnalysisSettings


class Analysis(NamedTuple):
    """The results of the searches in one position."""

    game: Game
    state: State
    """One position, of a match that is not over."""
    evaluation: FeatureEvaluation
    results: dict[str, SearchResult]
    """By name of the search."""

    def searches_table(self) -> pd.DataFrame:
        """One row per search: value, action, positions visited, and the principal variation."""
        name = self.game.action_to_string
        rows = [
            {
                "search": search,
                "value": f"{result.value:+g}",
                "action": name(result.action),
                "visited": f"{result.visited:,}",
                "variation": " ".join(map(name, result.principal_variation)),
            }
            for search, result in self.results.items()
        ]
        return pd.DataFrame(rows)

    def features_table(self) -> pd.DataFrame | None:
        """One row per feature: its value to the player to move, weight and product; None in a game without features."""
        if self.game.features is None:
            return None
        names = list(self.game.features.names)
        values = feature_values(self.game, self.state)[0].tolist()
        table = pd.DataFrame({"feature": names, "value": values})
        stones = int(bit_count(self.state.own | self.state.opp))
        table["weight"] = self.evaluation.weights_at(self.game, stones)
        table["product"] = table["value"] * table["weight"]
        return table


def analyse(settings: AnalysisSettings) -> Analysis:
    """Analyse the position after `settings.moves`.

    Raises:
        SettingError: the game, evaluation or search is unknown, or the match is over.
        IllegalActionError: a move is illegal.
    """
    game = make_game(settings.game.name)
    state = game.state_after(map(game.action_to_string, game.read_transcript(settings.moves)))
    if bool(state.terminated):
        raise SettingError(f"moves={settings.moves}: the match is over after these moves; use fewer")
    evaluation = _evaluation_of(settings, game)
    results = {}
    for name in settings.searches:
        searcher = Searcher(game, evaluation, name, ordered=settings.ordered, table_bits=settings.table_bits)
        results[name] = searcher.search(state, settings.depth)
    return Analysis(game, state, evaluation, results)


def _evaluation_of(settings: AnalysisSettings, game: Game) -> FeatureEvaluation:
    if settings.evaluation_file is not None:
        return make_evaluation(settings.evaluation_file, game)
    asked = settings.evaluation
    return FeatureEvaluation("evaluation", asked.game, asked.win, asked.margin, asked.weights, tuple(asked.phases))


def analysis_report(analysis: Analysis) -> str:
    """The board and the tables as text."""
    game, state = analysis.game, analysis.state
    to_move = f"{game.presentation.player_names[int(state.current_player[0])]} to move"
    parts = [f"{game.presentation.board_text(state)}\n{to_move}"]
    features = analysis.features_table()
    if features is not None:
        total = float(features["product"].sum())
        text = features.to_string(index=False, float_format="{:g}".format)
        parts.append(f"{text}\n{analysis.evaluation.name}: {total:+g} to the player to move")
    parts.append(analysis.searches_table().to_string(index=False))
    return "\n\n".join(parts)
