"""Games, players and rules from outside that misbehave: one line that names the file, never a hang or a traceback."""

import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
import torch

import selfplay
from selfplay.dataset.target_rules import TARGET_RULES
from selfplay.errors import ConformanceError, SelfPlayError, SettingError
from selfplay.games.outcomes import OUTCOMES
from selfplay.matches.series import Series
from selfplay.players.exploring import EpsilonGreedyPlayer
from selfplay.players.player import PlayerWrapper
from selfplay.search.mcts.rule import make_rule
from selfplay.training.parameters import SCHEDULES
from tests.support.pile import Pile

GAME = """
import sys
from selfplay import Game, Symmetries, rule
from selfplay.games.tictactoe import TicTacToe
from tests.support.pile import Pile as Right

@rule
def never(p):
    return p.own != p.own

@rule
def too_many(p):
    return 0b111

@rule
def giving_two(p, action):
    return p.own, p.opp

class Endless(Right):
    rules = Right.rules._replace(is_terminal=never)

class TooLong(Right):
    max_game_length = 5

class Raises(Right):
    def __init__(self):
        raise RuntimeError("no board")

class TooMany(Right):
    rules = Right.rules._replace(legal_actions=too_many)

def forgotten(p):
    return p.own + p.opp >= 7

@rule
def calls_an_unmarked_one(p):
    return forgotten(p)

class Unmarked(Right):
    rules = Right.rules._replace(is_terminal=calls_an_unmarked_one)

class Leaves(Right):
    def action_to_string(self, action):
        sys.exit(0)

class WrongMirror(Right):
    @property
    def symmetries(self):
        return [[0]], 1 // 0

class TwoMoreActions(TicTacToe):
    def __init__(self):
        super().__init__(3)
        self.num_distinct_actions = 11

class OtherShape(Right):
    observation_shape = (3, 2, 2)

class NoPosition(Right):
    rules = Right.rules._replace(initial=(0, 0))

class GivesTwo(Right):
    rules = Right.rules._replace(play=giving_two)

class Nameless(Game):
    num_distinct_actions, max_game_length, pass_action, rules = 3, 14, 2, Right.rules

class Ruleless(Game):
    name, num_distinct_actions, max_game_length, observation_shape = "ruleless", 3, 14, (8,)

class Numbered(Right):
    name = 5

class Lists(Right):
    symmetries = [[0, 1, 2], [1, 0, 2]]

class ListsInside(Right):
    symmetries = Symmetries([[0, 1, 2]], [[0, 1, 2, 3, 4, 5, 6, 7]])

@rule
def printing(p):
    if p.own > 90:
        print(p)
    return p.own + p.opp >= 7

class Prints(Right):
    rules = Right.rules._replace(is_terminal=printing)
"""

RETURNS = """
import sys
import torch
from selfplay import Player

class Unseen:
    def __repr__(self): raise RuntimeError

class UnspeakableError(Exception):
    def __str__(self): raise RuntimeError

def raising(error):
    def act(own): raise error
    return act

WRONG = [
    *(lambda own, value=value: value for value in (None, Unseen(), "x" * 10**6, 10**5000)),
    lambda own: own * 0 - 1, lambda own: own * 0 + 64, lambda own: own.float() * 0, lambda own: own.numpy() * 0,
    lambda own: own[:, None] * 0, lambda own: own.to("meta"), lambda own: sys.exit("left"), lambda own: own.nothing,
    *map(raising, (
        RecursionError(), StopIteration(), OSError(28, "full"), ValueError("x" * 10**6), Exception("two\\nlines"),
        UnspeakableError(),
    )),
]

def made(number):
    def __init__(self, game): pass
    def act(self, state, draws): return WRONG[number](state.position[:, 0])
    return type(f"P{number}", (Player,), {"__init__": __init__, "act": act, "name": "wrong", "__module__": __name__})

globals().update({f"P{number}": made(number) for number in range(len(WRONG))})
"""

MODULES = [
    "raise Exception('two\\nlines' + 'x' * 10**6)",
    "",
    "class Named: pass",
    "def __getattr__(name): raise ValueError(name)",
]
"""Modules whose object `Named` is nothing that this program can use."""

UNMADE = """
from selfplay import Game, Player

class NeedsArguments(Game):
    def __init__(self, rows, columns):
        pass

class Abstract(Player):
    pass
"""

