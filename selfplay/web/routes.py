"""What the page asks for below /api: games and who plays them, and matches from their beginning to their end."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Header, Path, Query, Request, Response, status
from starlette.exceptions import HTTPException

from selfplay.web.match import Match
from selfplay.web.match_service import MatchService
from selfplay.web.schemas import (
    ActionRequest,
    ErrorView,
    GameView,
    HintView,
    MatchView,
    NewMatchRequest,
    NextMatchRequest,
    OpponentsView,
    PerfectView,
    ProofView,
    StoryView,
    TakeOverRequest,
)

Answer = TypeVar("Answer")

Responses = dict[int | str, dict[str, Any]]
MISCALLED: Responses = {400: {"model": ErrorView, "description": "The server is not called by this name."}}
WRONG: Responses = {422: {"model": ErrorView, "description": "What was sent is no such request."}}
MISSING: Responses = {**WRONG, 404: {"model": ErrorView, "description": "It is not there."}}
REFUSED: Responses = {**MISSING, 409: {"model": ErrorView, "description": "Not now, or not so; the sentence says why."}}
FULL: Responses = {**REFUSED, 503: {"model": ErrorView, "description": "Too many matches are open."}}

GONE = 499
"""Nobody reads it."""

MatchId = Annotated[str, Path(min_length=1, max_length=64)]
GameName = Annotated[str, Path(min_length=1, max_length=40)]


# ---------------------------------------------------------------------- games, opponents, stories


def game_routes(service: MatchService) -> APIRouter:
    """What there is to play, and what is known of it."""
    router = APIRouter(prefix="/api/games", tags=["games"], responses=MISCALLED)

    @router.get("", summary="The games", operation_id="games")
    async def games() -> list[GameView]:
        return service.catalog.game_views()

    @router.get(
        "/{game}/opponents", summary="Who there is to play against", operation_id="opponents", responses=MISSING
    )
    async def opponents(game: GameName) -> OpponentsView:
        return await service.workers.run_slow(lambda: service.catalog.opponents(service.catalog.game(game)))

    @router.get("/{game}/proof", summary="Can an opponent lose?", operation_id="proof", responses=REFUSED)
    async def proof(
        request: Request, game: GameName, opponent: Annotated[str, Query(min_length=1, max_length=100)]
    ) -> ProofView:
        return await while_waited_for(request, service.prove(game, opponent))

    @router.get(
        "/{game}/story",
        summary="What the files of the run tell",
        operation_id="story",
        response_model=StoryView,
        responses={**MISSING, 304: {"description": "Nothing has changed since the ETag that was sent."}},
    )
    async def story(game: GameName, if_none_match: Annotated[str | None, Header()] = None) -> Response:
        told = await service.workers.run_slow(lambda: service.stories.of(service.catalog.game(game)))
        headers = {"ETag": told.mark, "Cache-Control": "no-cache"}
        if if_none_match == told.mark:
            return Response(status_code=status.HTTP_304_NOT_MODIFIED, headers=headers)
        return Response(told.story.model_dump_json(), media_type="application/json", headers=headers)

    return router


# ---------------------------------------------------------------------- matches


def match_routes(service: MatchService) -> APIRouter:
    """Matches, from their beginning to their end."""
    router = APIRouter(prefix="/api/matches", tags=["matches"], responses=MISCALLED)

    def then_view(change: Callable[[Match], object]) -> Callable[[Match], MatchView]:
        def changed(match: Match) -> MatchView:
            change(match)
            return match.view()

        return changed

    @router.post("", status_code=201, summary="Begin a match", operation_id="begin", responses=FULL)
    async def begin(asked: NewMatchRequest) -> MatchView:
        return await service.begin(asked)

    @router.get("/{match}", summary="The match as it stands", operation_id="look", responses=REFUSED)
    async def look(match: MatchId) -> MatchView:
        return await service.with_match(match, Match.view)

    @router.post("/{match}/actions", summary="The person acts", operation_id="act", responses=REFUSED)
    async def act(match: MatchId, chosen: ActionRequest) -> MatchView:
        return await service.with_match(match, then_view(lambda it: it.play(chosen.action, chosen.ply)))

    @router.post(
        "/{match}/reply", summary="Go on until the person has to choose", operation_id="reply", responses=REFUSED
    )
    async def reply(match: MatchId) -> MatchView:
        return await service.with_match(match, then_view(Match.reply))

    @router.post("/{match}/undo", summary="Take back the last action", operation_id="undo", responses=REFUSED)
    async def undo(match: MatchId) -> MatchView:
        return await service.with_match(match, then_view(Match.undo))

    @router.post("/{match}/next", summary="Begin the next match", operation_id="next", responses=REFUSED)
    async def next_match(match: MatchId, asked: NextMatchRequest) -> MatchView:
        return await service.with_match(match, then_view(lambda it: it.new_match(asked.person)))

    @router.put("/{match}/opponent", summary="Another opponent goes on", operation_id="takeOver", responses=REFUSED)
    async def take_over(match: MatchId, asked: TakeOverRequest) -> MatchView:
        return await service.take_over(match, asked)

    @router.get("/{match}/hint", summary="What would be good here", operation_id="hint", responses=REFUSED)
    async def hint(match: MatchId) -> HintView:
        return await service.with_solved_match(match, Match.hint)

    @router.get("/{match}/perfect", summary="What perfect play gets here", operation_id="perfect", responses=REFUSED)
    async def perfect(match: MatchId) -> PerfectView:
        return await service.with_solved_match(match, Match.perfect)

    @router.delete("/{match}", status_code=204, summary="Leave a match", operation_id="leave", responses=MISSING)
    async def leave(match: MatchId) -> None:
        service.matches.remove(match)

    return router


# ---------------------------------------------------------------------- who waits for an answer


async def while_waited_for(request: Request, work: Coroutine[Any, Any, Answer]) -> Answer:
    """The result of `work`, which is cancelled once the client has gone. The body must have been read."""
    working, gone = asyncio.create_task(work), asyncio.create_task(_until_gone(request))
    try:
        await asyncio.wait({working, gone}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        gone.result()
        raise HTTPException(GONE, "nobody waits for this answer any more")
    finally:
        working.cancel()
        gone.cancel()


async def _until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
