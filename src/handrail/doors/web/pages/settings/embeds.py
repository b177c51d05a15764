"""Embeds: tools that are published for everybody, on pages of other sites."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import htpy as h
from starlette.datastructures import FormData
from starlette.responses import Response

from handrail.core.errors import HandrailError, ToolError
from handrail.doors.web import controls as c
from handrail.doors.web.humanize import time_ago
from handrail.doors.web.icons import icon
from handrail.doors.web.layout import empty_state
from handrail.doors.web.pages.settings.section import Question, current_and_past, settings_section
from handrail.doors.web.router import PageContext, PageNotFound, require
from handrail.identity.embeds import MAX_EMBED_RUNS
from handrail.platform.access import is_plausible_id
from handrail.store.embeds import Embed

section = settings_section(
    "Embeds",
    saved="Saved. It holds from now on.",
    off="Switched off. Whoever looks now reads that it is no longer here.",
    on="Switched on again.",
    revoked="Ended for good.",
    new="Published.",
)
_LIFETIMES = {"30": "In 30 days", "365": "In a year", "": "Never"}


@dataclass(frozen=True, slots=True)
class EmbedForm:
    """An embed as somebody typed it."""

    title: str = ""
    tools: str = ""
    origins: str = ""
    runs_per_day: str = "1000"
    runs_per_visitor: str = "100"
    days: str = ""

    def errors(self) -> dict[str, str]:
        """What is wrong with it, by field; what it names is looked up later."""
        errors = {}
        if not self.title.strip():
            errors["title"] = "Say what it is, for those who look after it."
        for name in ("runs_per_day", "runs_per_visitor"):
            text = getattr(self, name).strip()
            if not (text.isascii() and text.isdigit() and len(text) < 8 and int(text) <= MAX_EMBED_RUNS):
                errors[name] = f"Type a whole number from 0 to {MAX_EMBED_RUNS:,}."
        if self.days not in _LIFETIMES:
            errors["days"] = "Choose one of these."
        return errors

    @property
    def changes(self) -> dict[str, Any]:
        """What can be changed later, as `services.embeds` takes it."""
        return {
            "title": self.title,
            "origins": split_lines(self.origins),
            "runs_per_day": int(self.runs_per_day),
            "runs_per_visitor": int(self.runs_per_visitor),
        }

    @property
    def lifetime(self) -> float | None:
        return float(self.days) * 86_400 if self.days else None


def split_lines(text: str) -> list[str]:
    """What stands on lines of its own, or between commas."""
    return [line.strip() for line in text.replace(",", "\n").splitlines() if line.strip()]


def read_embed_form(form: FormData) -> EmbedForm:
    return EmbedForm(**{field.name: c.posted_text(form, field.name) for field in fields(EmbedForm)})


def embed_form_of(embed: Embed) -> EmbedForm:
    """An embed as a form shows it."""
    quota, visitor_quota = str(embed.runs_per_day), str(embed.runs_per_visitor)
    return EmbedForm(embed.title, "\n".join(embed.tools), "\n".join(embed.origins), quota, visitor_quota)


def render_embed_form(
    draft: EmbedForm, errors: Mapping[str, str], problem: str | None, *, action: str, is_new: bool
) -> h.Element:
    """The form of a new embed, or of one that exists: its tools and its end stay as they are."""
    form = c.Controls(asdict(draft), errors)
    return h.form(".panel.stack.set-narrow", method="post", action=action)[
        c.alert(problem),
        form.field("title", "Name", maxlength="200"),
        form.text_area(
            "tools",
            "Tools, one a line",
            hint="By what stands in their address, such as roi-calculator. Tools that only read.",
        )
        if is_new
        else None,
        form.text_area(
            "origins",
            "Sites that may show it, one a line",
            hint="Such as https://www.example.com. Without one, no site can.",
        ),
        form.field("runs_per_day", "Runs a day, of all visitors together", inputmode="numeric"),
        form.field("runs_per_visitor", "Runs a day of one visitor", inputmode="numeric"),
        form.select("days", "Ends", _LIFETIMES.items()) if is_new else None,
        h.div[c.submit("Publish" if is_new else "Save")],
    ]


@section.get()
async def show(ctx: PageContext) -> Response:
    embeds = await ctx.services.embeds.list(ctx.who)
    names = await _tool_names(ctx)
    empty = empty_state(
        "Nothing is published", "An embed shows tools on a site of yours, to visitors without an account."
    )
    tables = current_and_past(
        embeds,
        lambda embed: embed.revoked_at is None,
        lambda part: _table(ctx, part, names),
        empty,
        "that ended",
    )
    return section.page(ctx, "Embeds", section.head("Publish tools"), tables)


@section.get("/new")
async def new_embed(ctx: PageContext) -> Response:
    return _new_page(ctx, EmbedForm(tools=ctx.query.get("tool", "")[:200]))


@section.post()
async def publish(ctx: PageContext) -> Response:
    draft = read_embed_form(await ctx.form())
    errors = draft.errors()
    tools = []
    for name in split_lines(draft.tools):
        try:
            tools.append((await ctx.hr.describe(name, ctx.who, source="web")).tool)
        except ToolError:
            errors["tools"] = f"There is no tool “{name[:100]}”, or none that you may use."
    if not tools and "tools" not in errors:
        errors["tools"] = "Name at least one tool."
    if errors:
        return _new_page(ctx, draft, errors)
    quota = draft.changes
    title, origins = quota.pop("title"), quota.pop("origins")
    try:
        _, embed = await ctx.services.embeds.publish(
            ctx.who, title, tools, origins, lifetime=draft.lifetime, **quota
        )
    except HandrailError as refused:
        return _new_page(ctx, draft, problem=str(refused))
    return section.redirect("new", f"/{embed.id}")


@section.get("/{id}")
async def show_embed(ctx: PageContext) -> Response:
    embed = await _find_embed(ctx)
    return await _embed_page(ctx, embed, embed_form_of(embed))


@section.post("/{id}")
async def save(ctx: PageContext) -> Response:
    embed = await _find_active_embed(ctx)
    draft = read_embed_form(await ctx.form())
    if errors := draft.errors():
        return await _embed_page(ctx, embed, draft, errors)
    try:
        await ctx.services.embeds.change(ctx.who, embed.id, draft.changes)
    except HandrailError as refused:
        return await _embed_page(ctx, embed, draft, problem=str(refused))
    return section.redirect("saved", f"/{embed.id}")


@section.post("/{id}/switch")
async def switch(ctx: PageContext) -> Response:
    """The kill switch, off or on again: as its button said, however often it is pressed."""
    embed = await _find_active_embed(ctx)
    to = "on" if c.posted_text(await ctx.form(), "to") == "on" else "off"
    await ctx.services.embeds.change(ctx.who, embed.id, {"enabled": to == "on"})
    return section.redirect(to, f"/{embed.id}")


async def _ask_revoke(ctx: PageContext) -> Question:
    embed = await _find_active_embed(ctx)
    text = "Sites that show it say that it is no longer here. This cannot be undone."
    return Question(f"End “{embed.title}”?", text, "End it for good", f"/{embed.id}")


@section.confirmed("/{id}/revoke", _ask_revoke, done="revoked")
async def revoke(ctx: PageContext) -> None:
    await ctx.services.embeds.revoke(ctx.who, (await _find_active_embed(ctx)).id)


async def _find_embed(ctx: PageContext) -> Embed:
    id = ctx.part("id")
    return require(await ctx.services.embeds.get(ctx.who, id) if is_plausible_id(id) else None)


async def _find_active_embed(ctx: PageContext) -> Embed:
    embed = await _find_embed(ctx)
    if embed.revoked_at is not None:
        raise PageNotFound
    return embed


def _new_page(
    ctx: PageContext, draft: EmbedForm, errors: Mapping[str, str] | None = None, problem: str | None = None
) -> Response:
    form = render_embed_form(draft, errors or {}, problem, action=section.path, is_new=True)
    status = 422 if errors or problem else 200
    return section.page(ctx, "Publish tools", h.h1["Publish tools"], form, status=status)


async def _embed_page(
    ctx: PageContext,
    embed: Embed,
    draft: EmbedForm,
    errors: Mapping[str, str] | None = None,
    problem: str | None = None,
) -> Response:
    today = await ctx.services.embeds.runs_today(ctx.who, embed.id)
    is_active, names = embed.revoked_at is None, await _tool_names(ctx)
    action = f"{section.path}/{embed.id}"
    return section.page(
        ctx,
        embed.title,
        h.header(".head")[
            h.h1[embed.title], h.div(".row")[_badge(embed, ctx.now), _actions(embed) if is_active else None]
        ],
        h.p(".quiet")[f"{today:,} of {embed.runs_per_day:,} runs today. Shows {names(embed)}."],
        _snippet(ctx, embed) if is_active else None,
        render_embed_form(draft, errors or {}, problem, action=action, is_new=False) if is_active else None,
        status=422 if errors or problem else 200,
    )


def _actions(embed: Embed) -> h.Fragment:
    path = f"{section.path}/{embed.id}"
    return h.fragment[
        h.form(method="post", action=f"{path}/switch")[
            c.hidden(to="off" if embed.enabled else "on"),
            c.small_submit([icon("power"), "Switch it off" if embed.enabled else "Switch it on"]),
        ],
        c.small_link(f"{path}/revoke", "End it for good", "ghost"),
    ]


def _snippet(ctx: PageContext, embed: Embed) -> h.Element:
    address = f"{ctx.origin}/embed/{ctx.services.embeds.token(ctx.who, embed).reveal()}"
    # as plain text: what htpy makes counts as markup, and its title would be copied without its escapes
    code = "".join(h.iframe(src=address, title=embed.title, width="100%", height="640").iter_chunks())
    return h.section(".panel.stack.set-narrow", aria_labelledby="snippet-title")[
        h.h2("#snippet-title")["Put it on a page"],
        h.label(".label", for_="snippet")["HTML"],
        h.textarea("#snippet.textarea.mono", readonly=True, rows="4")[code],
        h.div(".row")[c.copy_button("snippet", "sm")],
        h.p(".quiet")["Whoever sees the page can use it, as often as the quota says."],
    ]


def _badge(embed: Embed, now: float) -> h.Element:
    if embed.revoked_at is not None:
        return c.badge("ended", "quiet", "circle-slash")
    if not embed.enabled:
        return c.badge("switched off", "warn", "power")
    if not embed.is_open(now):
        return c.badge("over", "quiet", "timer-off")
    return c.badge("published", "good", "check")


async def _tool_names(ctx: PageContext) -> Callable[[Embed], str]:
    """What the tools of an embed are called."""
    view = await ctx.services.tools.view(ctx.who)

    def names(embed: Embed) -> str:
        tools = ((name, view.candidate(name)) for name in embed.tools)
        return ", ".join(name if tool is None else tool.name for name, tool in tools)

    return names


def _table(ctx: PageContext, embeds: list[Embed], names: Callable[[Embed], str]) -> h.Element:
    def row(embed: Embed) -> h.Element:
        end = time_ago(embed.expires_at, ctx.now) if embed.expires_at else h.span(".quiet")["never"]
        return h.tr[
            h.th(scope="row")[h.a(href=f"{section.path}/{embed.id}")[embed.title]],
            h.td[_badge(embed, ctx.now)],
            h.td[names(embed)],
            h.td[", ".join(embed.origins) or h.span(".quiet")["none"]],
            h.td[end],
        ]

    return c.table("Embeds", ("Name", "Stands", "Tools", "Sites", "Ends"), map(row, embeds))
