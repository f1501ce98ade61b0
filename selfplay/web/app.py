"""The server: an ASGI application with the page and the requests of the page under /api, and how it is served.

An error is answered by a sentence in JSON, which the page shows, and an HTTP status.
"""

import asyncio
import logging
import socket
from contextlib import suppress
from ipaddress import ip_address
from typing import Any

import uvicorn
from fastapi import FastAPI, Request, status
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, JSONResponse
from starlette.staticfiles import StaticFiles
from uvicorn.protocols.http.h11_impl import H11Protocol

from selfplay.errors import OtherGameError, SelfPlayError, SettingError, StageError
from selfplay.installation import PACKAGE_FOLDER
from selfplay.settings.playing import WebSettings
from selfplay.web.games import game_routes
from selfplay.web.loaded_players import NotFoundError
from selfplay.web.log_limit import LogLimit
from selfplay.web.match_schemas import ErrorView
from selfplay.web.match_service import MatchService, match_routes
from selfplay.web.preparation import preparing
from selfplay.web.request_checks import MOST_READ_BYTES, MOST_REQUESTS, RequestChecks, allowed_hosts
from selfplay.web.waiting_clients import BusyError, client_of

log = logging.getLogger(__name__)

PAGE = PACKAGE_FOLDER / "web" / "page"
"""The files of the page."""


def create_app(service: MatchService) -> FastAPI:
    """The application that serves the matches of `service`."""
    app = FastAPI(
        title="selfplay",
        description="Matches against agents that learned by self-play, and the story of their training.",
        version="1",
        # FastAPI's documentation pages load scripts from other servers; the one served here is a static file.
        docs_url=None,
        redoc_url=None,
    )
    # Routes are searched in this order, and most requests are about matches.
    app.include_router(match_routes(service), responses=ERRORS)
    app.include_router(game_routes(service), responses=ERRORS)
    app.add_route("/", lambda _: FileResponse(PAGE / "index.html"), include_in_schema=False)
    app.add_route("/docs", lambda _: FileResponse(PAGE / "docs.html"), include_in_schema=False)
    app.mount("/page", StaticFiles(directory=PAGE))
    add_error_handlers(app)
    most = MOST_REQUESTS * service.settings.client_searches
    app.add_middleware(RequestChecks, hosts=allowed_hosts(service.settings), most=most)
    return app


# ---------------------------------------------------------------------- errors

ERRORS: dict[int | str, dict[str, Any]] = {
    code: {"model": ErrorView, "description": description}
    for code, description in {
        400: "The Host header is not allowed.",
        403: "The request comes from a page of another site.",
        404: "It does not exist.",
        409: "Not possible in the current state of the match or file; the message says why.",
        422: "The request is invalid.",
        503: "Too many slow requests of this client are waiting.",
    }.items()
}

STATUS = {
    NotFoundError: status.HTTP_404_NOT_FOUND,
    BusyError: status.HTTP_503_SERVICE_UNAVAILABLE,
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

    def answer(code: int, sentence: str, headers: dict[str, str] | None = None, **more: str) -> JSONResponse:
        return JSONResponse({"error": sentence, **more}, code, headers)

    async def user_error(_: Request, error: Exception) -> JSONResponse:
        code = next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), status.HTTP_409_CONFLICT)
        return answer(
            code,
            str(error),
            {"Retry-After": str(error.retry_after)} if isinstance(error, BusyError) else None,
            **({"game": error.game} if isinstance(error, OtherGameError) else {}),
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


# ---------------------------------------------------------------------- serving

MOST_CONNECTIONS, IDLE_SECONDS = 800, 10
MOST_OF_CLIENT = MOST_CONNECTIONS // 2
"""The most connections of one client, so that none can take them all. A proxy is one client."""
ENDING_SECONDS = 1
"""How long open requests may take when the server ends; then they are cancelled."""


def serve(settings: WebSettings) -> None:
    """Serve the page until Ctrl-C.

    Raises:
        StageError: it cannot listen on the address.
        SettingError: it would listen on all addresses of this computer, and `hosts` is empty.
    """
    listening = _listen(settings)
    service = MatchService(settings)
    config = server_config(create_app(service))
    for logger in (log, logging.getLogger("uvicorn.error")):
        logger.addFilter(LogLimit())
    # Not before: a browser would wait for an answer.
    listening.listen(128)
    log.info("Play at %s (press Ctrl-C to stop)", address_of(settings, listening))
    if not ip_address(listening.getsockname()[0].partition("%")[0]).is_loopback:
        log.warning("Other computers in the network can reach this page, and everyone who can may play.")
    # Ctrl-C is the normal way to stop the server.
    with preparing(service), suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listening])
    log.info("The server has stopped.")


class Connection(H11Protocol):
    """A connection, which is closed at once if its client has too many."""

    of = ""
    """The client."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.of = client_of({"client": self.client})
        if sum(isinstance(one, Connection) and one.of == self.of for one in self.connections) > MOST_OF_CLIENT:
            transport.abort()


def server_config(app: FastAPI) -> uvicorn.Config:
    """How the application is served: with limits of connections and headers, and nothing but HTTP."""
    # A proxy must limit how long a request takes to arrive (docs/playing.md). uvicorn does not limit it, Granian limits
    # only the head, and Hypercorn's limit for the body also ends answers that take as long. Clients are
    # identified by their address, which a header must not change.
    return uvicorn.Config(
        app,
        port=0,
        http=Connection,
        ws="none",
        proxy_headers=False,
        limit_concurrency=MOST_CONNECTIONS,
        h11_max_incomplete_event_size=MOST_READ_BYTES,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=ENDING_SECONDS,
        log_level="warning",
        access_log=False,
    )


def _listen(settings: WebSettings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host.strip("[]"), settings.port))
    # A name that is not a valid one raises UnicodeError or another ValueError.
    except (OSError, ValueError) as error:
        listening.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise StageError(
            f"cannot listen on {settings.host}:{settings.port}: {reason}; choose another host or port"
        ) from error
    if not settings.hosts and ip_address(listening.getsockname()[0].partition("%")[0]).is_unspecified:
        listening.close()
        raise SettingError(
            f"host={settings.host} listens on all addresses of this computer: also name those at which the page is "
            "opened, for example hosts=[192.168.0.7,games.local]"
        )
    return listening


def address_of(settings: WebSettings, listening: socket.socket) -> str:
    """The address to open in a browser."""
    address, port = listening.getsockname()[:2]
    host = settings.hosts[0] if ip_address(address.partition("%")[0]).is_unspecified else settings.host.strip("[]")
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
