"""A page with one form on it, under the policy of our pages: it is drawn, sent, read, and drawn again."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import htpy as h
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from handrail.core.define.call import FieldError
from handrail.doors.web.assets import asset_url, serve_asset
from handrail.doors.web.forms.fields import MISSING
from handrail.doors.web.forms.form import Form
from handrail.doors.web.forms.options import PickerOptions
from handrail.doors.web.forms.post import form_items
from handrail.doors.web.responses import html
from tests.harness.poll import poll_until

THINGS = ["Acme", "Bolt", "Acorn"]


class FormPage:
    """The app of the page; `reads` keeps what came of each post."""

    def __init__(self, form: Form, value: Any = MISSING) -> None:
        self.form, self.value = form, value
        self.reads: list[Any] = []
        self.app = Starlette(
            routes=[
                Route("/", self._page, methods=["GET", "POST"]),
                Route("/options", self._options),
            ]
        )

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"].startswith("/static/"):
            await serve_asset(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _page(self, request: Request) -> Response:
        value: Any = self.value
        errors: tuple[FieldError, ...] = ()
        if request.method == "POST":
            read = self.form.read(await form_items((await request.form()).multi_items()))
            self.reads.append(read)
            value, errors = read.value, read.errors
        drawn = self.form.render(value, errors, options=PickerOptions(address="/options"))
        return html(
            h.html(lang="en")[
                h.head[
                    h.title["Form"],
                    h.link(rel="icon", href="data:,"),
                    h.link(rel="stylesheet", href=asset_url("app.css")),
                    h.script(src=asset_url("app.js"), defer=True),
                ],
                h.body[
                    h.main[
                        h.h1["Form"],
                        h.form(method="post", action="/", enctype="multipart/form-data", novalidate=True)[
                            drawn, h.button(".btn", type="submit")["Send"]
                        ],
                        h.pre("#read")[
                            json.dumps(value if value is not MISSING else None, ensure_ascii=False)
                        ],
                    ]
                ],
            ]
        )

    async def _options(self, request: Request) -> Response:
        text = request.query_params["q"].lower()
        return JSONResponse([{"value": one.lower(), "label": one} for one in THINGS if text in one.lower()])


@contextmanager
def form_page(form: Form, value: Any = MISSING) -> Iterator[tuple[str, FormPage]]:
    """The address of a page with a form, on a server of its own."""
    app = FormPage(form, value)
    server = uvicorn.Server(uvicorn.Config(app, port=0, lifespan="off", log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        poll_until(lambda: server.started)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}", app
    finally:
        server.should_exit = True
        thread.join()
