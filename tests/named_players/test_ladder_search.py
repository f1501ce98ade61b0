"""The search for the temperatures of the strengths, and those that a run has found."""

from math import exp, log
from pathlib import Path

import pytest

from selfplay import make_game
from selfplay.errors import InvalidFileError
from selfplay.named_players.ladder_search import HOTTEST, NEAR, WANTED, find_temperatures
from selfplay.named_players.strengths import NOTICES, offered_strengths, strengths

USUAL = {"beginner": 8.0, "easy": 2.5, "medium": 1.0, "hard": 0.25}


def temperature_in(name: str) -> float:
    return 0.05 if name == "strongest" else float(name.partition("=")[2])


class Scores:
    """A game in which a player is weaker by the logarithm of its temperature, times a number."""

    def __init__(self, slope: float) -> None:
        self.slope, self.asked = slope, list[tuple[str, str]]()

    def __call__(self, better: str, worse: str) -> float:
        self.asked.append((better, worse))
        return 1 / (1 + exp(-self.slope * log(temperature_in(worse) / temperature_in(better))))


@pytest.mark.parametrize("slope", [0.5, 1.0, 2.0])
def test_each_strength_scores_as_wanted_against_the_next_below(slope: float) -> None:
    scores = Scores(slope)
    found = find_temperatures(scores, USUAL, 12)
    assert list(found) == list(USUAL)
    ladder = [*reversed(found.values())]
    above = "strongest"
    for strength, one in zip(reversed(USUAL), ladder, strict=True):
        worse = f"{strength}?temperature={one.temperature:g}"
        assert one.score == scores(above, worse)
        assert abs(one.score - WANTED) <= NEAR or one.temperature == HOTTEST
        above = worse


def test_few_tries_give_the_best_temperature_of_them() -> None:
    scores = Scores(0.5)
    found = find_temperatures(scores, USUAL, 2)
    assert len(scores.asked) <= 2 * len(USUAL)
    tried = [scores("strongest", worse) for better, worse in [*scores.asked] if better == "strongest"]
    assert found["hard"].score == min(tried, key=lambda score: abs(score - WANTED))


def write_temperatures(run: Path, level: int, player: str, *temperatures: float) -> None:
    rows = [f"{name},{player},{value},0.75,40" for name, value in zip(NOTICES, temperatures, strict=False)]
    folder = run / f"level_{level:02d}"
    folder.mkdir(exist_ok=True)
    text = "\n".join(["strength,player,temperature,score,matches", *rows])
    (folder / "temperatures.csv").write_text(f"{text}\n")


def test_strengths_of_a_game_of_ones_own_have_the_temperatures_that_its_run_has_found(tmp_path: Path) -> None:
    game = make_game("tests.support.kalah:Kalah")

    def temperatures() -> list[float | None]:
        found = strengths(game, tmp_path)
        return [found[name].temperature for name in NOTICES]

    usual = temperatures()
    assert "hard" not in offered_strengths(game, tmp_path)
    write_temperatures(tmp_path, 4, "mcts:rollouts?simulations=100", 4.0, 3.0, 2.0, 1.5)
    assert temperatures() == [4.0, 3.0, 2.0, 1.5]
    assert "hard" in offered_strengths(game, tmp_path)
    # Those of random matches say nothing of levels.
    (tmp_path / "level_05").mkdir()
    (tmp_path / "level_05" / "versus_rollouts.csv").write_text("level,simulations,rollouts,score\n5,150,1400,0.6\n")
    assert temperatures() != [4.0, 3.0, 2.0, 1.5] != usual
    write_temperatures(tmp_path, 5, "mcts:level:5?simulations=150", 4.5, 3.5, 2.5, 0.5)
    (tmp_path / "level_06").mkdir()
    (tmp_path / "level_06" / "versus_rollouts.csv").write_text("level,simulations,rollouts,score\n6,150,1400,0.6\n")
    assert strengths(game, tmp_path)["hard"].player == "mcts:level:6?simulations=150"
    assert temperatures() == [4.5, 3.5, 2.5, 0.5]


@pytest.mark.parametrize("values", [(4.0, 3.0, 2.0), (4.0, 3.0, 2.0, 0.0)])
def test_a_broken_table_of_temperatures_is_named(tmp_path: Path, values: tuple[float, ...]) -> None:
    write_temperatures(tmp_path, 1, "mcts:rollouts?simulations=100", *values)
    with pytest.raises(InvalidFileError, match=r"temperatures.csv.*learn again"):
        strengths(make_game("tests.support.kalah:Kalah"), tmp_path)
