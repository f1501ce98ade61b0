"""`search:ALGORITHM`: looking ahead, and `greedy_discs`, which looks one ply ahead for discs."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.errors import SettingError, StageError
from selfplay.files import read_once
from selfplay.players.kinds.agents import agent_name, described, make_agent
from selfplay.players.player_names import OfferedPlayer, Option, PlayerKind, PlayerName, files_of_player, make_player
from selfplay.runs.run_folder import PROBCUT_FILE, RunFolder

if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.players.agent import Agent
    from selfplay.players.player import Player
    from selfplay.search.evaluation import Evaluation
    from selfplay.settings.playing import WebSettings

DEPTH, NETWORK_DEPTH = 4, 2
"""Plies to look ahead by default: in compiled searches, and with a network, which evaluates the whole tree."""


def _make(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.players.search import SearchPlayer
    from selfplay.search.evaluation import make_evaluation
    from selfplay.search.searcher import Searcher

    options, named, probcut = name.options, _agent_name(name), None
    if named is None:
        if "probcut" in name.given:
            raise SettingError(f"player {name.text!r}: probcut needs evaluation=level:L or evaluation=pretrained")
        evaluation: Evaluation = make_evaluation(options["evaluation"], game)
    else:
        agent = make_agent(named, game, run_dir)
        if (learned := agent.evaluation()) is None:
            return _network_search(name, agent)
        evaluation = learned
        if "probcut" in name.given:
            probcut = agent.probcut(options["probcut"], name.text)
    how = {option: options[option] for option in ("ordered", "table_bits")}
    return SearchPlayer(
        Searcher(game, evaluation, name.argument, **how, probcut=probcut),
        DEPTH if options["depth"] is None else options["depth"],
        time_limit=options["time_limit"],
        endgame=options["endgame"],
        name=_own_name(name),
    )


def _files(name: PlayerName, run_dir: Path) -> list[Path]:
    from selfplay.search.evaluation import evaluation_path

    named = _agent_name(name)
    if named is None:
        return [evaluation_path(name.options["evaluation"])]
    files = files_of_player(named, run_dir)
    fitted = [file.with_name(PROBCUT_FILE) for file in files] if "probcut" in name.given else []
    return [*files, *filter(Path.exists, fitted)]


def _agent_name(name: PlayerName) -> PlayerName | None:
    """The learned agent in the option evaluation; None if it names an evaluation in a file."""
    from selfplay.search.evaluation import known_evaluations

    text = name.options["evaluation"]
    return None if text in known_evaluations() else agent_name(text, name)


def _network_search(name: PlayerName, agent: "Agent") -> "Player":
    """The player of an agent whose network cannot be compiled: it evaluates the whole tree in batches of positions."""
    from selfplay.search.negamax import ALGORITHMS

    if name.argument not in ALGORITHMS:
        raise SettingError(f"unknown search {name.argument!r}; choose from {', '.join(ALGORITHMS)}")
    if unsupported := [option for option in ("time_limit", "endgame", "probcut") if option in name.given]:
        raise SettingError(f"player {name.text!r}: {unsupported[0]} needs a level with tables (architecture=ntuple...)")
    depth = NETWORK_DEPTH if name.options["depth"] is None else name.options["depth"]
    player = agent.player(depth)
    player.name = _own_name(name)
    return player


def _own_name(name: PlayerName) -> str:
    return name.text.removeprefix("search:")


def _make_greedy_discs(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.players.search import SearchPlayer
    from selfplay.search.evaluation import make_evaluation
    from selfplay.search.searcher import Searcher

    if game.features is None:
        raise SettingError(f"player {name.text!r}: {game.name} has no features; choose another player, such as random")
    return SearchPlayer(Searcher(game, make_evaluation("discs", game)), 1, name=name.text)


SEARCHES_IN_A_REPLY = 3
"""Number of searches in a reply: for the values of the opponent's actions, for its choice, and for the values of the
person's next actions."""
OFFERED_TABLE_BITS = 14
"""The size of a search's table: 640 KiB, because every match against a search needs a separate table."""
LEVEL_DEPTHS, DEFAULT_LEVEL_DEPTH, LEVEL_ENDGAME, LEVEL_ENDGAME_BITS = range(2, 13), 6, 12, 14
"""Plies that the newest level looks ahead inside a search. If the game has an exact solver, also the number of empty
squares that it plays perfectly, in tens of milliseconds, and the size of the solver's table."""
DEFAULT_DEPTH, SOLVES_FROM_DEPTH, ENDGAME, ENDGAME_BITS = 4, 4, 10, 12
"""The same for a search by fixed rules, which answers at once. Searches from depth 4 on solve the end of the match, in
milliseconds, with a table of at most 128 KiB."""