PLAYERS = """
import torch
from selfplay import Player
from selfplay.search.mcts.evaluator import PositionValues

class Bad(Player):
    name = "bad"
    def __init__(self, game): pass
    def act(self, state, draws):
        return self.chosen(state.position[:, 0])

class Illegal(Bad):
    def chosen(self, own): return own * 0 + 999
class Floats(Bad):
    def chosen(self, own): return own * 0.5
class Narrow(Bad):
    def chosen(self, own): return own[:-1]
class Failing(Bad):
    def chosen(self, own): return 1 // 0
class Unmade(Bad):
    def __init__(self, game): 1 // 0
class Asked(Bad):
    def policy(self, state): return self.asked(state)
    def action_values(self, state): return self.asked(state)
class Flat(Asked):
    def asked(self, state): return torch.ones(state.batch_size)
class Many(Asked):
    def asked(self, state): return torch.ones(state.batch_size, 9)
class Asking(Asked):
    def asked(self, state): return 1 // 0
class Unsure(Asked):
    def asked(self, state): return torch.full((state.batch_size, 9), torch.nan)
class Occupied(Bad):
    def chosen(self, own): return own * 0
class Constant:
    def __init__(self, game, numbers):
        self.game, (self.value, self.logit) = game, map(float, numbers.split(":"))
    def evaluate(self, state):
        values, logits = torch.full((state.batch_size,), self.value), torch.full((state.batch_size, 9), self.logit)
        return PositionValues(values, logits)
class Nameless(Player):
    def act(self, state, draws): return state.position[:, 0] * 0
    def __init__(self, game): pass
"""

METHODS = """
import torch
from selfplay import Player, RandomPlayer
from selfplay.players.player import uniform_policy

class Random(Player):
    name = "random too"
    def __init__(self, game): self.inside, self.game = RandomPlayer(game), game
    def act(self, state, draws): return self.inside.act(state, draws)

class Learns(Random):
    def after_match(self, record, seats): pass
    def matches_seen(self): return 0

class Status(Random):
    def status(self): return 1 // 0
class After(Learns):
    def after_match(self, record, seats): raise ValueError("not now")
class Seen(Learns):
    def matches_seen(self): return 1 // 0
class SeenText(Learns):
    def matches_seen(self): return "many"
class Moves(Random):
    def move_to(self, device): raise RuntimeError("no gpu")
class Follows(Random):
    def follow(self, match): return match.nothing
class Explores(Random):
    def explores(self, draws): return "often"
class Reason(Random):
    def reason(self, state): return 1 // 0
class ReasonNumber(Random):
    def reason(self, state): return 5
class ValueList(Random):
    def value_actions(self, state, draws=None): return [1, 2]
class Searched(Random):
    def searched(self, state, draws): return 1 // 0

class Careless(Learns):
    def changed(self, state):
        state.position.zero_()
        state.terminated.fill_(True)
        state.returns.fill_(1)
    def follow(self, match):
        for state in match.states: self.changed(state)
    def reason(self, state): self.changed(state)
    def after_match(self, record, seats):
        for state in record.states: self.changed(state)
        for numbers in (*record.actions, record.match, record.seats): numbers.fill_(1)
    def act(self, state, draws):
        action = super().act(state, draws)
        draws.match.fill_(1)
        return action

class Gradients(Random):
    def __init__(self, game):
        super().__init__(game)
        self.one = torch.nn.Parameter(torch.ones(1))
    def policy(self, state): return self.one * uniform_policy(self.game.legal_action_mask(state))
    def action_values(self, state): return torch.where(self.game.legal_action_mask(state), self.one, torch.nan)
    def predicted_outcomes(self, state): return self.action_values(state)
"""
"""Players each of which fails in one method besides `act`; Careless changes what it is given."""

ANSWERS = """
def nothing(*arguments): return None
def rule(): return None
"""
"""Functions whose results are not what such functions return."""


