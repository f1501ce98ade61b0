"""The store of open matches: its limit, and when matches expire."""

import pytest

from selfplay.web.errors import NotFoundError, TooManyMatchesError
from selfplay.web.store import MatchStore
from tests.web.conftest import Clock

CLIENT = "192.0.2.1"


@pytest.fixture
def store(clock: Clock) -> MatchStore[str]:
    return MatchStore(2, 2, 60, clock)


def test_a_match_that_is_not_used_expires(store: MatchStore[str], clock: Clock) -> None:
    store.add("a", "one", CLIENT)
    store.add("b", "two", CLIENT)
    clock.now += 59
    store.get("a")
    clock.now += 1
    assert store.get("a") == "one"
    with pytest.raises(NotFoundError):
        store.get("b")


def test_a_limit_of_one_match_is_worded_in_the_singular(clock: Clock) -> None:
    store = MatchStore[str](1, 1, 60, clock)
    store.add("a", "one", CLIENT)
    with pytest.raises(TooManyMatchesError, match=r"^1 match is open, "):
        store.check_room(CLIENT)


def test_the_time_to_expire_counts_from_the_last_use(store: MatchStore[str], clock: Clock) -> None:
    store.add("a", "one", CLIENT)
    store.add("b", "two", CLIENT)
    clock.now += 50
    store.get("a")
    clock.now += 5
    with pytest.raises(TooManyMatchesError) as refused:
        store.check_room(CLIENT)
    assert refused.value.retry_after == 5


def test_a_client_at_its_limit_does_not_lock_out_another(clock: Clock) -> None:
    store = MatchStore[str](3, 2, 60, clock)
    store.add("a", "one", CLIENT)
    clock.now += 10
    store.add("b", "two", CLIENT)
    with pytest.raises(TooManyMatchesError, match=r"^2 matches are open, which is the limit of each client") as refused:
        store.add("c", "three", CLIENT)
    assert refused.value.retry_after == 50
    store.add("d", "four", "192.0.2.2")
    with pytest.raises(TooManyMatchesError, match="the limit of this server"):
        store.check_room("192.0.2.2")
    store.remove("a")
    store.add("c", "three", CLIENT)
