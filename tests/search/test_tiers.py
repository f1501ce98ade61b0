"""The two tiers of compiled searches: they find the same, and the special one is compiled when it pays."""

from typing import Any

import numpy as np
import pytest
import torch
from numba import types

from selfplay.compute.bit_algebra import bit_count, rule
from selfplay.compute.compilation import Words, compiled, kind_of, part_of_compiled
from selfplay.compute.compile_cache import is_kept
from selfplay.compute.compiled_calls import calling, compiled_at, held, reading
from selfplay.compute.random_numbers import Draws
from selfplay.games import Game, make_game
from selfplay.games.general_rules import size_of
from selfplay.games.tiers import STEPS_BEFORE_SPECIAL, Tier
from selfplay.search import tiers
from selfplay.search.feature_evaluation import FeatureEvaluation
from selfplay.search.mcts.evaluator import MATCH_RETURN, AfterstateEvaluator, RolloutEvaluator
from selfplay.search.mcts.rule import make_rule
from selfplay.search.mcts.tree_search import TreeSearch
from selfplay.search.prover import Prover
from selfplay.search.rule_evaluation import RuleEvaluation
from selfplay.search.searcher import Searcher
from selfplay.search.tiers import GENERAL, SPECIAL, Calls, only_tier
from tests.search.mcts.hashed_evaluator import HashedEvaluator
from tests.support.dots import CountedDots
from tests.support.searches import position_after

DISCS = FeatureEvaluation(1.0, 0.0, {"discs": 0.01, "mobility": 0.02})


@rule
def centre(p: Any) -> float:
    return (bit_count(p.own & 16) - bit_count(p.opp & 16)) / 4


@rule
def men(p: Any) -> float:
    return (bit_count(p.own) - bit_count(p.opp)) / 64


def tree_search(game: Game, evaluator, rule: str, *, reuse: bool = False) -> TreeSearch:
    return TreeSearch(game, evaluator, make_rule(rule), 40, reuse=reuse)


def tree_results(search: TreeSearch, draws: Draws) -> list[bytes]:
    """Every number that searches of some positions of its game find."""
    found = [search.search(position_after(search.game, plies, 3), draws) for plies in (0, 2, 3)]
    return [part.numpy().tobytes() for one in found for part in one]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "evaluator", "rule"),
    [
        ("tictactoe", lambda game: RolloutEvaluator(2), "uct"),
        ("othello_4x4", lambda game: AfterstateEvaluator(DISCS, MATCH_RETURN), "puct"),  # passes, and points
        ("nine_mens_morris", lambda game: HashedEvaluator(game.num_distinct_actions), "gumbel"),  # many actions
        ("go_3x3", lambda game: RolloutEvaluator(1), "puct"),
    ],
    ids=["tictactoe", "othello", "morris", "go"],
)
def test_tree_searches_find_the_same_in_both_tiers(name, evaluator, rule):
    game, found = make_game(name), []
    for tier in (GENERAL, SPECIAL):
        with only_tier(tier):
            draws = Draws(5, torch.tensor([2]), 0)
            found.append(tree_results(tree_search(game, evaluator(game), rule), draws))
    assert found[0] == found[1]


@pytest.mark.slow
def test_tree_searches_find_the_same_in_both_tiers_where_players_move_again():
    game, found = CountedDots(), []
    for tier in (GENERAL, SPECIAL):
        with only_tier(tier):
            search = tree_search(game, HashedEvaluator(game.num_distinct_actions), "puct")
            found.append(tree_results(search, Draws(5, torch.tensor([2]), 0)))
    assert found[0] == found[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "evaluation"),
    [
        ("tictactoe", RuleEvaluation("centre", centre)),
        ("othello_4x4", DISCS),
        ("draughts", RuleEvaluation("men", men)),  # players move again
        ("go_3x3", RuleEvaluation("men", men)),
    ],
)
def test_negamax_finds_the_same_in_both_tiers(name, evaluation):
    """Values, actions, variations and the number of positions visited."""
    game, found = make_game(name), []
    states = [position_after(game, plies, 1) for plies in (0, 3)]
    for tier in (GENERAL, SPECIAL):
        with only_tier(tier):
            searcher = Searcher(game, evaluation)
            results = [searcher.search_batch(state, depth) for state in states for depth in (0, 1, 2, 5, 7)]
        found.append([part.tobytes() for result in results for part in result])
    assert found[0] == found[1]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tictactoe", "othello_4x4", "go_3x3", "draughts"])
def test_the_same_is_proved_in_both_tiers(name):
    """With what earlier searches have left in a table, which both tiers use alike."""
    game, found = make_game(name), []
    for names in ((GENERAL, GENERAL), (GENERAL, SPECIAL), (SPECIAL, GENERAL)):
        prover = Prover(game, table_bits=8)
        for tier, plies in zip(names, (2, 3), strict=True):
            with only_tier(tier):
                proofs = prover.proofs(position_after(game, plies, 1), keeps_table=True)
                proofs.prove_best(3_000)
            found.append((proofs.results.tobytes(), prover._search.table.tobytes(), prover._search.counts.tobytes()))
    assert found[:2] == found[2:4] == found[4:]


def test_the_searches_for_all_games_are_kept_on_disk():
    game = make_game("tictactoe")
    with only_tier(GENERAL):
        search, proofs = tree_search(game, RolloutEvaluator(2), "uct"), Prover(game, table_bits=8).proofs(game.init())
        searcher = Searcher(game, RuleEvaluation("centre", centre))
        search.search(game.init())
        searcher.search(game.init(), 2)
        proofs.prove_best(100)
        for one in (search, searcher, proofs):
            for function, arguments in one._calls_in(one._tiers.tier(one._calls_in)):
                assert is_kept(function, tuple(map(kind_of, arguments)))


