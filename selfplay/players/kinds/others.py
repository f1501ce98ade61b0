"""Players with few lines: `random`, `human`, `perfect`, `gtp:COMMAND` and `openspiel:BOT`."""

from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.errors import SettingError
from selfplay.players.player_names import OfferedPlayer, Option, PlayerKind, PlayerName
from selfplay.settings.command_lines import command_line, require_package

if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.players.player import Player
    from selfplay.settings.playing import WebSettings


def _make_random(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.players.random import RandomPlayer

    return RandomPlayer(game)


def _random_offers(game: "Game", run_dir: Path, web: "WebSettings") -> "Iterator[OfferedPlayer]":
    from selfplay.players.random import RandomPlayer

    yield OfferedPlayer(
        "random", "random", "Random", f"plays {RANDOM.meaning}", partial(RandomPlayer, game), estimates=False
    )


RANDOM = PlayerKind("random", "every legal action with the same probability", _make_random, offers=_random_offers)


def _make_human(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    raise SettingError(f"player {name.text!r}: a person can only play with {command_line('play')}")


HUMAN = PlayerKind("human", "a person, at the console only", _make_human, offers=lambda *_: iter(()))


def _make_perfect(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.games.position_graph import positions_of
    from selfplay.players.perfect import PerfectPlayer, whole_game_solver_player

    ties = name.options["ties"]
    return whole_game_solver_player(game, ties) or PerfectPlayer(positions_of(game), ties)


def _perfect_offers(game: "Game", run_dir: Path, web: "WebSettings") -> Iterator[OfferedPlayer]:
    from selfplay.players.perfect import perfect_player_of

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


PERFECT = PlayerKind(
    "perfect",
    "perfect play, in games that can be enumerated or solved",
    _make_perfect,
    (Option("ties", str, "random"),),
    offers=_perfect_offers,
)


def _make_gtp(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    from selfplay.players.gtp import GtpPlayer

    options = {option.name: name.options[option.name] for option in GTP.options}
    return GtpPlayer(game, name.argument, **options)


GTP = PlayerKind(
    "gtp:COMMAND",
    "a program that speaks the Go Text Protocol, started by this command",
    _make_gtp,
    (Option("time_limit", float, 60.0), Option("rows", str, "top"), Option("passes", str, "skip")),
    is_command=True,
)


def _make_openspiel(name: PlayerName, game: "Game", run_dir: Path) -> "Player":
    require_package(f"player {name.text!r}", "pyspiel", "openspiel")
    # By its name, because adapters stand above players.
    adapter = import_module("selfplay.adapters.open_spiel")
    made: Player = adapter.SpielPlayer(game, name.argument, name.options["simulations"])
    return made


OPENSPIEL = PlayerKind(
    "openspiel:BOT",
    "a bot of OpenSpiel, mcts or random, if the package is installed",
    _make_openspiel,
    (Option("simulations", int, 100),),
)
