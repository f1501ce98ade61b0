"""The queue of proofs: each proof runs once, none without a waiting request, and not too many."""

import asyncio
import threading
from collections.abc import Callable, Iterator

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request

from selfplay.errors import StageError
from selfplay.web.proof_queue import MAX_WAITING_PROOFS, TOO_MANY_PROOFS, ProofQueue
from selfplay.web.routes import until_disconnected
from selfplay.web.schemas import ProofView

PROVED = ProofView(is_unbeatable=True, unbeatable_seats=[0, 1], text="It is proved.")


class Blocked:
    """Records the proofs that are started, and ends each when the test says so."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.go_on = threading.Event()

    def of(self, name: str) -> Callable[[], ProofView]:
        def prove() -> ProofView:
            self.begun.append(name)
            assert self.go_on.wait(60)
            return PROVED

        return prove


@pytest.fixture
def blocked() -> Iterator[Blocked]:
    made = Blocked()
    yield made
    made.go_on.set()


async def asked(proving: ProofQueue, blocked: Blocked, name: str) -> "asyncio.Task[ProofView]":
    """A request that waits for this proof."""
    task = asyncio.create_task(proving.of(name, blocked.of(name)))
    await asyncio.sleep(0)
    return task


async def begun(blocked: Blocked, name: str) -> None:
    while name not in blocked.begun:
        await asyncio.sleep(0.01)


def test_one_proof_serves_all_requests_for_it(blocked: Blocked) -> None:
    async def try_it() -> None:
        proving = ProofQueue()
        tasks = [await asked(proving, blocked, "one") for _ in range(3)]
        await begun(blocked, "one")
        # Cancelling one request does not affect the others.
        tasks[0].cancel()
        blocked.go_on.set()
        assert await asyncio.gather(*tasks[1:]) == [PROVED, PROVED]
        assert blocked.begun == ["one"]
        assert await proving.of("one", blocked.of("one")) == PROVED
        proving.close()

    asyncio.run(try_it())


def test_a_proof_without_waiting_requests_is_not_started(blocked: Blocked) -> None:
    async def try_it() -> None:
        proving = ProofQueue()
        first = await asked(proving, blocked, "first")
        await begun(blocked, "first")
        left, kept = await asked(proving, blocked, "left"), await asked(proving, blocked, "kept")
        left.cancel()
        await asyncio.wait([left])
        blocked.go_on.set()
        assert (await first, await kept) == (PROVED, PROVED)
        assert blocked.begun == ["first", "kept"]
        assert await proving.of("left", blocked.of("left")) == PROVED
        proving.close()

    asyncio.run(try_it())


def test_a_proof_beyond_the_limit_of_the_queue_is_not_run(blocked: Blocked) -> None:
    async def try_it() -> None:
        proving = ProofQueue()
        tasks = [await asked(proving, blocked, str(number)) for number in range(MAX_WAITING_PROOFS)]
        assert await proving.of("more", blocked.of("more")) == TOO_MANY_PROOFS
        # A proof that is already queued may be requested again.
        again = await asked(proving, blocked, "3")
        blocked.go_on.set()
        assert await asyncio.gather(*tasks, again) == [PROVED] * (MAX_WAITING_PROOFS + 1)
        assert await proving.of("more", blocked.of("more")) == PROVED
        proving.close()

    asyncio.run(try_it())


def test_a_failed_proof_reports_its_error_and_is_tried_again(blocked: Blocked) -> None:
    def broken() -> ProofView:
        raise StageError("broken")

    async def try_it() -> None:
        proving = ProofQueue()
        with pytest.raises(StageError, match="broken"):
            await proving.of("one", broken)
        blocked.go_on.set()
        assert await proving.of("one", blocked.of("one")) == PROVED
        proving.close()

    asyncio.run(try_it())


def test_a_disconnected_client_stops_waiting(blocked: Blocked) -> None:
    async def try_it() -> None:
        messages: asyncio.Queue[dict[str, str]] = asyncio.Queue()
        request = Request({"type": "http"}, messages.get)
        proving = ProofQueue()
        first = await asked(proving, blocked, "first")
        await begun(blocked, "first")
        waiting = asyncio.create_task(until_disconnected(request, proving.of("left", blocked.of("left"))))
        await messages.put({"type": "http.request"})
        await asyncio.sleep(0)
        await messages.put({"type": "http.disconnect"})
        with pytest.raises(HTTPException):
            await waiting
        blocked.go_on.set()
        assert await first == PROVED
        assert await proving.of("next", blocked.of("next")) == PROVED
        assert blocked.begun == ["first", "next"]
        proving.close()

    asyncio.run(try_it())
