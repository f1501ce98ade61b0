"""The server's addresses: the page, its OpenAPI description, and what the page asks for below /api."""

import logging
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Header, Path, Query, Request, Response, status
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware

from selfplay.errors import IllegalActionError, NotNowError, SelfPlayError, SettingError
from selfplay.web.desk import Desk
from selfplay.web.errors import BusyError, FullError, StaleError, UnknownError
from selfplay.web.guard import Guard
from selfplay.web.match import Match
from selfplay.web.pages import add_pages
from selfplay.web.schemas import (
    Chosen,
    ErrorView,
    GameView,
    HintView,
    MatchView,
    NewMatch,
    NextMatch,
    OpponentsView,
    PerfectView,
    ProofView,
    StoryView,
    TakeOver,
)

log = logging.getLogger(__name__)

STATUS = {
    UnknownError: status.HTTP_404_NOT_FOUND,
    FullError: status.HTTP_503_SERVICE_UNAVAILABLE,
    SettingError: status.HTTP_422_UNPROCESSABLE_CONTENT,
    IllegalActionError: status.HTTP_409_CONFLICT,
    NotNowError: status.HTTP_409_CONFLICT,
    BusyError: status.HTTP_409_CONFLICT,
    StaleError: status.HTTP_409_CONFLICT,
}
"""Whatever else a user can mend is a conflict too: a file that is broken or gone, a game that is too large."""

WORDS = {"Not Found": "there is nothing at this address", "Method Not Allowed": "this address takes no such request"}

Responses = dict[int | str, dict[str, Any]]
WRONG: Responses = {422: {"model": ErrorView, "description": "What was sent is no such request."}}
MISSING: Responses = {**WRONG, 404: {"model": ErrorView, "description": "It is not there."}}
REFUSED: Responses = {**MISSING, 409: {"model": ErrorView, "description": "Not now, or not so; the sentence says why."}}
FULL: Responses = {**REFUSED, 503: {"model": ErrorView, "description": "Too many matches are open."}}

MatchId = Annotated[str, Path(min_length=1, max_length=64)]
GameName = Annotated[str, Path(min_length=1, max_length=40)]


def create_app(desk: Desk) -> FastAPI:
    """The server as an ASGI application, with what it holds."""
    app = FastAPI(
        title="selfplay",
        description="Matches against agents that learned by self-play, and the story of how they learned.",
        version="1",
        # The usual pages fetch their programs from elsewhere; ours is in pages.py.
        docs_url=None,
        redoc_url=None,
    )
    app.include_router(game_routes(desk))
    app.include_router(match_routes(desk))
    add_pages(app)
    _report_errors(app)
    app.add_middleware(Guard)
    host = desk.settings.host
    if host != "0.0.0.0":
        # Another site's page must not reach this server under a name of its own.
        hosts = [host.strip("[]"), "localhost", "127.0.0.1", "[::1]"]
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=hosts)
    return app


# ---------------------------------------------------------------------- errors


