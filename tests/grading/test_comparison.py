"""Comparing levels: the table of a small game; the files, report and regressions of games too large to enumerate."""

from pathlib import Path
from typing import ClassVar, TypeVar

import pandas as pd
import pytest

from selfplay import compose_settings
from selfplay.api.stages import compare_levels
from selfplay.errors import SettingError
from selfplay.figures.comparison import comparison_figures
from selfplay.games import Game, make_game
from selfplay.games.win_draw_loss import wilson_interval
from selfplay.grading.compared_players import Compared, ComparisonParameters, Who
from selfplay.grading.comparison import MEASURES, Comparison, compare, comparison_report, comparison_table, verdict
from selfplay.grading.measures import Improvement, Measure, Panel, PerfectPlay, Shown
from selfplay.grading.mistakes import GROUPS, Mistakes
from selfplay.grading.ratings import Ratings, ReferencePlayers
from selfplay.grading.solved_positions import Endgames, endgame_positions
from selfplay.named_players.make import make_player
from selfplay.players.player import Player, RandomPlayer, policy_of
from selfplay.runs.finished_runs import read_level_table
from selfplay.runs.run_folder import RunFolder
from selfplay.stages.learning_run import open_run
from selfplay.stages.measure_levels import measure_level, reference_names
from selfplay.tables import COUNT, Columns, Row
from tests.support.comparisons import settings_for
from tests.support.stub_players import FirstLegal, Valuing

LEVEL_PLAYER = "selfplay.stages.measure_levels.level_player"
GOLDEN = Path(__file__).parents[1] / "data" / "levels_tictactoe.csv"
TINY = ["comparison.matches=60", "comparison.earlier_matches=20"]
JUDGED = ["comparison.judged=2", "comparison.perfect_matches=1"]


def test_the_table_of_a_small_game_equals_the_recorded_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = (RandomPlayer, FirstLegal, Valuing)
    monkeypatch.setattr(LEVEL_PLAYER, lambda run_dir, level, game, *_: kinds[level](game))
    comparison = compare_levels(settings_for(tmp_path, "tictactoe", 2, "comparison.matches=40"))
    assert comparison.measured(ReferencePlayers) is None
    assert RunFolder(tmp_path).comparison.read_bytes() == GOLDEN.read_bytes()
    assert [path.name for path in (tmp_path / "comparison").iterdir()] == ["levels.csv"]


def test_copies_are_no_evidence_in_a_small_game_either() -> None:
    """Without exploration two levels repeat two matches: neither the sign test nor the figure counts their copies."""
    game = make_game("tictactoe")
    players = {0: RandomPlayer(game), 1: FirstLegal(game), 2: make_player("perfect?ties=lowest", game, "")}
    comparison = compare(Compared(game, players, ComparisonParameters(matches=20, epsilons=[0.0])))
    assert comparison.table.loc[2, ["word_vs_previous", "distinct_vs_previous"]].tolist() == ["not told apart", 2]
    assert measured(comparison, Improvement).evidence()[2].matches == 2


OneMeasure = TypeVar("OneMeasure", bound=Measure)


def measured(comparison: Comparison, kind: type[OneMeasure]) -> OneMeasure:
    found = comparison.measured(kind)
    assert found is not None
    return found


def stub_level(run_dir: str, level: int, game: Game, *_: float) -> Player:
    """Level 1 searches, level 2 plays the lowest action."""
    strong = make_player("search:negascout?depth=2", game, "")
    return (RandomPlayer(game), strong, FirstLegal(game))[level]


@pytest.fixture
def of_stubs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LEVEL_PLAYER, stub_level)


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("run")


@pytest.fixture(scope="module")
def comparison(run_dir: Path) -> Comparison:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(LEVEL_PLAYER, stub_level)
        return compare_levels(settings_for(run_dir, "connect_four", 2, *TINY, *JUDGED))