def _offers(game: "Game", run_dir: Path, web: "WebSettings") -> Iterator[OfferedPlayer]:
    """The newest level inside a search, and a search by fixed rules, of each depth."""
    from selfplay.search.evaluation import make_evaluation

    evaluation = partial(make_evaluation, "none" if game.features is None else "article", game)
    seconds = web.search_seconds / SEARCHES_IN_A_REPLY
    yield from level_search_offers(game, run_dir, web)
    deepest = min(web.deepest_search, game.max_game_length)
    for depth in range(1, deepest + 1):
        endgame = ENDGAME if game.exact_solver is not None and depth >= SOLVES_FROM_DEPTH else 0
        yield OfferedPlayer(
            f"search-{depth}",
            "search",
            f"Search ({'1 ply' if depth == 1 else f'{depth} plies'})",
            _about(game, endgame),
            partial(_offered, game, evaluation, depth, seconds, endgame),
            group="Search",
            number=depth,
            is_default=depth == min(DEFAULT_DEPTH, deepest),
            span=None if game.features else 1.0,
            is_slow=True,
        )


def level_search_offers(game: "Game", run_dir: Path, web: "WebSettings") -> Iterator[OfferedPlayer]:
    """The newest level inside a search, to each depth, if compiled searches can compute its values."""
    run, seconds = RunFolder(run_dir), web.search_seconds / SEARCHES_IN_A_REPLY
    for level in run.trained_levels()[-1:]:
        description, is_compiled = described(run.agent(level))
        deepest = min(web.deepest_search, game.max_game_length)
        endgame = LEVEL_ENDGAME if game.exact_solver is not None else 0
        exactly = f", and plays the last {endgame} squares perfectly" if endgame else ""
        learned = partial(_learned_evaluation, run.agent(level), level, game)
        for depth in [depth for depth in LEVEL_DEPTHS if is_compiled and depth <= deepest]:
            is_default, name = depth == min(DEFAULT_LEVEL_DEPTH, deepest), f"level {level}, {depth} plies"
            yield OfferedPlayer(
                f"level-{level}-search-{depth}",
                "search",
                f"Level {level}, looking {depth} plies ahead",
                f"{description}, learned by self-play, inside a search{exactly}",
                partial(_offered, game, learned, depth, seconds, endgame, LEVEL_ENDGAME_BITS, name),
                file=run.agent(level),
                group=f"Level {level}, looking ahead",
                number=depth,
                is_default=is_default,
                is_recommended=is_default,
                is_slow=True,
            )


def _most_discs_offer(game: "Game", run_dir: Path, web: "WebSettings") -> Iterator[OfferedPlayer]:
    """The player that turns the most discs, in games in which discs count."""
    if game.rules.margin is not None:
        yield OfferedPlayer(
            "greedy",
            "greedy",
            "Most discs now",
            "always turns as many discs as it can",
            partial(make_player, "greedy_discs", game, run_dir),
            span=None,
            is_slow=True,
        )


def _about(game: "Game", endgame: int) -> str:
    about = "looks ahead and evaluates the positions it reaches" if game.features else "looks ahead for the end"
    aim = "" if game.rules.margin is None else ", for the most discs"
    return f"{about}; plays the last {endgame} squares perfectly{aim}" if endgame else about


def _offered(
    game: "Game",
    evaluation: "Callable[[], Evaluation]",
    depth: int,
    seconds: float,
    endgame: int,
    endgame_bits: int = ENDGAME_BITS,
    name: str | None = None,
) -> "Player":
    from selfplay.players.search import SearchPlayer
    from selfplay.search.searcher import Searcher

    searcher = Searcher(game, evaluation(), table_bits=OFFERED_TABLE_BITS)
    return SearchPlayer(searcher, depth, time_limit=seconds, endgame=endgame, endgame_bits=endgame_bits, name=name)


@read_once(4)
def _learned_evaluation(agent: Path, level: int, game: "Game") -> "Evaluation":
    """What a level has learned, read once for each version of its file."""
    from selfplay.players.agent import Agent

    evaluation = Agent.load(agent, game, f"level {level}").evaluation()
    if evaluation is None:
        raise StageError(f"level {level} cannot play inside a search; choose another opponent")
    return evaluation


KIND = PlayerKind(
    "search:ALGORITHM",
    "minimax, alpha_beta or negascout, looking ahead",
    _make,
    (
        Option("depth", int),
        Option("evaluation", str, "none"),
        Option("ordered", bool, True),
        Option("table_bits", int, 16),
        Option("time_limit", float),
        Option("endgame", int, 0),
        Option("probcut", float),
        Option("run_dir"),
    ),
    files=_files,
    offers=_offers,
)
GREEDY_DISCS = PlayerKind(
    "greedy_discs",
    "the most discs after its move, where discs count",
    _make_greedy_discs,
    offers=_most_discs_offer,
)
