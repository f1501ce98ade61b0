"""The players of opponents are loaded once for many requests."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from selfplay.games import make_game
from selfplay.named_players.make import make_player
from selfplay.players.player import Player
from selfplay.web.loaded_players import LoadedPlayers, NotFoundError
from selfplay.web.matches import MatchService
from selfplay.web.schemas import MatchRequest, OfferedPlayer
from tests.web.conftest import web_settings

GAME = make_game("tictactoe")


@pytest.fixture
def made() -> list[Player]:
    """The players that were made, in order."""
    return []


def offered(make: Callable[[], Player], **fields: object) -> OfferedPlayer:
    return OfferedPlayer(id="one", kind="random", label="One", about="", make=make, **fields)  # type: ignore[arg-type]


@pytest.fixture
def maker(made: list[Player]) -> Callable[[], Player]:
    def make() -> Player:
        made.append(make_player("random", GAME, "nowhere"))
        return made[-1]

    return make


def test_all_requests_share_a_player(made: list[Player], maker: Callable[[], Player]) -> None:
    players, offer = LoadedPlayers(), offered(maker)
    with players.lent(GAME, offer) as one, players.lent(GAME, offer) as other:
        assert one is other
    assert len(made) == 1


def test_a_search_serves_one_request_at_a_time_and_waits_for_the_next(
    made: list[Player], maker: Callable[[], Player]
) -> None:
    players, offer = LoadedPlayers(), offered(maker, is_slow=True)
    with players.lent(GAME, offer) as one, players.lent(GAME, offer) as other:
        assert one is not other
    with players.lent(GAME, offer) as again:
        assert again in (one, other)
    assert len(made) == 2


def test_a_player_is_loaded_again_when_its_file_has_changed(
    made: list[Player], maker: Callable[[], Player], tmp_path: Path
) -> None:
    file = tmp_path / "agent.json"
    file.write_text("1")
    players, offer = LoadedPlayers(), offered(maker, file=file)
    for text in ("1", "2", "2"):
        file.write_text(text)
        with players.lent(GAME, offer):
            pass
    assert len(made) == 2
    file.unlink()
    with pytest.raises(NotFoundError, match="One no longer exists; choose another opponent"), players.lent(GAME, offer):
        pass


@pytest.mark.parametrize(
    ("asked", "is_loaded"),
    [
        ({"person": "both", "advance": True}, False),
        ({"person": "first", "advance": True}, True),
        ({"person": "both", "valued": 0}, True),
        ({"person": "first"}, False),
    ],
)
def test_an_opponent_that_neither_moves_nor_values_moves_is_not_loaded(
    asked: dict[str, object], is_loaded: bool, tmp_path: Path
) -> None:
    """Its search may have to be compiled."""
    request = MatchRequest(game="tictactoe", opponent="random", moves="", **asked)
    with ExitStack() as lent:
        participants = MatchService(web_settings(tmp_path)).participants(GAME, request, lent)
        assert (participants.opponent.player is not None) == is_loaded