def test_a_large_game_is_measured(comparison: Comparison, run_dir: Path) -> None:
    grades_of, compared = measured(comparison, Mistakes).grades, comparison.measures[0].compared
    ratings = measured(comparison, Ratings).ratings
    folder = run_dir / "comparison"
    assert sorted(path.name for path in folder.iterdir()) == [
        *("judged_positions.csv", "levels.csv", "manifest.json", "matches.csv", "mistakes.csv", "references.csv")
    ]
    levels, matches = pd.read_csv(folder / "levels.csv"), pd.read_csv(folder / "matches.csv")
    assert levels["level"].tolist() == [0, 1, 2]
    assert levels["rating"].tolist() == [round(ratings[level].points, 2) for level in (0, 1, 2)]
    assert levels["lines_first"].isna().all()
    grades = [grades_of[level].overall for level in (0, 1, 2)]
    assert levels["judged_mistake_rate"].tolist() == [round(grade.mistakes, 6) for grade in grades]
    assert levels["judged_perfect_rate"].tolist() == [round(grade.perfect, 6) for grade in grades]
    assert levels["judged_points_lost"].tolist() == [round(grade.points_lost, 6) for grade in grades]
    assert levels["losses_vs_perfect_second"].fillna(-1).tolist() == [-1, 1, 1]
    assert not [name for name in levels if name.startswith("endgame")]
    assert (matches[["wins", "draws", "losses"]].sum(axis=1) == [60, 60, 60, *[20] * 3, *[60] * 3, *[20] * 3]).all()
    row = matches[(matches["level"] == 2) & (matches["opponent"] == "level:1")].iloc[0]
    results = compared.results[2, 1].results
    assert (row["wins"], row["losses"], row["word"]) == (results.wins, results.losses, "worse")
    assert (row["wins_rate_low"], row["wins_rate_high"]) == pytest.approx(wilson_interval(results.wins, 60), abs=1e-6)
    assert matches["level"].isna().sum() == 3
    references = pd.read_csv(folder / "references.csv")
    assert references["reference"].tolist() == ["random", *reference_names(make_game("connect_four"), None)]
    assert references["rating"].is_monotonic_increasing
    assert references["rating"].iloc[0] == 0
    assert references["judged_mistake_rate"].iloc[0] == round(grades[0].mistakes, 6)
    assert not [name for name in references if name.startswith("endgame")]
    mistakes = pd.read_csv(folder / "mistakes.csv")
    assert mistakes["group"].tolist() == [*GROUPS, "all"] * 6
    assert mistakes["positions"].tolist() == ([2] * 6 + [12]) * 6
    newest = mistakes[(mistakes["level"] == 2) & (mistakes["group"] == "begin-hard")].iloc[0]
    assert newest["player"] == "level:2"
    assert newest["mistake_rate"] == round(grades_of[2].groups["begin-hard"].mistakes, 6)


def test_the_report_describes_a_large_game(comparison: Comparison) -> None:
    compared = comparison.measures[0].compared
    text, table = verdict(comparison), comparison_table(comparison)
    assert max(map(len, text.splitlines())) <= 120
    assert max(map(len, table.splitlines())) <= 80
    opponent = "search:negascout?depth=4&evaluation=none"
    results, distinct, *_ = compared.results[2, opponent]
    low, high = wilson_interval(results.wins, 60)
    share = f"{results.wins / 60:.3f} ({low:.3f}..{high:.3f})"
    assert f"  won {share} of 60 matches against {opponent}, {distinct} of them different\n" in text
    for kind in (Mistakes, PerfectPlay):
        assert "\n".join(measured(comparison, kind).sentences(comparison.table)) in text
    assert "\nIt opens with column 1.\n" in text
    assert f"\nLevel 2 now loses to level 1: {compared.results[2, 1].results} (won-drawn-lost).\n" in text
    assert table.splitlines()[0].split()[-3:] == ["mistakes", "perfect", "rating"]
    assert "mistakes: wins and draws given away; rating: Elo" in table


@pytest.mark.slow
def test_lost_points_are_reported_for_games_with_points(of_stubs: None, tmp_path: Path) -> None:
    tiny = [f"comparison.{each}" for each in ("matches=20", "earlier_matches=10", "endgames=2")]
    settings = settings_for(tmp_path, "othello", 2, *tiny, "comparison.references=[greedy_discs]")
    comparison = compare_levels(settings)
    quality = measured(comparison, Endgames).grades[2].overall
    shown = f"level:2 in {quality.perfect:.3f} of them; it gives away {quality.points_lost:.2f} points per move"
    assert shown in verdict(comparison)
    assert comparison.table["endgame_mean_loss"].tolist()[2] == quality.points_lost
    assert comparison.measures[0].compared.results.keys() == {
        (1, 0),
        (2, 1),
        (2, 0),
        *[(n, "greedy_discs") for n in (1, 2)],
        ("greedy_discs", 0),
    }


