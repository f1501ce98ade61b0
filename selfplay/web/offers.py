"""What the page offers as opponents: which players of each kind, under which labels."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from selfplay.agents.pretrained import (
    PRETRAINED,
    find_pretrained,
    is_for_compiled_search,
    pretrained_agents,
    search_depth,
)
from selfplay.games import Game
from selfplay.named_players.make import files_of_player, make_player
from selfplay.named_players.names import ITSELF, kind_named, parse_name
from selfplay.named_players.strengths import STRENGTHS, judge_name, offered_strengths
from selfplay.players.experience import load_experience_player
from selfplay.players.perfect import perfect_player_of
from selfplay.playing.hints import judge_of
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.common import PERSON
from selfplay.settings.playing import WebSettings
from selfplay.tabular.table_file import trains_against_people
from selfplay.web.game_schemas import OfferedPlayer
from selfplay.web.search_offers import network_in_words, search_offers

JUDGE = "judge"
"""The id of the offer that values moves; it cannot be chosen as an opponent."""

OWN_KIND = "a player like itself that sometimes moves at random, as in its training"
"""Against whom the values of learned agents hold."""

PRETRAINED_DEPTH, PRETRAINED_EMPTIES = 5, 10
"""Plies that the pretrained agent looks ahead inside a search, and empty squares that it plays perfectly."""

ROLLOUTS, WITH_NETWORK = 1000, 200
"""Simulations for each action of the opponents that are offered: random matches take microseconds, networks more."""


def judge_offer(game: Game, run_dir: Path) -> OfferedPlayer:
    """The strongest player that is known, which values moves."""
    player, label = judge_name(game, run_dir)
    return OfferedPlayer(
        JUDGE,
        JUDGE,
        label[0].upper() + label[1:],
        "the strongest player that is known",
        partial(judge_of, game, run_dir, in_background=True),
        file=_level_file(player, run_dir),
        span=None if game.counts_discs and find_pretrained(game.learned_as()) is None else 1.0,
        is_slow=True,
    )


def _level_file(player: str, run_dir: Path) -> Path | None:
    """The file of the level that the player with this name uses, which changes while a run goes on; None: no level."""
    return next((file for file in files_of_player(player, run_dir) if file.is_relative_to(run_dir)), None)


def _offered(
    game: Game, run_dir: Path, player: str, id: str, kind: str, label: str, about: str, **more: Any
) -> OfferedPlayer:
    """The offer of the player with this name. `more`: further fields of the offer."""
    return OfferedPlayer(id, kind, label, about, partial(make_player, player, game, run_dir), **more)


def _strength_offer(strength: str, game: Game, run_dir: Path, web: WebSettings) -> Iterator[OfferedPlayer]:
    """One of the strengths that people are offered; perfect play has an offer of its own."""
    plays = offered_strengths(game, run_dir).get(strength)
    if plays is not None and plays.player != "perfect":
        texts = strength, "strength", strength.capitalize(), kind_named(strength).meaning
        file = _level_file(plays.player, run_dir)
        yield _offered(game, run_dir, strength, *texts, file=file, way=str(plays), estimates=False, is_slow=True)


def level_offers(game: Game, run_dir: Path, web: WebSettings) -> Iterator[OfferedPlayer]:
    """Every level, as it played in its own matches."""
    run = RunFolder(run_dir)
    levels = run.trained_levels()
    for level in levels:
        file = run.agent(level)
        about = f"{network_in_words(file)[0]}, learned by self-play; looks at its own next move only"
        texts = f"level:{level}", f"level-{level}", "level", f"Level {level}", about
        place: dict[str, Any] = {"group": "Levels of the run", "number": level, "is_default": level == levels[-1]}
        yield _offered(game, run_dir, *texts, file=file, has_fixed_values=True, values_hold=OWN_KIND, **place)


def _pretrained_offers(game: Game, run_dir: Path, web: WebSettings) -> Iterator[OfferedPlayer]:
    file = find_pretrained(game.learned_as())
    if file is None:
        return
    where = "" if pretrained_agents().get(game.learned_as()) == file else " on another size of the board"
    about = f"comes with the program; learned by self-play{where}"
    texts = PRETRAINED, "pretrained", "pretrained", "Pretrained", about
    yield _offered(game, run_dir, *texts, file=file, has_fixed_values=True, values_hold=OWN_KIND)
    depth = search_depth(game.learned_as(), PRETRAINED_DEPTH)
    endgame = 0 if game.exact_solver is None else PRETRAINED_EMPTIES
    search = f"search:negascout?depth={depth}&endgame={endgame}&evaluation={PRETRAINED}&slack=0"
    label, about = f"{depth} plies", f"looks {depth} plies ahead with"
    if not is_for_compiled_search(game.learned_as()):
        search = f"mcts:{PRETRAINED}?simulations={WITH_NETWORK}"
        label, about = f"{WITH_NETWORK} simulations", f"tree search of {WITH_NETWORK} simulations with"
    texts = (
        search,
        "pretrained-search",
        "pretrained",
        f"Pretrained, {label}",
        f"{about} the agent that comes with the program",
    )
    yield _offered(game, run_dir, *texts, file=file, is_slow=True)


def _most_discs_offer(game: Game, run_dir: Path, web: WebSettings) -> Iterator[OfferedPlayer]:
    """The player that turns the most discs, in games in which discs count."""
    if game.counts_discs:
        texts = "greedy_discs", "greedy", "greedy", "Most discs now", "always turns as many discs as it can"
        yield _offered(game, run_dir, *texts, estimates=False, is_slow=True)


def _mcts_offers(game: Game, run_dir: Path, web: WebSettings) -> Iterator[OfferedPlayer]:
    """A search with random matches, and one with the newest level of the run."""
    about = f"tries its moves in {ROLLOUTS:,} random matches and prefers those that win"
    texts = "mcts-rollouts", "mcts", "Tree search, random matches", about
    yield _offered(game, run_dir, f"mcts:rollouts?simulations={ROLLOUTS}", *texts, is_slow=True)
    run = RunFolder(run_dir)
    for level in run.trained_levels()[-1:]:
        name = f"mcts:level:{level}?simulations={WITH_NETWORK}"
        about = f"looks ahead with the newest level, in {WITH_NETWORK} simulations"
        texts = "mcts-level", "mcts", f"Tree search, level {level}", about
        yield _offered(game, run_dir, name, *texts, file=run.agent(level), is_slow=True)


def _random_offers(game: Game, run_dir: Path, web: WebSettings) -> Iterator[OfferedPlayer]:
    about = f"plays {kind_named('random').meaning}"
    yield _offered(game, run_dir, "random", "random", "random", "Random", about, estimates=False)


def _tabular_offers(game: Game, run_dir: Path, web: WebSettings) -> Iterator[OfferedPlayer]:
    made = partial(make_player, game=game, run_dir=run_dir, against_person=True)
    for path in sorted((run_dir / "tabular").glob("*.npz")):
        offer = OfferedPlayer(
            f"tabular:{path.stem}",
            "table",
            f"Table: {path.stem.replace('_', ' ')}",
            "has learned a value for every board",
            partial(made, f"tabular:{path.stem}"),
            file=path,
            neutral=0.5,
            span=0.5,
        )
        if not trains_against_people(path):
            yield offer
            continue
        fixed = f"{offer.id}?epsilon=0&learn=false"
        yield replace(offer, about="explores, and learns from your matches", learns=True)
        yield replace(offer, id=fixed, label=f"{offer.label}, fixed", make=partial(made, fixed))


def _experience_offers(game: Game, run_dir: Path, web: WebSettings) -> Iterator[OfferedPlayer]:
    for path in sorted(run_dir.glob("experience*.sqlite")):
        yield OfferedPlayer(
            f"memory-{path.stem}",
            "experience",
            path.stem.replace("_", " ").capitalize(),
            "remembers every board it has met, and learns from your matches",
            partial(load_experience_player, path, game),
            file=path,
            learns=True,
        )


def _perfect_offers(game: Game, run_dir: Path, web: WebSettings) -> Iterator[OfferedPlayer]:
    player = perfect_player_of(game)
    if player is not None:
        has_results = player.value_kind == "results"
        yield OfferedPlayer(
            "perfect",
            "perfect",
            "Perfect play",
            "knows the exact value of every move",
            partial(player.with_time_limit, web.search_seconds),
            span=1.0 if has_results else None,
            is_slow=not has_results,
        )


OFFERS: dict[str, Callable[[Game, Path, WebSettings], Iterator[OfferedPlayer]]] = {
    **{strength: partial(_strength_offer, strength) for strength in STRENGTHS},
    "level": level_offers,
    PRETRAINED: _pretrained_offers,
    "search": search_offers,
    "mcts": _mcts_offers,
    "random": _random_offers,
    "tabular": _tabular_offers,
    "experience": _experience_offers,
    "greedy_discs": _most_discs_offer,
    "perfect": _perfect_offers,
    **dict.fromkeys((ITSELF, PERSON), lambda *_: iter(())),
}
"""(game, run_dir, settings of the page) to what is offered of each kind. Another kind is offered by its name, unless it
needs an argument."""


def offered_players(game: Game, run_dir: Path, web: WebSettings, kinds: Iterable[str]) -> Iterator[OfferedPlayer]:
    """The opponents in the order in which the page shows them: of each kind, then those that the settings name."""
    for name in kinds:
        if name in OFFERS:
            yield from OFFERS[name](game, run_dir, web)
        elif not kind_named(name).needs_argument:
            yield _by_name(name, game, run_dir)
    yield from (_by_name(text, game, run_dir) for text in web.opponents)


def _by_name(text: str, game: Game, run_dir: Path) -> OfferedPlayer:
    meaning = kind_named(parse_name(text).kind).meaning
    return _offered(game, run_dir, text, text, text, text, meaning, is_slow=True, is_kept=True)
