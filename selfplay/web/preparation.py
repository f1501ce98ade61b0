"""Compiling what the page offers in the background, most likely first, so that nobody has to wait for it.

Another process does this, at low priority: compiled code is kept on disk (`selfplay.compute.compile_cache`), where the
server finds it.
"""

import hashlib
import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import product
from pathlib import Path

from selfplay.compute.compile_cache import cache_folder, compiled_identity, versions
from selfplay.errors import SelfPlayError, StageError
from selfplay.executors import ExecutorOptions
from selfplay.executors.processes import ProcessExecutor
from selfplay.games import Game
from selfplay.search.deadline import Deadline
from selfplay.settings.playing import WebSettings
from selfplay.web.matches import MatchService
from selfplay.web.opponents import OpponentCatalog
from selfplay.web.schemas import MatchRequest, People

LOWEST_PRIORITY = 19
"""The niceness of the process, so that it takes no time from a request."""


@contextmanager
def preparing(settings: WebSettings) -> Iterator[None]:
    """Compile during the block what the page offers, if it is wanted and compiled code is kept."""
    if not settings.compile_ahead or cache_folder() is None:
        yield
        return
    executor = ProcessExecutor(ExecutorOptions("process", workers=1))

    def run() -> None:
        # Whatever is not compiled yet is compiled when it is needed.
        with suppress(StageError):
            list(executor.map(prepare_all, [settings]))
        executor.close()

    threading.Thread(target=run, daemon=True).start()
    try:
        yield
    finally:
        executor.close()


def prepare_all(settings: WebSettings) -> None:
    """Compile what the page offers, in this process, unless this has been done."""
    if hasattr(os, "nice"):
        os.nice(LOWEST_PRIORITY)
    service = MatchService(settings)
    for game, opponent in likely_choices(service.catalog):
        if not (mark := _mark_of(game, opponent)).exists():
            # A person who chooses it gets the message.
            with suppress(SelfPlayError):
                prepare(service, game, opponent)
            mark.touch()


def _mark_of(game: Game, opponent: str) -> Path:
    """A file that exists if this version of the program has compiled what a match against an opponent needs, with these
    rules."""
    folder = cache_folder()
    assert folder is not None, "compiled code is kept"
    rules = compiled_identity(game.rules).digest
    digest = hashlib.sha256(repr((sorted(versions().items()), game.name, rules, opponent)).encode())
    return folder / f"{digest.hexdigest()[:16]}.prepared"


def likely_choices(catalog: OpponentCatalog) -> Iterator[tuple[Game, str]]:
    """The games and the ids of opponents that people choose from, most likely first: the game that the page opens with,
    then the first board of each game, then other boards; of each, first the opponent that is preselected."""
    games, opened = list(catalog.games.values()), catalog.settings.game.name
    first = {type(game): game for game in reversed(games)}
    ranks = [0 if game.name == opened else 1 if first[type(game)] is game else 2 for game in games]
    for rank, is_preselected in product(range(3), (True, False)):
        for game in (game for game, its in zip(games, ranks, strict=True) if its == rank):
            offer = catalog.opponents(game)
            chosen = [one for one in offer.strengths.values() if (one == offer.default) == is_preselected]
            yield from ((game, one) for one in chosen)


def prepare(service: MatchService, game: Game, opponent: str) -> None:
    """Compile what the first moves of a match and a hint need. Raises SelfPlayError if they are not possible."""
    request = MatchRequest(game=game.name, opponent=opponent, person=People.SECOND, advance=True)
    with ExitStack() as lent:
        with Deadline(service.settings.search_seconds).applied():
            match, _ = service.played(request, game, service.participants(game, request, lent))
        with Deadline(service.settings.search_seconds).applied():
            match.hint()
