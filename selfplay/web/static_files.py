"""The files of the page. They are read once, at the start, so a request cannot reach any other file."""

from collections.abc import Awaitable, Callable
from importlib.resources import files

from fastapi import FastAPI, Response

TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}

PAGES = {"/": "index.html", "/docs": "docs.html"}
FILES = tuple(
    sorted(path.name for path in (files("selfplay.web") / "page").iterdir() if not path.name.endswith(".html"))
)
"""Every other file of the folder of the page."""


def add_static_files(app: FastAPI) -> None:
    """Serve the page at /, the documentation of the server at /docs, and the files they load."""
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