DRAWS = selfplay.Draws(0, torch.tensor([0]), 0)


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder on the import path with modules that misbehave."""
    folder = tmp_path_factory.mktemp("faults")
    (folder / "faulty_games.py").write_text(GAME)
    (folder / "faulty_players.py").write_text(PLAYERS)
    (folder / "unmade.py").write_text(UNMADE)
    (folder / "faulty_methods.py").write_text(METHODS)
    (folder / "returning.py").write_text(RETURNS)
    (folder / "answering.py").write_text(ANSWERS)
    for number, text in enumerate(MODULES):
        (folder / f"module_{number}.py").write_text(text)
    (folder / "leaving.py").write_text("import sys\nsys.exit(0)\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield folder


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("faulty_games:Endless", "ends: the position after ply"),
        ("faulty_games:TooLong", "ends: a match is longer than max_game_length=5"),
        ("faulty_games:Raises", "RuntimeError: no board"),
        ("faulty_games:TooMany", "rules: legal_actions sets bit 2, which is pass_action"),
        ("faulty_games:Unmarked", "rules: forgotten is not marked with @rule"),
        ("faulty_games:Leaves", "texts: SystemExit: 0"),
        ("faulty_games:WrongMirror", "symmetries: ZeroDivisionError"),
        ("faulty_games:TwoMoreActions", "tictactoe.py, line "),
        ("faulty_games:OtherShape", "observation_shape=(3, 2, 2): does not fit the fields own (4 bits), opp (4 bits)"),
        ("faulty_games:NoPosition", "rules: rules.initial is (0, 0), where it must be a position"),
        ("faulty_games:GivesTwo", "rules: giving_two gives (0, 0) where it must give a Position(own, opp)"),
        ("faulty_games:Nameless", "rules: the game has no name; set it to a text"),
        ("faulty_games:Ruleless", "rules: the game has no rules; set it to Rules(...)"),
        ("faulty_games:Numbered", "rules: name is 5, where it must be a text"),
        (
            "faulty_games:Lists",
            "symmetries is [[0, 1, 2], [1, 0, 2]], where it must be Symmetries(actions, observations)",
        ),
        ("faulty_games:ListsInside", "actions are [[0, 1, 2]], where they must be an array int64[S, 3]"),
        ("faulty_games:Prints", "rules: print works only in uncompiled rules; set NUMBA_DISABLE_JIT=1"),
        ("leaving:Game", "cannot be imported: SystemExit: 0"),
    ],
)
def test_a_game_that_cannot_be_played_is_refused_where_it_is_named(folder: Path, name: str, reason: str) -> None:
    for use in (selfplay.make_game, selfplay.check_game):
        with pytest.raises(SelfPlayError) as error:
            use(name)
        assert reason in str(error.value)
        assert f"{folder / name.partition(':')[0]}.py" in str(error.value)
        assert "\n" not in str(error.value)


def test_a_file_named_like_a_module_that_is_found_before_it_is_to_be_renamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for module, found in (
        ("queue", "its own module queue (.*queue.py)"),
        ("sys", "its own module sys (without a file)"),
        ("architectures", "another module named architectures (.*__init__.py)"),
    ):
        Path(f"{module}.py").write_text("class Connect3: pass\n")
        pattern = re.escape(
            f" cannot be imported: Python finds {found} before {module}.py in the current folder; rename"
        )
        for make in (selfplay.make_game, lambda name: selfplay.make_player(name, "tictactoe")):
            with pytest.raises(SettingError, match=pattern.replace(r"\.\*", ".*")):
                make(f"{module}:Connect3")
        Path(f"{module}.py").unlink()
        with pytest.raises(SettingError, match="has no attribute 'Connect3'"):
            selfplay.make_game(f"{module}:Connect3")


def test_a_match_that_does_not_end_is_stopped() -> None:
    game = Pile()
    game.max_game_length = 3
    with pytest.raises(ConformanceError, match=r"^pile: a match is longer than max_game_length=3$"):
        selfplay.match("random", "random", game=game, matches=2)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Illegal", "action 999 is not legal here"),
        ("Floats", r"act must return int64\[4\], .*, not tensor"),
        ("Narrow", r"act must return int64\[4\], .*, not tensor"),
        ("Failing", "ZeroDivisionError: .*, line 19"),
        ("Unmade", "ZeroDivisionError: .*, line 21"),
    ],
)
def test_a_player_that_returns_nonsense_is_reported_with_its_file(folder: Path, name: str, reason: str) -> None:
    with pytest.raises(SelfPlayError, match=f"^player 'faulty_players:{name}': {reason}") as error:
        selfplay.match(f"faulty_players:{name}", "random", game="tictactoe", matches=10)
    assert str(folder / "faulty_players.py") in str(error.value)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("Nothing", selfplay.make_game),
        ("NeedsArguments", selfplay.make_game),
        ("Abstract", lambda name: selfplay.make_player(name, "tictactoe")),
    ],
)
def test_an_error_that_names_its_fault_has_only_the_file_of_the_user(
    folder: Path, name: str, make: Callable[[str], object]
) -> None:
    with pytest.raises(SettingError) as error:
        make(f"unmade:{name}")
    assert str(error.value).endswith(f" ({folder / 'unmade.py'})")


@pytest.mark.parametrize(
    ("name", "method", "reason"),
    [
        ("Flat", "policy", r"policy must return float\[1, 9\], a number for each action, or None, not tensor"),
        ("Flat", "action_values", r"action_values must return float\[1, 9\], a number for each action, or None, not"),
        ("Many", "policy", "policy must give probabilities of the legal actions, which sum to 1"),
        ("Asking", "policy", "ZeroDivisionError: .*, line [0-9]+, in asked"),
        ("Asking", "action_values", "ZeroDivisionError: .*, line [0-9]+, in asked"),
    ],
)
def test_what_a_player_says_of_its_actions_is_checked(folder: Path, name: str, method: str, reason: str) -> None:
    player = selfplay.make_player(f"faulty_players:{name}", "tictactoe")
    with pytest.raises(SelfPlayError, match=f"^player 'faulty_players:{name}': {reason}") as error:
        getattr(player, method)(selfplay.make_game("tictactoe").init())
    assert str(folder / "faulty_players.py") in str(error.value)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Unsure", "policy must give probabilities of the legal actions, which sum to 1"),
        ("Many", "policy must give probabilities of the legal actions, which sum to 1"),
        ("Asking", r"ZeroDivisionError: .*, line [0-9]+, in asked"),
    ],
)
def test_no_grade_counts_on_a_policy_that_is_none(folder: Path, name: str, reason: str) -> None:
    game = selfplay.make_game("tictactoe")
    player = getattr(import_module("faulty_players"), name)(game)
    for grade in (selfplay.grade, lambda game, one: selfplay.Grader(game).losses_to_best_replies(one)):
        with pytest.raises(SelfPlayError, match=f"^player 'bad': {reason}") as error:
            grade(game, player)
        assert str(folder / "faulty_players.py") in str(error.value)


@pytest.mark.parametrize("wrapped", [lambda game, player: player, lambda game, player: exploring(game, player)])
def test_players_that_are_given_as_objects_are_checked_too(wrapped) -> None:
    game = selfplay.make_game("tictactoe")
    player = wrapped(game, import_module("faulty_players").Occupied(game))
    series = Series(range(4), key=0)
    for play in (
        lambda: selfplay.match(player, "random", matches=4),
        lambda: list(selfplay.play_matches(game, (player, player), range(4), 0)),
        lambda: list(series.records(game, (player, player))),
    ):
        with pytest.raises(
            ConformanceError, match=r"^player '(epsilon-greedy )?bad': action 0,0 is not legal here: it is occupied"
        ):
            play()


class Careless(selfplay.RandomPlayer):
    """Works in the states that it is given."""

    def act(self, state: selfplay.State, draws: selfplay.Draws) -> torch.Tensor:
        action = super().act(state, draws)
        state.position.zero_()
        state.terminated.fill_(True)
        return action


def test_a_player_that_changes_the_states_that_it_is_given_changes_no_match() -> None:
    game = selfplay.make_game("tictactoe")
    careless, random = Careless(game), selfplay.RandomPlayer(game)
    expected = selfplay.match(random, random, matches=20)
    assert selfplay.match(careless, careless, matches=20) == expected
    session = selfplay.Session(game, (None, careless), key=0)
    session.play(4)
    session.advance()
    assert len(session.match.actions) == 2


def play_series(player: selfplay.Player) -> None:
    selfplay.match(player, "random", matches=2)


def play_session(player: selfplay.Player) -> selfplay.Session:
    session = selfplay.Session(player.game, (player, selfplay.RandomPlayer(player.game)), key=0)
    while not session.is_over:
        session.advance()
    session.standing()
    return session


@pytest.mark.parametrize(
    ("name", "play", "reason"),
    [
        ("Status", play_session, "ZeroDivisionError: .*, in status"),
        ("After", play_session, "ValueError: not now .*, in after_match"),
        ("Seen", play_session, "ZeroDivisionError: .*, in matches_seen"),
        ("SeenText", play_session, "matches_seen must return a whole number, not 'many'"),
        ("Moves", play_series, "RuntimeError: no gpu .*, in move_to"),
        ("Follows", play_series, "'Match' object has no attribute 'nothing' .*, in follow"),
        ("Explores", play_session, "explores must return Tensor or None, not 'often'"),
        ("Reason", play_session, "ZeroDivisionError: .*, in reason"),
        ("ReasonNumber", play_session, "reason must return str or None, not 5"),
        (
            "ValueList",
            lambda player: player.value_actions(player.game.init()),
            "value_actions must return ActionValues",
        ),
        ("Searched", lambda player: player.searched(player.game.init(), DRAWS), "ZeroDivisionError: .*, in searched"),
    ],
)
@pytest.mark.parametrize("wrap", [lambda player: player, PlayerWrapper])
def test_every_method_of_a_player_is_reported_with_its_file(folder: Path, name: str, play, reason: str, wrap) -> None:
    game = selfplay.make_game("tictactoe")
    player = wrap(selfplay.make_player(f"faulty_methods:{name}", game))
    player.game = game
    with pytest.raises(SelfPlayError, match=f"^player 'faulty_methods:{name}': {reason}") as error:
        play(player)
    assert str(folder / "faulty_methods.py") in str(error.value)
    assert "\n" not in str(error.value)


def test_methods_are_reported_inside_a_wrapper_that_nobody_has_checked(folder: Path) -> None:
    game = selfplay.make_game("tictactoe")
    player = exploring(game, import_module("faulty_methods").Follows(game))
    with pytest.raises(SettingError, match=r"^player '.*random too': 'Match' .*, in follow") as error:
        selfplay.match(player, "random", matches=2)
    assert str(folder / "faulty_methods.py") in str(error.value)


def test_a_player_that_changes_what_any_method_is_given_changes_no_match() -> None:
    game = selfplay.make_game("tictactoe")
    careless, random = import_module("faulty_methods").Careless(game), selfplay.RandomPlayer(game)
    learning = Series(range(4), key=0, learn=True)
    for play in (
        lambda player: selfplay.match(player, random, matches=4),
        lambda player: play_session(player).match,
        lambda player: play_session(player).results,
        lambda player: [
            (one.match.tolist(), one.seats.tolist(), one.actions_of(0), one.returns().tolist())
            for record in learning.records(game, (player, player))
            for one in record.singly()
        ],
    ):
        assert play(careless) == play(random)


def test_values_and_policies_that_need_gradients_are_those_without() -> None:
    game = selfplay.make_game("tictactoe")
    player = selfplay.make_player("faulty_methods:Gradients", game)
    grade = selfplay.grade(game, player)
    assert grade.lines == selfplay.grade(game, selfplay.RandomPlayer(game)).lines
    assert grade.value_error > 0
    session = selfplay.Session(game, (None, player), key=0)
    assert session.estimate().values.tolist() == [1.0] * 9


def exploring(game: selfplay.Game, player: selfplay.Player) -> selfplay.Player:
    return EpsilonGreedyPlayer(game, player, [0.01])


@pytest.mark.parametrize(
    ("value", "logit", "reason"),
    [
        ("nan", "0", "must give values from -1 to 1, not nan"),
        ("7", "0", "must give values from -1 to 1, not 7"),
        ("0", "nan", "must give logits that are numbers, or -inf"),
    ],
)
def test_an_evaluator_whose_numbers_no_search_can_use_is_refused(value: str, logit: str, reason: str) -> None:
    with pytest.raises(ConformanceError, match=f"^evaluator 'Constant': {reason} .*faulty_players.py"):
        selfplay.match(f"mcts:faulty_players:Constant:{value}:{logit}?simulations=8", "random", matches=2)
    assert selfplay.match("mcts:faulty_players:Constant:1:-inf?simulations=8", "random", matches=2).matches == 2


def test_a_player_without_a_name_is_refused() -> None:
    with pytest.raises(SelfPlayError, match=r"^player 'faulty_players:Nameless': it has no name; write name = "):
        selfplay.make_player("faulty_players:Nameless", "tictactoe")


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: OUTCOMES["answering:nothing"](None), "outcome 'answering:nothing' must return EndValues, not None"),
        (lambda: SCHEDULES["answering:nothing"](1, 2, 3), "schedule 'answering:nothing' must return Real, not None"),
        (lambda: make_rule("answering:rule"), "rule of tree search 'answering:rule' must return Rule, not None"),
        (
            lambda: TARGET_RULES["answering:nothing"](None),
            "target rule 'answering:nothing' must return Tensor or PositionTargets, not None",
        ),
    ],
)
def test_a_function_that_returns_something_else_is_named(ask, message) -> None:
    with pytest.raises(SettingError, match=f"^{message}$"):
        ask()


@pytest.mark.parametrize("setting", ["opponent", "learner.self_play"])
def test_what_is_not_a_player_is_refused_when_settings_are_composed(setting: str) -> None:
    name = "builtins:int"
    with pytest.raises(SettingError, match=f"^{setting}={name}: not a subclass of selfplay.Player, nor a PlayerKind$"):
        selfplay.compose_settings(**{setting: name})


@pytest.mark.parametrize(
    ("section", "setting", "form"),
    [
        ("learner.", "targets", "target rule .* is not a Python function of (played), as every target rule is"),
        ("learner.", "outcome", "outcome .* is not a Python function of (game), as every outcome is"),
        ("learner.", "schedule", "schedule .* is not a Python function of (peak, step, total_steps), as"),
        ("learner.", "optimizer", "optimizer .* has no attribute step, which every optimizer has"),
    ],
)
def test_what_cannot_be_called_as_its_kind_is_refused_when_settings_are_composed(
    section: str, setting: str, form: str
) -> None:
    kind, _, rest = form.partition(" .* ")
    for name in ("os:system", "os:path", "shutil:copyfile", "tests.support.pile:PilePresentation"):
        with pytest.raises(SettingError, match=f"^{re.escape(f'{kind} {name!r} {rest}')}"):
            selfplay.compose_settings(**{f"{section}{setting}": name})


def test_a_target_rule_that_fails_is_reported_in_one_line(tmp_path: Path) -> None:
    settings = selfplay.compose_settings(learner={"targets": "json:loads"}, run_dir=tmp_path, matches=20)
    with pytest.raises(SettingError, match=r"^target rule 'json:loads': TypeError: "):
        selfplay.generate_level(settings, 0)


@pytest.mark.parametrize("setting", ["opponent", "learner.self_play", "comparison.references"])
def test_a_person_is_refused_where_only_players_play(setting: str) -> None:
    value = ["human"] if setting == "comparison.references" else "human"
    with pytest.raises(SettingError, match=f"^{setting}=human: a person can only play with selfplay play$"):
        selfplay.compose_settings(**{setting: value})


@pytest.mark.parametrize(
    ("adapter", "package"),
    [("gymnasium", "gymnasium"), ("open_spiel", "pyspiel"), ("pettingzoo", "pettingzoo"), ("onnx", "onnxruntime")],
)
def test_an_adapter_whose_package_is_missing_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, adapter: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, f"selfplay.adapters.{adapter}", raising=False)
    with pytest.raises(ModuleNotFoundError, match=r"pip install .*\[(gymnasium|openspiel|pettingzoo|onnx)\]"):
        import_module(f"selfplay.adapters.{adapter}")


@pytest.mark.slow
def test_whatever_a_player_returns_or_raises_is_reported_in_one_line(folder: Path) -> None:
    for number in range(len(import_module("returning").WRONG)):
        name = f"returning:P{number}"
        with pytest.raises(SelfPlayError) as error:
            selfplay.match(name, "random", game="tictactoe", matches=4)
        message = str(error.value)
        assert message.startswith(f"player '{name}': "), message
        assert str(folder / "returning.py") in message
        assert "\n" not in message
        assert len(message) < 1000


@pytest.mark.slow
@pytest.mark.parametrize("text", MODULES)
def test_a_module_without_what_is_needed_is_refused_in_one_line(text: str) -> None:
    name = f"module_{MODULES.index(text)}:Named"
    settings = ("learner.targets", "learner.outcome", "opponent", "learner.optimizer", "learner.schedule")
    uses = [lambda setting=setting: selfplay.compose_settings(**{setting: name}) for setting in settings]
    for use in (*uses, lambda: selfplay.make_game(name), lambda: selfplay.make_player(name, "tictactoe")):
        with pytest.raises(SelfPlayError) as error:
            use()
        message = str(error.value)
        assert name in message
        assert "\n" not in message
        assert len(message) < 1000
