"""The requests under /api: games with their opponents and stories, and matches; and how errors are answered.

An error is a sentence in JSON, which the page shows, and an HTTP status.
"""

import asyncio
import hashlib
import logging
import math
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, FastAPI, Header, Path, Query, Request, Response, status
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from selfplay.errors import SelfPlayError, SettingError
from selfplay.search.shared_solver import NotSolvedYetError
from selfplay.web.match import Match
from selfplay.web.matches import MatchService, TooManyMatchesError
from selfplay.web.opponents import NotFoundError
from selfplay.web.runs import run_views
from selfplay.web.schemas import (
    ActionRequest,
    ErrorView,
    GameView,
    HintView,
    LineView,
    MatchFileView,
    MatchView,
    NewMatchRequest,
    NextMatchRequest,
    OpponentsView,
    People,
    PerfectView,
    ProofView,
    RewindRequest,
    TakeOverRequest,
)
from selfplay.web.story import story_of
from selfplay.web.story_schemas import RunView, StoryView

log = logging.getLogger(__name__)

ERRORS: dict[int | str, dict[str, Any]] = {
    code: {"model": ErrorView, "description": description}
    for code, description in {
        400: "The Host header is not allowed.",
        403: "The request comes from a page of another site.",
        404: "It does not exist.",
        409: "Not possible in the current state of the match or file; the message says why.",
        422: "The request is invalid.",
        503: "Too many matches are open on the server, or by this client.",
    }.items()
}

CLIENT_CLOSED_REQUEST = 499
"""The status of a response that the client no longer waits for."""

MatchId = Annotated[str, Path(min_length=1, max_length=64)]
WaitSeconds = Annotated[
    float,
    Query(ge=0, le=60, description="How long to wait for values that are not known, at most `search_seconds`."),
]
PlyNumber = Annotated[int, Path(ge=0, le=1000, description="The number of plies before the position.")]
AskedPly = Annotated[
    int | None, Query(ge=0, le=1000, description="The number of plies before the position; left out: the current one.")
]
RunId = Annotated[
    str | None,
    Query(min_length=1, max_length=1000, description="The id of another run of the game; left out: its own."),
]
GameName = Annotated[str, Path(min_length=1, max_length=100)]


# ---------------------------------------------------------------------- games, opponents, stories


def game_routes(service: MatchService) -> APIRouter:
    """The requests about games, their opponents, proofs and stories."""
    router = APIRouter(prefix="/api/games", tags=["games"], responses=ERRORS)
    proving = asyncio.Lock()

    @router.get("", summary="List the games", operation_id="games")
    async def games() -> list[GameView]:
        return service.catalog.game_views()

    @router.get("/{game}/opponents", summary="List the opponents", operation_id="opponents")
    async def opponents(game: GameName) -> OpponentsView:
        return await run_sync(service.catalog.opponents, service.catalog.game(game))

    @router.get("/{game}/proof", summary="Prove whether an opponent can lose", operation_id="proof")
    async def proof(
        request: Request, game: GameName, opponent: Annotated[str, Query(min_length=1, max_length=100)]
    ) -> ProofView:
        """Proofs take long, so only one is made at a time, and none for a client that has left."""
        found = await run_sync(service.catalog.opponent, service.catalog.game(game), opponent)
        async with proving:
            if await request.is_disconnected():
                raise HTTPException(CLIENT_CLOSED_REQUEST, "the client has closed the request")
            return await run_sync(service.proofs.of, service.catalog.game(game), found)

    @router.get("/{game}/runs", summary="List the other runs", operation_id="runs")
    async def runs(game: GameName) -> list[RunView]:
        return await run_sync(run_views, service.catalog, service.catalog.game(game))

    @router.get(
        "/{game}/story",
        summary="Show the training and results of the run",
        operation_id="story",
        response_model=StoryView,
        responses={304: {"description": "Not changed since the ETag that was sent."}},
    )
    async def story(
        game: GameName, run: RunId = None, if_none_match: Annotated[str | None, Header()] = None
    ) -> Response:
        found = await run_sync(story_of, service.catalog, service.catalog.game(game), run)
        body = found.model_dump_json().encode()
        etag = f'"{hashlib.sha256(body).hexdigest()}"'
        if if_none_match == etag:
            return Response(status_code=status.HTTP_304_NOT_MODIFIED, headers={"ETag": etag})
        return Response(body, media_type="application/json", headers={"ETag": etag})

    return router


# ---------------------------------------------------------------------- matches


