"""What the page offers is compiled in the background, most likely first."""

import os
import threading
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from time import sleep

import pytest

from selfplay.errors import SettingError, StageError
from selfplay.executors import ExecutorOptions
from selfplay.games import Game, make_game
from selfplay.settings.common import GameSettings
from selfplay.web import loaded_players, preparation
from selfplay.web.app import create_app
from selfplay.web.match_service import MatchService
from selfplay.web.preparation import POLL_SECONDS, Preparation, likely_choices, prepare_all, preparing
from tests.support.stub_players import FirstLegal
from tests.web.conftest import client_of, until, web_settings
from tests.web.match_requests import answer, described, shown


def stay(task: Preparation) -> None:
    """Write the number of this process and the games that come first, and do not end."""
    file = Path(task.settings.run_dir) / "process"
    file.with_suffix(".partial").write_text(" ".join([str(os.getpid()), *task.opened]))
    file.with_suffix(".partial").rename(file)
    sleep(1000)


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


LOADS, OPENED = threading.Event(), threading.Event()


class Held(FirstLegal):
    """Takes until `OPENED` to be loaded. Its code is the same in each process, as workers require: without assertions,
    which pytest rewrites in its own process."""

    name = "held"

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        LOADS.set()
        OPENED.wait(100)


@pytest.fixture
def service(tmp_path: Path) -> MatchService:
    """With an opponent that is held."""
    for event in (LOADS, OPENED):
        event.clear()
    return MatchService(web_settings(tmp_path, opponents=["tests.web.test_preparation:Held"]))


@pytest.fixture
def visitor(service: MatchService) -> threading.Thread:
    """Asks for the first move of the held opponent when it is started."""
    asked = described("sumto100", "tests.web.test_preparation:Held", person="second")
    return threading.Thread(target=shown, args=(client_of(create_app(service)), asked))


class Beside:
    """In place of the executor: its task takes until it is closed."""

    begun: list["Beside"]

    def __init__(self, options: ExecutorOptions) -> None:
        self.closed = threading.Event()

    def map(self, function: object, tasks: Iterable[Preparation]) -> Iterator[None]:
        (self.task,) = tasks
        self.begun.append(self)
        assert self.closed.wait(100)
        return iter(())

    def close(self) -> None:
        self.closed.set()


def test_matches_are_prepared_but_while_a_visitor_waits_first_the_game_on_the_screen_until_the_server_stops(
    monkeypatch: pytest.MonkeyPatch, service: MatchService, visitor: threading.Thread
) -> None:
    begun = list[Beside]()
    monkeypatch.setattr(Beside, "begun", begun, raising=False)
    monkeypatch.setattr(preparation, "ProcessExecutor", Beside)
    with preparing(service):
        until(lambda: begun)
        visitor.start()
        assert LOADS.wait(60)
        until(lambda: service.is_compiling_long)
        # It may have begun again between the rules, which are read first, and the opponent.
        sleep(2 * POLL_SECONDS)
        assert all(one.closed.is_set() for one in begun)
        count = len(begun)
        sleep(5 * POLL_SECONDS)
        assert len(begun) == count
        OPENED.set()
        until(lambda: begun[count:])
        assert (list(begun[-1].task.opened), begun[-1].closed.is_set()) == (["sumto100"], False)
    assert begun[-1].closed.is_set()
    visitor.join()


def test_the_log_says_once_why_nothing_more_is_compiled_ahead(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    class Refusing(Beside):
        def map(self, function: object, tasks: Iterable[Preparation]) -> Iterator[None]:
            raise StageError("the code of game:Game is another one in a worker")

    monkeypatch.setattr(preparation, "ProcessExecutor", Refusing)
    with preparing(MatchService(web_settings(tmp_path))):
        until(lambda: caplog.messages)
        sleep(5 * POLL_SECONDS)
    (message,) = caplog.messages
    assert message.endswith("compile what they need when they begin: the code of game:Game is another one in a worker")


@pytest.mark.slow
def test_another_process_prepares_and_ends_while_a_visitor_waits_and_when_the_server_stops(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, service: MatchService, visitor: threading.Thread
) -> None:
    monkeypatch.setattr(preparation, "prepare_all", stay)
    noted = tmp_path / "process"
    with preparing(service):
        until(noted.exists)
        process = int(noted.read_text())
        assert process != os.getpid()
        visitor.start()
        assert LOADS.wait(60)
        until(lambda: not is_running(process))
        noted.unlink()
        sleep(5 * POLL_SECONDS)
        assert not noted.exists()
        OPENED.set()
        until(noted.exists)
        process, *opened = noted.read_text().split()
        assert opened == ["sumto100"]
    until(lambda: not is_running(int(process)))
    visitor.join()


def test_nothing_is_prepared_if_it_is_not_wanted_or_cannot_be_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delattr(preparation, "ProcessExecutor")
    with preparing(MatchService(web_settings(tmp_path, compile_ahead=False))):
        pass
    monkeypatch.setattr(preparation, "cache_folder", lambda: None)
    with preparing(MatchService(web_settings(tmp_path))):
        pass


def test_the_game_and_the_opponent_that_the_page_opens_with_come_first(tmp_path: Path) -> None:
    service = MatchService(web_settings(tmp_path, game=GameSettings(name="sumto100")))
    default = service.catalog.opponents(service.catalog.game("sumto100")).default
    chosen = [(game.name, opponent) for game, opponent in islice(likely_choices(service.catalog), 8)]
    assert chosen[0] == ("sumto100", default)
    others = [name for name, _ in chosen if name != "sumto100"]
    assert others[:2] == ["tictactoe", "connect_four"]


def test_the_games_that_visitors_have_opened_come_before_all_others(tmp_path: Path) -> None:
    service = MatchService(web_settings(tmp_path, game=GameSettings(name="sumto100")))
    chosen = likely_choices(service.catalog, ["hex", "tictactoe"])
    assert list(dict.fromkeys(game.name for game, _ in islice(chosen, 15)))[:3] == ["hex", "tictactoe", "sumto100"]


def test_what_was_prepared_is_not_prepared_again_and_errors_end_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    prepared: list[str] = []

    def note(service: MatchService, game: Game, opponent: str) -> None:
        prepared.append(opponent)
        raise SettingError("this opponent cannot play")

    monkeypatch.setattr(preparation, "prepare_match", note)
    monkeypatch.setattr(preparation, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(os, "nice", lambda _: None)
    game = make_game("hex")
    monkeypatch.setattr(preparation, "likely_choices", lambda catalog, opened: [(game, one) for one in "ab"])
    for _ in range(2):
        prepare_all(Preparation(web_settings(tmp_path), ()))
    assert prepared == ["a", "b"]
    monkeypatch.setattr(game, "rules", game.rules._replace(is_terminal=make_game("tictactoe").rules.is_terminal))
    prepare_all(Preparation(web_settings(tmp_path), ()))
    assert prepared == ["a", "b", "a", "b"]


def test_what_a_match_and_a_hint_need_is_loaded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    service = MatchService(web_settings(tmp_path))
    preparation.prepare_match(service, service.catalog.game("tictactoe"), "easy")
    monkeypatch.delattr(loaded_players, "made_player")
    client = client_of(create_app(service))
    assert len(shown(client, described(opponent="easy", person="second"))["plies"]) == 1
    assert answer(client, described(opponent="easy"), show=["hint"])["hint"] is not None
