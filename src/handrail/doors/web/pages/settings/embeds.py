"""Embeds: tools that are published for everybody, on pages of other sites."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import htpy as h
from starlette.datastructures import FormData
from starlette.responses import Response

from handrail.core.errors import HandrailError, ToolError
from handrail.doors.web import controls as c
from handrail.doors.web.humanize import time_ago
from handrail.doors.web.icons import icon
from handrail.doors.web.layout import empty_state
from handrail.doors.web.pages.settings.layout import confirm_page, done_message, settings_page
from handrail.doors.web.routing import PageContext, PageNotFound, PageRouter, redirect
from handrail.identity.embeds import MAX_EMBED_RUNS
from handrail.platform.access import is_plausible_id
from handrail.store.embeds import Embed

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

    def wrong(self) -> dict[str, str]:
        """What is wrong with it, by field; what it names is looked up later."""
        found = {}
        if not self.title.strip():
            found["title"] = "Say what it is, for those who look after it."
        for name in ("runs_per_day", "runs_per_visitor"):
            given = getattr(self, name).strip()
            if not (given.isascii() and given.isdigit() and len(given) < 8 and int(given) <= MAX_EMBED_RUNS):
                found[name] = f"Type a whole number from 0 to {MAX_EMBED_RUNS:,}."
        if self.days not in _LIFETIMES:
            found["days"] = "Choose one of these."
        return found

    @property
    def changes(self) -> dict[str, Any]:
        """What can be changed later, as the office takes it."""
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
    return [one.strip() for one in text.replace(",", "\n").splitlines() if one.strip()]


def read_embed_form(form: FormData) -> EmbedForm:
    names = ("title", "tools", "origins", "runs_per_day", "runs_per_visitor", "days")
    return EmbedForm(**{name: c.posted_text(form, name) for name in names})


def embed_form_of(embed: Embed) -> EmbedForm:
    """An embed as a form shows it."""
    return EmbedForm(
        embed.title,
        "\n".join(embed.tools),
        "\n".join(embed.origins),
        str(embed.runs_per_day),
        str(embed.runs_per_visitor),
    )


def render_embed_form(
    wanted: EmbedForm, wrong: dict[str, str], problem: str | None, *, action: str, fresh: bool
) -> h.Element:
    """The form of a new embed, or of one that is there: its tools and its end stay as they are."""
    return h.form(".panel.stack.set-narrow", method="post", action=action)[
        c.alert(problem) if problem else None,
        c.field("title", "Name", value=wanted.title, error=wrong.get("title"), maxlength="200"),
        c.text_area(
            "tools",
            "Tools, one a line",
            value=wanted.tools,
            error=wrong.get("tools"),
            hint="By what stands in their address, such as roi-calculator. Tools that only read.",
        )
        if fresh
        else None,
        c.text_area(
            "origins",
            "Sites that may show it, one a line",
            value=wanted.origins,
            error=wrong.get("origins"),
            hint="Such as https://www.example.com. Without one, no site can.",
        ),
        c.field(
            "runs_per_day",
            "Runs a day, of all visitors together",
            value=wanted.runs_per_day,
            error=wrong.get("runs_per_day"),
            inputmode="numeric",
        ),
        c.field(
            "runs_per_visitor",
            "Runs a day of one visitor",
            value=wanted.runs_per_visitor,
            error=wrong.get("runs_per_visitor"),
            inputmode="numeric",
        ),
        c.select("days", "Ends", _LIFETIMES.items(), value=wanted.days, error=wrong.get("days"))
        if fresh
        else None,
        h.div[c.submit("Publish" if fresh else "Save")],
    ]


router = PageRouter()
_PATH, _PERMISSION = "/settings/embeds", "embeds.manage"

_DONE = {
    "saved": "Saved. It holds from now on.",
    "off": "Switched off. Whoever looks now reads that it is no longer here.",
    "on": "Switched on again.",
    "revoked": "Ended for good.",
    "new": "Published.",
}


@router.get(_PATH, need=_PERMISSION)
async def show(ctx: PageContext) -> Response:
    found = await ctx.services.embeds.list(ctx.who)
    live = [one for one in found if one.revoked_at is None]
    over = [one for one in found if one.revoked_at is not None]
    names = await _names(ctx)
    return settings_page(
        ctx,
        "Embeds",
        h.header(".head")[h.h1["Embeds"], h.a(".btn", href=f"{_PATH}/new")[icon("plus"), "Publish tools"]],
        _table(ctx, live, names)
        if live
        else empty_state(
            "Nothing is published", "An embed shows tools on a site of yours, to visitors without an account."
        ),
        h.details[h.summary[f"{len(over)} that ended"], _table(ctx, over, names)] if over else None,
        part=_PATH,
        done=done_message(ctx, _DONE),
    )


@router.get(f"{_PATH}/new", need=_PERMISSION)
async def new_embed(ctx: PageContext) -> Response:
    return _new_page(ctx, EmbedForm(tools=ctx.query.get("tool", "")[:200]))


@router.post(_PATH, need=_PERMISSION)
async def publish(ctx: PageContext) -> Response:
    wanted = read_embed_form(await ctx.form())
    wrong = wanted.wrong()
    tools = []
    for name in split_lines(wanted.tools):
        try:
            tools.append((await ctx.hr.describe(name, ctx.who, source="web")).tool)
        except ToolError:
            wrong["tools"] = f"There is no tool “{name[:100]}”, or none that you may use."
    if not tools and "tools" not in wrong:
        wrong["tools"] = "Name at least one tool."
    if wrong:
        return _new_page(ctx, wanted, wrong)
    changes = wanted.changes
    try:
        _, made = await ctx.services.embeds.publish(
            ctx.who,
            changes.pop("title"),
            tools,
            changes.pop("origins"),
            lifetime=wanted.lifetime,
            **changes,
        )
    except HandrailError as refused:
        return _new_page(ctx, wanted, problem=str(refused))
    return redirect(f"{_PATH}/{made.id}?done=new")


@router.get(f"{_PATH}/{{id}}", need=_PERMISSION)
async def show_embed(ctx: PageContext) -> Response:
    embed = await _find_embed(ctx)
    return await _embed_page(ctx, embed, embed_form_of(embed))


@router.post(f"{_PATH}/{{id}}", need=_PERMISSION)
async def save(ctx: PageContext) -> Response:
    embed = await _find_active_embed(ctx)
    wanted = read_embed_form(await ctx.form())
    wrong = wanted.wrong()
    if not wrong:
        try:
            await ctx.services.embeds.change(ctx.who, embed.id, wanted.changes)
            return redirect(f"{_PATH}/{embed.id}?done=saved")
        except HandrailError as refused:
            return await _embed_page(ctx, embed, wanted, {}, str(refused))
    return await _embed_page(ctx, embed, wanted, wrong)


@router.post(f"{_PATH}/{{id}}/switch", need=_PERMISSION)
async def switch(ctx: PageContext) -> Response:
    """The kill switch, off or on again: as its button said, however often it is pressed."""
    embed = await _find_active_embed(ctx)
    to = "on" if c.posted_text(await ctx.form(), "to") == "on" else "off"
    await ctx.services.embeds.change(ctx.who, embed.id, {"enabled": to == "on"})
    return redirect(f"{_PATH}/{embed.id}?done={to}")


@router.get(f"{_PATH}/{{id}}/revoke", need=_PERMISSION)
async def ask_revoke(ctx: PageContext) -> Response:
    embed = await _find_active_embed(ctx)
    return confirm_page(
        ctx,
        f"End “{embed.title}”?",
        "Sites that show it say that it is no longer here. This cannot be undone.",
        part=_PATH,
        action=f"{_PATH}/{embed.id}/revoke",
        label="End it for good",
        back=f"{_PATH}/{embed.id}",
    )


@router.post(f"{_PATH}/{{id}}/revoke", need=_PERMISSION)
async def revoke(ctx: PageContext) -> Response:
    await ctx.services.embeds.revoke(ctx.who, (await _find_active_embed(ctx)).id)
    return redirect(f"{_PATH}?done=revoked")


async def _find_embed(ctx: PageContext) -> Embed:
    name = ctx.part("id")
    found = await ctx.services.embeds.get(ctx.who, name) if is_plausible_id(name) else None
    if found is None:
        raise PageNotFound
    return found


async def _find_active_embed(ctx: PageContext) -> Embed:
    found = await _find_embed(ctx)
    if found.revoked_at is not None:
        raise PageNotFound
    return found


def _new_page(
    ctx: PageContext, wanted: EmbedForm, wrong: dict[str, str] | None = None, problem: str | None = None
) -> Response:
    return settings_page(
        ctx,
        "Publish tools",
        h.h1["Publish tools"],
        render_embed_form(wanted, wrong or {}, problem, action=_PATH, fresh=True),
        part=_PATH,
        status=422 if wrong or problem else 200,
    )


async def _embed_page(
    ctx: PageContext,
    embed: Embed,
    wanted: EmbedForm,
    wrong: dict[str, str] | None = None,
    problem: str | None = None,
) -> Response:
    today = await ctx.services.embeds.runs_today(ctx.who, embed.id)
    alive, names = embed.revoked_at is None, await _names(ctx)
    return settings_page(
        ctx,
        embed.title,
        h.header(".head")[
            h.h1[embed.title], h.div(".row")[_badge(embed, ctx.now), _actions(embed) if alive else None]
        ],
        h.p(".quiet")[f"{today:,} of {embed.runs_per_day:,} runs today. Shows {names(embed)}."],
        _snippet(ctx, embed) if alive else None,
        render_embed_form(wanted, wrong or {}, problem, action=f"{_PATH}/{embed.id}", fresh=False)
        if alive
        else None,
        part=_PATH,
        done=done_message(ctx, _DONE),
        status=422 if wrong or problem else 200,
    )


def _actions(embed: Embed) -> h.Fragment:
    return h.fragment[
        h.form(method="post", action=f"{_PATH}/{embed.id}/switch")[
            c.hidden(to="off" if embed.enabled else "on"),
            h.button(".btn", type="submit", data_variant="outline", data_size="sm")[
                icon("power"), "Switch it off" if embed.enabled else "Switch it on"
            ],
        ],
        h.a(".btn", href=f"{_PATH}/{embed.id}/revoke", data_variant="ghost", data_size="sm")[
            "End it for good"
        ],
    ]


def _snippet(ctx: PageContext, embed: Embed) -> h.Element:
    url = ctx.request.url
    address = f"{url.scheme}://{url.netloc}/embed/{ctx.services.embeds.token(ctx.who, embed).reveal()}"
    # as plain text: what htpy makes counts as markup, and its title would be copied without its escapes
    code = "".join(h.iframe(src=address, title=embed.title, width="100%", height="640").iter_chunks())
    return h.section(".panel.stack.set-narrow", aria_labelledby="snippet-title")[
        h.h2("#snippet-title")["Put it on a page"],
        h.label(".label", for_="snippet")["HTML"],
        h.textarea("#snippet.textarea.mono", readonly=True, rows="4")[code],
        h.div(".row")[
            h.button(".btn", type="button", data_copy="snippet", data_variant="outline", data_size="sm")[
                icon("copy"), "Copy"
            ]
        ],
        h.p(".quiet")["Whoever sees the page can use it, as often as the quota says."],
    ]


def _badge(embed: Embed, now: float) -> h.Element:
    if embed.revoked_at is not None:
        return h.span(".mark.mark-quiet")[icon("circle-slash"), "ended"]
    if not embed.enabled:
        return h.span(".mark.mark-warn")[icon("power"), "switched off"]
    if not embed.is_open(now):
        return h.span(".mark.mark-quiet")[icon("timer-off"), "over"]
    return h.span(".mark.mark-good")[icon("check"), "published"]


async def _names(ctx: PageContext) -> Callable[[Embed], str]:
    """What the tools of an embed are called."""
    view = await ctx.services.tools.view(ctx.who)

    def names(embed: Embed) -> str:
        found = ((name, view.candidate(name)) for name in embed.tools)
        return ", ".join(name if tool is None else tool.name for name, tool in found)

    return names


def _table(ctx: PageContext, found: list[Embed], names: Callable[[Embed], str]) -> h.Element:
    heads = ("Name", "Stands", "Tools", "Sites", "Ends")
    return h.div(".table-container", tabindex="0", role="region", aria_label="Embeds")[
        h.table(".table")[
            h.thead[h.tr[(h.th(scope="col")[word] for word in heads)]],
            h.tbody[
                (
                    h.tr[
                        h.th(scope="row")[h.a(href=f"{_PATH}/{one.id}")[one.title]],
                        h.td[_badge(one, ctx.now)],
                        h.td[names(one)],
                        h.td[", ".join(one.origins) or h.span(".quiet")["none"]],
                        h.td[
                            time_ago(one.expires_at, ctx.now) if one.expires_at else h.span(".quiet")["never"]
                        ],
                    ]
                    for one in found
                )
            ],
        ]
    ]
