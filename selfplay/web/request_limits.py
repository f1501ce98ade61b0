"""What every answer carries, no request may exceed, and by which names the server lets itself be called."""

from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY_BYTES = 16_384
"""Bytes; ours have some hundred."""

HEADERS = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


class RequestLimits:
    """Refuses large bodies and unknown names, and forbids the page everything that does not come from this server.

    Args:
        hosts: the names and addresses by which it may be called, so that another site's page does not reach it under a
            name of its own; None: any.
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
                raise HTTPException(413, f"a body has at most {MAX_BODY_BYTES} bytes")
            return message

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        if scope["type"] == "http" and not self._has_allowed_host(scope):
            refusal = JSONResponse({"error": "this server is not called by that name"}, 400)
            await refusal(scope, receive, guarded)
        else:
            await self.app(scope, counted, guarded)

    def _has_allowed_host(self, scope: Scope) -> bool:
        host = Headers(scope=scope).get("host", "")
        # Without the port; the colons of an IPv6 address stand in brackets.
        name = host.partition("]")[0] + "]" if host.startswith("[") else host.partition(":")[0]
        return self.hosts is None or name.lower() in self.hosts
