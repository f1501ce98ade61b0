"""The server as an ASGI application: the page, the requests of the page under /api, and how errors are answered.

An error is a sentence in JSON, which the page shows, and an HTTP status.
"""

import logging
from collections.abc import Awaitable, Callable
from importlib.resources import files

from fastapi import FastAPI, Request, Response, status
from fastapi.exceptions import RequestValidationError
from h11 import LocalProtocolError
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from selfplay.errors import SelfPlayError, SettingError
from selfplay.settings.playing import WebSettings
from selfplay.web.matches import MatchService, TooManyMatchesError
from selfplay.web.opponents import NotFoundError
from selfplay.web.routes import game_routes, match_routes

log = logging.getLogger(__name__)

MAX_BODY_BYTES = 16_384
"""The largest size of a body; those that the page sends have a few hundred bytes."""

MAX_URL_BYTES = 2_048
"""The longest address of a request, with its query."""

HEADERS = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}

TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}

PAGES = {"/": "index.html", "/docs": "docs.html"}
FILES = tuple(
    sorted(path.name for path in (files("selfplay.web") / "page").iterdir() if not path.name.endswith(".html"))
)
"""Every other file of the folder of the page."""


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
    app.include_router(match_routes(service))
    app.include_router(game_routes(service))
    add_static_files(app)
    add_error_handlers(app)
    # The check of the Host header prevents pages of other sites from reaching the server by DNS rebinding.
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=allowed_hosts(service.settings), www_redirect=False)
    app.add_middleware(RequestChecks)
    return app


def allowed_hosts(settings: WebSettings) -> list[str]:
    """The values allowed in the Host header, without a port: the names of the server, and those of this computer."""
    names = (name.strip("[]").lower() for name in (settings.host, *settings.hosts))
    return [*(f"[{name}]" if ":" in name else name for name in names), "localhost", "127.0.0.1", "[::1]"]


def add_static_files(app: FastAPI) -> None:
    """Serve the page at /, the documentation of the server at /docs, and the files they load.

    They are read once, at the start, so a request cannot reach any other file.
    """
    names = PAGES | {f"/page/{name}": name for name in FILES}
    for address, name in names.items():
        app.add_api_route(address, _sender(name), methods=["GET", "HEAD"], include_in_schema=False)


def _sender(name: str) -> Callable[[], Awaitable[Response]]:
    content = (files("selfplay.web") / "page" / name).read_bytes()
    media_type = f"{TYPES[name.rpartition('.')[2]]}; charset=utf-8"

    async def send() -> Response:
        # Browsers check for a new version of the file each time.
        return Response(content, media_type=media_type, headers={"Cache-Control": "no-cache"})

    return send


class RequestChecks:
    """Middleware that rejects requests of other sites and large requests, and adds the security headers."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        received = 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > MAX_BODY_BYTES:
                raise HTTPException(413, f"the body is too large: at most {MAX_BODY_BYTES} bytes are allowed")
            return message

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        if scope["type"] == "http" and (rejection := _rejection(scope)) is not None:
            await rejection(scope, receive, with_headers)
            return
        try:
            await self.app(scope, counted, with_headers)
        except (ClientDisconnect, LocalProtocolError):
            # The client has left before it had sent its request, or its body is not HTTP; nobody waits for an answer.
            log.debug("a client has disconnected")


def _rejection(scope: Scope) -> JSONResponse | None:
    if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > MAX_URL_BYTES:
        return JSONResponse({"error": f"the address is too long: at most {MAX_URL_BYTES} bytes are allowed"}, 414)
    headers = Headers(scope=scope)
    if len(headers.getlist("host")) > 1:
        return JSONResponse({"error": "the request has several Host headers"}, 400)
    if _is_from_another_site(scope, headers):
        return JSONResponse({"error": "requests of other sites are not allowed: open the page of this server"}, 403)
    return None


def _is_from_another_site(scope: Scope, headers: Headers) -> bool:
    """Whether a browser sends the request for a page of another site, unless it follows a link to the page."""
    origin = headers.get("origin")
    if origin is not None and origin.partition("://")[2] != headers.get("host"):
        return True
    if headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
        return False
    is_link = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return not (is_link and scope["method"] == "GET" and not scope["path"].startswith("/api/"))


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
