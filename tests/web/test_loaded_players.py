"""The players of opponents are loaded once for many requests."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from selfplay.games import make_game
from selfplay.named_players.make import make_player
from selfplay.named_players.strengths import NOTICES
from selfplay.players.player import Player
from selfplay.web.game_schemas import OfferedPlayer
from selfplay.web.loaded_players import LoadedPlayers, NotFoundError
from selfplay.web.match_schemas import MatchRequest
from selfplay.web.match_service import MatchService
from selfplay.web.opponents import OpponentCatalog
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


def test_a_strength_is_loaded_again_when_other_temperatures_were_found(tmp_path: Path) -> None:
    game, catalog = make_game("tests.support.kalah:Kalah"), OpponentCatalog(web_settings(tmp_path))
    run = catalog.run(game)
    keys = []
    for temperature in (4, 5, 5):
        run.level(1).mkdir(parents=True, exist_ok=True)
        rows = [f"{name},mcts:rollouts?simulations=100,{temperature},0.75,40" for name in NOTICES]
        run.temperatures(1).write_text("\n".join(["strength,player,temperature,score,matches", *rows, ""]))
        keys.append(LoadedPlayers().key(game, catalog.opponent(game, "beginner")))
    assert keys[0] != keys[1] == keys[2]


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


def test_a_search_with_another_level_is_loaded_before_it_is_lent(maker: Callable[[], Player], tmp_path: Path) -> None:
    players, files = LoadedPlayers(), [tmp_path / "1", tmp_path / "2"]
    for file in files:
        file.touch()
    one, other = (offered(maker, is_slow=True, file=file) for file in files)
    players.load(GAME, one)
    assert [players.is_loaded(GAME, offer) for offer in (one, other)] == [True, False]


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
