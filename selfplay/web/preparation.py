"""Compiling what the page offers in the background, most likely first, so that nobody has to wait for it.

Another process does this, at low priority: compiled code is kept on disk (`selfplay.compute.compile_cache`), where the
server finds it. While the server itself compiles for a visitor, that process is ended: it would compete for the
processors, and the server would wait for the functions that it has begun to compile. It then begins again, with the
games that visitors have opened.
"""

import hashlib
import logging
import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from itertools import product
from pathlib import Path
from typing import NamedTuple

from selfplay.compute.compile_cache import cache_folder, compiled_identity
from selfplay.compute.versions import versions
from selfplay.errors import SelfPlayError, text_of
from selfplay.executors import ExecutorOptions
from selfplay.executors.processes import ProcessExecutor
from selfplay.games import Game
from selfplay.search.deadline import Deadline
from selfplay.settings.playing import WebSettings
from selfplay.web.match_schemas import MatchRequest, People
from selfplay.web.match_service import MatchService
from selfplay.web.opponents import OpponentCatalog

log = logging.getLogger(__name__)

LOWEST_PRIORITY = 19
"""The niceness of the process, so that it takes no time from a request."""
POLL_SECONDS = 0.2
"""How often the server looks whether it compiles for a visitor."""


class Preparation(NamedTuple):
    """What is compiled in the background."""

    settings: WebSettings
    opened: Sequence[str]
    """The names of the games that come first."""


@contextmanager
def preparing(service: MatchService) -> Iterator[None]:
    """Compile during the block what the page offers, if it is wanted and compiled code is kept."""
    if not service.settings.compile_ahead or cache_folder() is None:
        yield
        return
    ended = threading.Event()
    thread = threading.Thread(target=_prepare_beside, args=(service, ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _prepare_beside(service: MatchService, ended: threading.Event) -> None:
    """Compile in another process, except while the server compiles for a visitor."""
    is_done = False
    while not (is_done or ended.is_set()):
        if not service.is_compiling_long:
            is_done = _prepare_until_interrupted(service, ended)
        ended.wait(POLL_SECONDS)


def _prepare_until_interrupted(service: MatchService, ended: threading.Event) -> bool:
    """Whether everything has been compiled, or cannot be: whatever is not compiled yet is compiled when it is
    needed."""
    executor = ProcessExecutor(ExecutorOptions("process", workers=1))
    task = Preparation(service.settings, service.opened)
    with ThreadPoolExecutor(1) as waiting:
        prepared = waiting.submit(lambda: list(executor.map(prepare_all, [task])))
        while not (prepared.done() or ended.is_set() or service.is_compiling_long):
            wait([prepared], POLL_SECONDS)
        is_done = prepared.done()
        executor.close()
    if is_done and (error := prepared.exception()) is not None:
        log.warning("Compiling ahead has ended, and matches compile what they need when they begin: %s", text_of(error))
    return is_done


def prepare_all(task: Preparation) -> None:
    """Compile what the page offers, in this process, unless this has been done."""
    if hasattr(os, "nice"):
        os.nice(LOWEST_PRIORITY)
    service = MatchService(task.settings)
    for game, opponent in likely_choices(service.catalog, task.opened):
        if not (mark := _mark_of(game, opponent)).exists():
            # A person who chooses it gets the message.
            with suppress(SelfPlayError):
                prepare_match(service, game, opponent)
            mark.touch()


def _mark_of(game: Game, opponent: str) -> Path:
    """A file that exists if this version of the program has compiled what a match against an opponent needs, with these
    rules."""
    folder = cache_folder()
    assert folder is not None, "compiled code is kept"
    rules = compiled_identity(game.rules).digest
    digest = hashlib.sha256(repr((sorted(versions().items()), game.name, rules, opponent)).encode())
    return folder / f"{digest.hexdigest()[:16]}.prepared"


def likely_choices(catalog: OpponentCatalog, opened: Sequence[str] = ()) -> Iterator[tuple[Game, str]]:
    """The games and the ids of opponents that people choose from, most likely first: the games that are opened, in this
    order, then the one that the page opens with, then the first board of each game, then other boards; of each, first
    the opponent that is preselected."""
    games, likely = list(catalog.games.values()), [*opened, catalog.settings.game.name]
    first, count = {type(game): game for game in reversed(games)}, len(likely)
    ranks = [
        likely.index(game.name) if game.name in likely else count if first[type(game)] is game else count + 1
        for game in games
    ]
    for rank, is_preselected in product(range(count + 2), (True, False)):
        for game in (game for game, its in zip(games, ranks, strict=True) if its == rank):
            offer = catalog.opponents(game)
            chosen = [one for one in offer.strengths.values() if (one == offer.default) == is_preselected]
            yield from ((game, one) for one in chosen)


def prepare_match(service: MatchService, game: Game, opponent: str) -> None:
    """Compile what the first moves of a match and a hint need. Raises SelfPlayError if they are not possible."""
    request = MatchRequest(game=game.name, opponent=opponent, person=People.SECOND, advance=True)
    with ExitStack() as lent:
        with Deadline(service.settings.search_seconds).applied():
            match, _ = service.played(request, game, service.participants(game, request, lent))
        with Deadline(service.settings.search_seconds).applied():
            match.judging.hint(match.shown)
