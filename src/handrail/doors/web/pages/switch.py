"""Switching: a person who belongs to several tenants goes from one to another."""

from __future__ import annotations

import htpy as h
from starlette.responses import Response

from handrail.doors.web import controls as c
from handrail.doors.web.frame import page
from handrail.doors.web.routing import NotThere, Pages, Reader
from handrail.doors.web.session import let_in, token_of
from handrail.identity.errors import NotSignedIn
from handrail.store.tenants import Tenant

pages = Pages()


@pages.get("/switch")
async def show(reader: Reader) -> Response:
    """Where they may go."""
    token_of(reader)
    homes = await reader.offices.doorkeeper.tenants_of(reader.who)
    return page(
        reader,
        "Switch tenant",
        h.h1["Where do you want to work?"],
        h.p(".quiet")["Tools, runs and approvals of one tenant are not seen in another."],
        h.ul(".switch-list")[(h.li[_choice(one, one.id == reader.who.tenant)] for one in homes)],
    )


@pages.post("/switch")
async def switch(reader: Reader) -> Response:
    """Go there."""
    goal = c.text(await reader.form(), "tenant")
    try:
        token = await reader.offices.doorkeeper.switch(token_of(reader), goal)
    except NotSignedIn:
        raise NotThere from None
    return let_in(reader, token, "/")


def _choice(one: Tenant, here: bool) -> h.Element:
    if here:
        return h.p(".panel.row")[h.b[one.name], h.span(".mark")["you are here"]]
    return h.form(method="post", action="/switch")[
        c.hidden(tenant=one.id), h.button(".btn", type="submit", data_variant="outline")[one.name]
    ]