def match_routes(service: MatchService) -> APIRouter:
    """The requests about matches."""
    router = APIRouter(prefix="/api/matches", tags=["matches"], responses=ERRORS)

    def then_view(change: Callable[[Match], object]) -> Callable[[Match], MatchView]:
        def changed(match: Match) -> MatchView:
            change(match)
            return match.view()

        return changed

    @router.post("", status_code=201, summary="Begin a match", operation_id="begin")
    async def begin(body: NewMatchRequest, request: Request) -> MatchView:
        return await service.begin(body, request.client.host if request.client else "")

    @router.get("/{match}", summary="Show a match", operation_id="look")
    async def look(match: MatchId) -> MatchView:
        return await service.with_match(match, Match.view)

    @router.post("/{match}/actions", summary="Play an action for the person", operation_id="act")
    async def act(match: MatchId, request: ActionRequest) -> MatchView:
        return await service.with_match(match, then_view(lambda it: it.play(request.action, request.ply)))

    @router.post("/{match}/reply", summary="Let the opponent play until the person has to choose", operation_id="reply")
    async def reply(match: MatchId) -> MatchView:
        return await service.with_match(match, then_view(Match.reply))

    @router.get("/{match}/positions/{ply}", summary="Show an earlier position", operation_id="position")
    async def position(match: MatchId, ply: PlyNumber) -> MatchView:
        return await service.with_match(match, lambda it: it.view(ply))

    @router.post("/{match}/rewind", summary="Continue from an earlier position", operation_id="rewind")
    async def rewind(match: MatchId, request: RewindRequest) -> MatchView:
        return await service.with_match(match, then_view(lambda it: it.session.rewind(request.ply)))

    @router.get("/{match}/line", summary="Show the best line", operation_id="line")
    async def line(match: MatchId, ply: AskedPly = None, is_perfect: bool = False) -> LineView:
        await service.solve_game(match)
        return await service.with_match(match, lambda it: it.line(ply, is_perfect=is_perfect))

    @router.get("/{match}/file", summary="Write the match as a file", operation_id="file")
    async def file(match: MatchId) -> MatchFileView:
        return await service.with_match(match, Match.file)

    @router.post("/{match}/undo", summary="Take back the last action", operation_id="undo")
    async def undo(match: MatchId) -> MatchView:
        return await service.with_match(match, then_view(lambda it: it.session.undo()))

    @router.post("/{match}/next", summary="Begin the next match against the same opponent", operation_id="next")
    async def next_match(match: MatchId, request: NextMatchRequest) -> MatchView:
        return await service.with_match(match, then_view(lambda it: it.new_match(People(request.person))))

    @router.put("/{match}/opponent", summary="Let another opponent continue", operation_id="takeOver")
    async def take_over(match: MatchId, request: TakeOverRequest) -> MatchView:
        return await service.take_over(match, request)

    @router.get("/{match}/hint", summary="Suggest an action", operation_id="hint")
    async def hint(match: MatchId) -> HintView:
        await service.solve_game(match)
        with suppress(NotSolvedYetError):
            return await service.with_match(match, Match.hint)
        await service.wait_for_solution(match, math.inf)
        return await service.with_match(match, Match.hint)

    @router.get("/{match}/perfect", summary="Show the value of each action with perfect play", operation_id="perfect")
    async def perfect(match: MatchId, seconds: WaitSeconds = 0.0, ply: AskedPly = None) -> PerfectView:
        await service.solve_game(match)
        await service.wait_for_solution(match, seconds, ply)
        return await service.with_match(match, lambda it: it.perfect(ply), asks_opponent=False)

    @router.delete("/{match}", status_code=204, summary="Close a match", operation_id="leave")
    async def leave(match: MatchId) -> None:
        service.matches.remove(match)

    return router


# ---------------------------------------------------------------------- errors

STATUS = {
    NotFoundError: status.HTTP_404_NOT_FOUND,
    TooManyMatchesError: status.HTTP_503_SERVICE_UNAVAILABLE,
    SettingError: status.HTTP_422_UNPROCESSABLE_CONTENT,
}
"""The status of errors. All others of this package are conflicts with the state of a match or file, or a game that is
too large: 409."""

SENTENCES = {
    "Not Found": "there is nothing at this address",
    "Method Not Allowed": "this address does not support this method",
}

INVALID_JSON = "the body is not valid JSON"


def add_error_handlers(app: FastAPI) -> None:
    """Make the application answer errors with these responses."""

    def answer(code: int, sentence: str, headers: dict[str, str] | None = None) -> JSONResponse:
        return JSONResponse({"error": sentence}, code, headers)

    async def user_error(_: Request, error: Exception) -> JSONResponse:
        code = next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), status.HTTP_409_CONFLICT)
        return answer(
            code,
            str(error),
            {"Retry-After": str(error.retry_after)} if isinstance(error, TooManyMatchesError) else None,
        )

    async def wrong_request(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            return answer(status.HTTP_422_UNPROCESSABLE_CONTENT, INVALID_JSON)
        where = ".".join(str(part) for part in first["loc"] if part != "body")
        return answer(status.HTTP_422_UNPROCESSABLE_CONTENT, f"{where or 'the body'}: {first['msg']}")

    async def http_error(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        if error.status_code == status.HTTP_400_BAD_REQUEST:
            # FastAPI raises this for a body that is not text, or nested too deeply.
            return answer(status.HTTP_422_UNPROCESSABLE_CONTENT, INVALID_JSON)
        sentence = SENTENCES.get(error.detail, error.detail)
        return answer(error.status_code, sentence, dict(error.headers or {}))

    async def internal_error(_: Request, error: Exception) -> JSONResponse:
        log.error("a request failed", exc_info=error)
        return answer(status.HTTP_500_INTERNAL_SERVER_ERROR, "internal error of the server; see its log")

    app.add_exception_handler(SelfPlayError, user_error)
    app.add_exception_handler(RequestValidationError, wrong_request)
    app.add_exception_handler(HTTPException, http_error)
    app.add_exception_handler(Exception, internal_error)