def test_a_new_game_needs_no_new_search():
    """The general search of tic-tac-toe serves another board, which has only its rules compiled."""
    first, other = (tree_search(make_game(name), RolloutEvaluator(1), "uct") for name in ("tictactoe", "hex_3x3"))
    with only_tier(GENERAL):
        first.search(first.game.init())
        ((search_batch, _),) = first._calls_in(first._tiers.tier(first._calls_in))
        compiled_for = list(search_batch.overloads)
        other.search(other.game.init())
        ((same, _),) = other._calls_in(other._tiers.tier(other._calls_in))
    assert same is search_batch
    assert list(search_batch.overloads) == compiled_for


@compiled
def total(positions: Words) -> int:
    return len(positions)


def calls_in(tier: Tier) -> Calls:
    return [(total, (tier.rows(np.zeros((0, 2), dtype=np.int64)),))]


@pytest.fixture
def compiled_when_it_pays(monkeypatch):
    """As outside the tests, but that nothing is on disk."""
    monkeypatch.setattr(tiers, "are_on_disk", lambda calls: False)
    monkeypatch.setattr("selfplay.games.tiers.STEPS_BEFORE_SPECIAL", STEPS_BEFORE_SPECIAL)


@pytest.mark.usefixtures("compiled_when_it_pays")
def test_a_search_that_works_much_is_compiled_for_its_game_in_the_background():
    two = tiers.TwoTiers(make_game("tictactoe").rules, None)
    general = two.tier(calls_in)
    assert general.table is not None
    two.worked(general, STEPS_BEFORE_SPECIAL, calls_in)
    assert two._compiling is None
    two.worked(general, 1, calls_in)
    two._compiling.join()
    special = two.tier(calls_in)
    assert special.table is None
    assert tuple(map(kind_of, calls_in(special)[0][1])) in total.overloads


@pytest.mark.usefixtures("compiled_when_it_pays")
def test_a_search_that_cannot_be_compiled_for_its_game_stays_general():
    two = tiers.TwoTiers(make_game("tictactoe").rules, None)
    two.worked(two.tier(calls_in), STEPS_BEFORE_SPECIAL + 1, lambda tier: 1 // 0)
    two._compiling.join()
    assert two.tier(calls_in).table is not None


def test_a_search_on_disk_is_used_at_once_without_compiling_rules(monkeypatch):
    monkeypatch.setattr(tiers, "are_on_disk", lambda calls: True)
    monkeypatch.setattr("selfplay.games.tiers.rules_table", None)
    assert tiers.TwoTiers(make_game("tictactoe").rules, None).tier(calls_in).table is None


def test_searches_count_the_positions_that_they_visit():
    game = make_game("tictactoe")
    with only_tier(GENERAL):
        search, searcher = tree_search(game, RolloutEvaluator(2), "uct"), Searcher(game, RuleEvaluation("men", men))
        proofs, steps = Prover(game, table_bits=8).proofs(game.init()), []
        for one in (search, searcher, proofs):
            one._tiers._steps = 0
        visits = int(search.search(game.init()).visits.sum())
        visited = searcher.search(game.init(), 3).visited
        proofs.prove_best(100)
        steps = [one._tiers._steps for one in (search, searcher, proofs)]
    assert steps == [20 * visits, visited, proofs._visited]


@pytest.mark.slow
def test_a_tree_that_one_tier_has_grown_is_continued_by_the_other():
    game, found = make_game("tictactoe"), []
    for names in ((GENERAL, SPECIAL, GENERAL), (SPECIAL, SPECIAL, SPECIAL)):
        search, state, of_game = tree_search(game, RolloutEvaluator(1), "uct", reuse=True), game.init(), []
        for ply, tier in enumerate(names):
            with only_tier(tier):
                result = search.search(state, Draws(5, torch.tensor([2]), ply))
            of_game.append(result.visits.tolist())
            state = game.step(state, result.actions)
        found.append(of_game)
    assert found[0] == found[1]
    assert max(map(sum, found[0][2])) > 40


def test_games_whose_positions_are_too_large_have_no_general_form():
    assert size_of(make_game("tictactoe").rules) == size_of(make_game("go_13x13").rules)
    rules = make_game("tictactoe").rules
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("selfplay.games.general_rules.SIZES", ())
        assert size_of(rules) is None


# ---------------------------------------------------------------------- calls by address


def test_errors_of_a_function_called_by_its_address_are_raised():
    def divide(one: int, other: int) -> int:
        return one // other

    call, address = calling(types.int64, types.int64, types.int64), compiled_at(divide, types.int64, *[types.int64] * 2)

    @compiled
    def through(address: int, one: int, other: int) -> int:
        return call(address, one, other)

    assert through(address.address, 17, 5) == 3
    with pytest.raises(ZeroDivisionError):
        through(address.address, 17, 0)


def test_values_in_memory_are_read_by_their_address():
    value = (2.5, (np.arange(4), 7))
    memory, read = held(value), reading(kind_of(value))

    @part_of_compiled
    def total(address: int) -> float:
        factor, (numbers, more) = read(address)
        return factor * (numbers.sum() + more)

    @compiled
    def of(address: int) -> float:
        return total(address)

    assert of(memory.ctypes.data) == 2.5 * 13
