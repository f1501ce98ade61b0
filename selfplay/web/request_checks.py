"""Checks of requests (the Host header and the size of the body), and the security headers of every response."""

from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY_BYTES = 16_384
"""The largest size of a body; those that the page sends have a few hundred bytes."""

HEADERS = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


class RequestChecks:
    """Middleware that rejects unknown hosts and large bodies, and keeps the page from loading files of other servers.

    Args:
        hosts: the allowed values of the Host header, without a port. The check prevents pages of other sites from
            reaching the server by DNS rebinding. None: any.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str] | None) -> None:
        self.app, self.hosts = app, hosts

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

        if scope["type"] == "http" and not self._has_allowed_host(scope):
            rejection = JSONResponse(
                {"error": "unknown host: use the address that the server printed at its start"}, 400
            )
            await rejection(scope, receive, with_headers)
        else:
            await self.app(scope, counted, with_headers)

    def _has_allowed_host(self, scope: Scope) -> bool:
        host = Headers(scope=scope).get("host", "")
        # Without the port; an IPv6 address, which contains colons, is in brackets.
        name = host.partition("]")[0] + "]" if host.startswith("[") else host.partition(":")[0]
        return self.hosts is None or name.lower() in self.hosts