def test_a_level_is_measured_as_soon_as_it_is_trained(
    comparison: Comparison, run_dir: Path, of_stubs: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_run(compose_settings(["game=connect_four", f"run_dir={run_dir}", *JUDGED]), "compare") as run:
        measure_level(run, 2)
    strength = pd.read_csv(RunFolder(run_dir).strength(2))
    columns = ["level", "judged_mistake_rate", "judged_perfect_rate", "judged_points_lost"]
    assert strength.columns.tolist() == columns
    assert strength.iloc[0].tolist() == comparison.table.loc[2, columns].tolist()
    # Where no solver reaches the start, levels meet the level before them and the random player.
    monkeypatch.setattr(LEVEL_PLAYER, lambda run_dir, level, game, *_: FirstLegal(game))
    with open_run(settings_for(tmp_path, "othello", 2, "comparison.earlier_matches=6"), "compare") as run:
        measure_level(run, 2)
    strength = pd.read_csv(RunFolder(tmp_path).strength(2))
    for opponent in ("previous", "random"):
        assert strength[[f"{result}_vs_{opponent}" for result in ("wins", "draws", "losses")]].sum(axis=1).tolist() == [
            6
        ]


def test_a_wrong_reference_is_refused_before_any_match(of_stubs: None, tmp_path: Path) -> None:
    settings = settings_for(tmp_path, "connect_four", 2, "comparison.references=[greedy_discs]")
    with pytest.raises(SettingError, match="connect_four has no features"):
        compare_levels(settings)
    assert not (tmp_path / "comparison").exists()


def test_many_actions_mean_shallow_references_and_moving_stones_no_endgames() -> None:
    assert reference_names(make_game("hex"), None) == ["search:negascout?depth=2&evaluation=none"]
    assert endgame_positions(make_game("breakthrough"), 1, 0) is None


class FirstActions(Measure):
    """The first action of each level."""

    columns: ClassVar[Columns] = {"first_action": COUNT}
    shown = (Shown("opens", ["first_action"], str, "opens: first action"),)

    def __init__(self, compared: Compared) -> None:
        super().__init__(compared)
        players, start = compared.players, compared.game.init()
        self.actions = {who: int(policy_of(player, start)[0].argmax()) for who, player in players.items()}

    def fields(self, who: Who) -> Row:
        return {"first_action": self.actions[who]}

    def tables(self) -> dict[str, tuple[Columns, list[Row]]]:
        return {"first.csv": (self.columns, [self.fields(level) for level in self.compared.levels])}

    def sentences(self, table: pd.DataFrame) -> list[str]:
        return [f"The newest level opens with action {self.actions[self.compared.newest]}."]

    def panels(self) -> dict[str, list[Panel]]:
        levels = self.compared.levels
        return {"first.png": [Panel("First action", "action", levels, [self.actions[level] for level in levels])]}


def test_a_new_measure_is_a_class_and_a_line_in_the_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = (RandomPlayer, FirstLegal, Valuing)
    monkeypatch.setattr(LEVEL_PLAYER, lambda run_dir, level, game, *_: kinds[level](game))
    monkeypatch.setattr("selfplay.grading.comparison.MEASURES", [*MEASURES, FirstActions])
    comparison = compare_levels(settings_for(tmp_path, "tictactoe", 2, "comparison.matches=40"))
    actions = measured(comparison, FirstActions).actions
    path = RunFolder(tmp_path).comparison
    assert pd.read_csv(path)["first_action"].tolist() == read_level_table(path)["first_action"].tolist()
    assert read_level_table(path)["first_action"].tolist() == list(actions.values())
    assert pd.read_csv(path.with_name("first.csv"))["first_action"].tolist() == list(actions.values())
    report = comparison_report(comparison)
    assert f"\nThe newest level opens with action {actions[2]}.\n" in report
    assert [line.split()[-1] for line in comparison_table(comparison).splitlines()[:4]] == [
        "opens",
        *map(str, actions.values()),
    ]
    assert "; opens: first action\n" in report
    figure = comparison_figures(comparison)["first.png"]
    assert figure.axes[0].lines[0].get_ydata().tolist() == list(actions.values())


def test_players_are_compared_without_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    game = make_game("tictactoe")
    players = {0: RandomPlayer(game), 1: FirstLegal(game), 2: Valuing(game)}
    comparison = compare(Compared(game, players, ComparisonParameters(matches=40)))
    columns = comparison.table.to_csv(index=False).splitlines()
    assert columns == GOLDEN.read_text().splitlines()
    assert list(comparison.tables()) == ["levels.csv"]
    assert "Level 2 can lose" in comparison_report(comparison)
    with pytest.raises(SettingError, match=r"parameters\.matches=1: must be from 2 to"):
        Compared(game, players, ComparisonParameters(matches=1))
    assert not any(tmp_path.iterdir())
