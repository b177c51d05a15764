"""Signing in, by a link that works once or by a password, out again, and from one tenant to another."""

from __future__ import annotations

import htpy as h
from starlette.responses import Response

from handrail.doors.web import controls as c
from handrail.doors.web.cookies import (
    local_path,
    session_token,
    set_theme_cookie,
    signed_in_redirect,
    signed_out_redirect,
)
from handrail.doors.web.icons import icon
from handrail.doors.web.layout import bare_page, page
from handrail.doors.web.router import PageContext, PageNotFound, PageRouter, redirect
from handrail.identity.errors import NotSignedIn, TooManyAttempts
from handrail.store.tenants import Tenant

router = PageRouter()
_LINK_ENDED = "This link was used already, or is over. Ask for a new one, or sign in with your password."


@router.get("/sign-in", open=True)
async def show_sign_in(ctx: PageContext) -> Response:
    """A form; for a link a page with a button, since a program that only looks must not use it up."""
    goal = local_path(ctx.query.get("next", "/"))
    if not ctx.platform.can_sign_in:
        return _no_database_page(ctx)
    if link := ctx.query.get("link", ""):
        hours = round(ctx.services.authenticator.lifetime / 3600)
        return bare_page(ctx, "Sign in", _heading("Sign in to Handrail"), _by_link(link, goal, hours))
    if ctx.somebody is not None:
        return redirect(goal)
    return _sign_in_page(ctx, goal)


@router.post("/sign-in", open=True)
async def sign_in(ctx: PageContext) -> Response:
    """Let somebody in, or say why not; what they typed stays, but for the password."""
    form = await ctx.form()
    goal = local_path(c.posted_text(form, "next") or "/")
    if not ctx.platform.can_sign_in:
        return _no_database_page(ctx)
    if link := c.posted_text(form, "link"):
        try:
            token = await ctx.services.authenticator.use_link(link)
        except NotSignedIn:
            return _sign_in_page(ctx, goal, problem=_LINK_ENDED)
        return await _signed_in(ctx, token, goal)
    email, password = c.posted_text(form, "email").strip(), c.posted_text(form, "password")
    if not email or not password:
        return _sign_in_page(ctx, goal, email, _missing(email))
    try:
        token = await ctx.services.passwords.sign_in(email, password, source=ctx.address or None)
    except TooManyAttempts as refused:
        return _sign_in_page(ctx, goal, email, problem=str(refused), status=429)
    except NotSignedIn as refused:
        return _sign_in_page(ctx, goal, email, {"password": str(refused)})
    return await _signed_in(ctx, token, goal)


@router.post("/sign-out", open=True)
async def sign_out(ctx: PageContext) -> Response:
    """Out of this browser, or of every one. A key is no session: an agent sends away nobody."""
    form = await ctx.form()
    who = ctx.somebody
    if who is not None and ctx.request.scope["state"]["source"] == "web":
        authenticator = ctx.services.authenticator
        everywhere = c.posted_text(form, "everywhere")
        await (authenticator.sign_out(who) if everywhere else authenticator.end(session_token(ctx)))
    return signed_out_redirect(ctx, "/sign-in")


async def _signed_in(ctx: PageContext, token: str, goal: str) -> Response:
    response = signed_in_redirect(ctx, token, goal)
    who = await ctx.services.authenticator.principal_from_session(token)
    set_theme_cookie(ctx, response, await ctx.services.preferences.theme(who))
    return response


def _sign_in_page(
    ctx: PageContext,
    goal: str,
    email: str = "",
    errors: dict[str, str] | None = None,
    *,
    problem: str | None = None,
    status: int = 400,
) -> Response:
    form = c.Controls({"email": email}, errors or {})
    focus = "password" if email else "email"
    return bare_page(
        ctx,
        "Sign in",
        _heading("Sign in to Handrail"),
        c.alert(problem),
        h.form(".panel.stack", method="post", action="/sign-in")[
            c.hidden(next=goal),
            form.field("email", "Address", kind="email", autocomplete="username", autofocus=focus == "email"),
            form.field(
                "password",
                "Password",
                kind="password",
                autocomplete="current-password",
                autofocus=focus == "password",
            ),
            c.submit("Sign in"),
        ],
        h.p(".quiet")[
            "No password yet, or forgotten? Ask whoever runs this server for a one-time link: ",
            h.code["handrail sign-in"],
            " and your address make one.",
        ],
        status=status if errors or problem else 200,
    )


def _missing(email: str) -> dict[str, str]:
    if not email:
        return {"email": "Type the address that you are known by here."}
    return {"password": "Type your password."}


def _by_link(link: str, goal: str, hours: int) -> h.Element:
    return h.form(".panel.stack", method="post", action="/sign-in")[
        h.p[f"This link lets you in once. From then on, this browser is signed in for {hours} hours."],
        c.hidden(link=link, next=goal),
        c.submit("Sign in"),
    ]


def _no_database_page(ctx: PageContext) -> Response:
    text = "This server keeps nothing in a database, so there is nobody to be. Programs and agents use keys."
    return bare_page(ctx, "Sign in", _heading("Nobody signs in here"), h.p[text], status=404)


def _heading(title: str) -> h.Element:
    return h.h1(".row.sign-title")[icon("shield-check"), title]


@router.get("/switch")
async def show_tenants(ctx: PageContext) -> Response:
    """Where they may go."""
    session_token(ctx)
    tenants = await ctx.services.authenticator.tenants_of(ctx.who)
    return page(
        ctx,
        "Switch tenant",
        h.h1["Where do you want to work?"],
        h.p(".quiet")["Tools, runs and approvals of one tenant are not seen in another."],
        h.ul(".switch-list")[
            (h.li[_tenant_choice(tenant, tenant.id == ctx.who.tenant)] for tenant in tenants)
        ],
    )


@router.post("/switch")
async def switch_tenant(ctx: PageContext) -> Response:
    """Go there."""
    goal = c.posted_text(await ctx.form(), "tenant")
    try:
        token = await ctx.services.authenticator.switch(session_token(ctx), goal)
    except NotSignedIn:
        raise PageNotFound from None
    return signed_in_redirect(ctx, token, "/")


def _tenant_choice(tenant: Tenant, is_current: bool) -> h.Element:
    if is_current:
        return h.p(".panel.row")[h.b[tenant.name], c.badge("you are here")]
    return h.form(method="post", action="/switch")[
        c.hidden(tenant=tenant.id), c.submit(tenant.name, "outline")
    ]