def _report_errors(app: FastAPI) -> None:
    """Every error as a sentence in JSON."""

    def answer(code: int, sentence: str, headers: dict[str, str] | None = None) -> JSONResponse:
        return JSONResponse({"error": sentence}, code, headers)

    async def user_error(_: Request, error: Exception) -> JSONResponse:
        code = next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), status.HTTP_409_CONFLICT)
        return answer(
            code, str(error), {"Retry-After": str(error.retry_after)} if isinstance(error, FullError) else None
        )

    async def wrong_request(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            return answer(status.HTTP_422_UNPROCESSABLE_CONTENT, "the body is no JSON")
        where = ".".join(str(part) for part in first["loc"] if part != "body")
        return answer(status.HTTP_422_UNPROCESSABLE_CONTENT, f"{where or 'the body'}: {first['msg']}")

    async def http_error(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        sentence = WORDS.get(error.detail, error.detail)
        return answer(error.status_code, sentence, dict(error.headers or {}))

    async def own_fault(_: Request, error: Exception) -> JSONResponse:
        log.error("a request failed", exc_info=error)
        return answer(status.HTTP_500_INTERNAL_SERVER_ERROR, "the server has made a mistake; its log says more")

    app.add_exception_handler(SelfPlayError, user_error)
    app.add_exception_handler(RequestValidationError, wrong_request)
    app.add_exception_handler(HTTPException, http_error)
    app.add_exception_handler(Exception, own_fault)


# ---------------------------------------------------------------------- games, opponents, stories


def game_routes(desk: Desk) -> APIRouter:
    """What there is to play, and what is known of it."""
    router = APIRouter(prefix="/api/games", tags=["games"])

    @router.get("", summary="The games", operation_id="games")
    async def games() -> list[GameView]:
        return desk.roster.game_views()

    @router.get(
        "/{game}/opponents", summary="Who there is to play against", operation_id="opponents", responses=MISSING
    )
    async def opponents(game: GameName) -> OpponentsView:
        return await desk.slowly(lambda: desk.roster.offer(desk.roster.game(game)))

    @router.get("/{game}/proof", summary="Can an opponent lose?", operation_id="proof", responses=REFUSED)
    async def proof(game: GameName, opponent: Annotated[str, Query(min_length=1, max_length=100)]) -> ProofView:
        return await desk.prove(game, opponent)

    @router.get(
        "/{game}/story",
        summary="What the files of the run tell",
        operation_id="story",
        response_model=StoryView,
        responses={**MISSING, 304: {"description": "Nothing has changed since the ETag that was sent."}},
    )
    async def story(game: GameName, if_none_match: Annotated[str | None, Header()] = None) -> Response:
        told = await desk.quickly(lambda: desk.stories.of(desk.roster.game(game)))
        headers = {"ETag": told.mark, "Cache-Control": "no-cache"}
        if if_none_match == told.mark:
            return Response(status_code=status.HTTP_304_NOT_MODIFIED, headers=headers)
        return Response(told.story.model_dump_json(), media_type="application/json", headers=headers)

    return router


# ---------------------------------------------------------------------- matches


def match_routes(desk: Desk) -> APIRouter:
    """Matches, from their beginning to their end."""
    router = APIRouter(prefix="/api/matches", tags=["matches"])

    def viewed(change: Callable[[Match], object]) -> Callable[[Match], MatchView]:
        def changed(match: Match) -> MatchView:
            change(match)
            return match.view()

        return changed

    @router.post("", status_code=201, summary="Begin a match", operation_id="begin", responses=FULL)
    async def begin(asked: NewMatch) -> MatchView:
        return await desk.begin(asked)

    @router.get("/{match}", summary="The match as it stands", operation_id="look", responses=REFUSED)
    async def look(match: MatchId) -> MatchView:
        return await desk.go_on(match, Match.view)

    @router.post("/{match}/actions", summary="The person acts", operation_id="act", responses=REFUSED)
    async def act(match: MatchId, chosen: Chosen) -> MatchView:
        return await desk.go_on(match, viewed(lambda it: it.play(chosen.action, chosen.ply)))

    @router.post(
        "/{match}/reply", summary="Go on until the person has to choose", operation_id="reply", responses=REFUSED
    )
    async def reply(match: MatchId) -> MatchView:
        return await desk.go_on(match, viewed(Match.reply))

    @router.post("/{match}/undo", summary="Take back the last action", operation_id="undo", responses=REFUSED)
    async def undo(match: MatchId) -> MatchView:
        return await desk.go_on(match, viewed(Match.undo))

    @router.post("/{match}/next", summary="Begin the next match", operation_id="next", responses=REFUSED)
    async def next_match(match: MatchId, asked: NextMatch) -> MatchView:
        return await desk.go_on(match, viewed(lambda it: it.new_match(asked.person)))

    @router.put("/{match}/opponent", summary="Another opponent goes on", operation_id="takeOver", responses=REFUSED)
    async def take_over(match: MatchId, asked: TakeOver) -> MatchView:
        return await desk.take_over(match, asked)

    @router.get("/{match}/hint", summary="What would be good here", operation_id="hint", responses=REFUSED)
    async def hint(match: MatchId) -> HintView:
        return await desk.go_on(match, Match.hint)

    @router.get("/{match}/perfect", summary="What perfect play gets here", operation_id="perfect", responses=REFUSED)
    async def perfect(match: MatchId) -> PerfectView:
        return await desk.go_on(match, Match.perfect)

    @router.delete("/{match}", status_code=204, summary="Leave a match", operation_id="leave", responses=MISSING)
    async def leave(match: MatchId) -> None:
        desk.matches.remove(match)

    return router
