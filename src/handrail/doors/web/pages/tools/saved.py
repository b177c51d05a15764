"""Saving an input under a name, renaming and removing it; and making a link of it."""

from __future__ import annotations

import htpy as h
from starlette.responses import Response

from handrail.core.define.found import Described
from handrail.core.errors import UsageError
from handrail.doors.web.answer import html
from handrail.doors.web.pages.tools.inputs import Input, posted, read_input, text_under
from handrail.doors.web.pages.tools.keeping import FROM, NAME, draw_linker, draw_saved
from handrail.doors.web.pages.tools.known import described, url_of
from handrail.doors.web.pages.tools.link import TooLong, link_of
from handrail.doors.web.pages.tools.whole import Shown, saved_of, whole
from handrail.doors.web.routing import Pages, Reader, go
from handrail.doors.web.words import count

pages = Pages()
_UNREAD = "The input is not JSON yet; set that right first."
_TOO_LONG = "This input is too long for a link. Save it under a name instead."


@pages.post("/tools/{slug}/saved")
async def save(reader: Reader) -> Response:
    """Keep what stands in the form, whole or half-typed."""
    known = await described(reader)
    pairs = await posted(reader)
    given = read_input(known.tool, pairs)
    keepsakes = reader.offices.keepsakes
    if not given.readable:
        return await _refused(reader, known, _UNREAD, given)
    try:
        left_out = await keepsakes.save(reader.who, known.tool, text_under(pairs, NAME) or "", given.args)
    except UsageError as error:
        return await _refused(reader, known, str(error), given)
    said = f"Saved. {_without_secrets(left_out)}".strip()
    return await _kept(reader, known, said, given)


@pages.post("/tools/{slug}/saved/rename")
async def rename(reader: Reader) -> Response:
    """The same input under another name, in the place of what had that name."""
    known = await described(reader)
    given = await reader.form()
    old, new = str(given.get(FROM) or ""), str(given.get(NAME) or "")
    keepsakes = reader.offices.keepsakes
    there = next((one for one in await saved_of(reader, known.tool) if one.name == old), None)
    if there is None:
        return await _refused(reader, known, "This input is not there any more.")
    if " ".join(new.split()) != old:
        try:
            await keepsakes.save(reader.who, known.tool, new, there.args)
        except UsageError as error:
            return await _refused(reader, known, str(error))
        await keepsakes.remove(reader.who, known.tool.id, old)
    return await _kept(reader, known, "Renamed.")


@pages.post("/tools/{slug}/saved/remove")
async def remove(reader: Reader) -> Response:
    """Forget one."""
    known = await described(reader)
    given = await reader.form()
    await reader.offices.keepsakes.remove(reader.who, known.tool.id, str(given.get(NAME) or ""))
    return await _kept(reader, known, "Removed.")


@pages.post("/tools/{slug}/link")
async def link(reader: Reader) -> Response:
    """A link to this page with this input in it."""
    known = await described(reader)
    given = read_input(known.tool, await posted(reader))
    drawn, status = _linked(reader, known, given)
    if reader.by_htmx:
        return html(drawn, status)
    return await whole(reader, known, given, Shown(linker=drawn, status=status))


def _linked(reader: Reader, known: Described, given: Input) -> tuple[h.Element, int]:
    if not given.readable:
        return draw_linker(known.tool, said=_UNREAD), 422
    try:
        path, left_out = link_of(known.tool, given.args)
    except TooLong:
        return draw_linker(known.tool, said=_TOO_LONG), 422
    home = str(reader.request.base_url).rstrip("/")
    said = _without_secrets(left_out) or "Whoever may use this tool finds the form filled in like this."
    return draw_linker(known.tool, home + path, said), 200


def _without_secrets(left_out: tuple[str, ...]) -> str:
    return f"{count(len(left_out), 'secret')} left out: type it again each time." if left_out else ""


async def _kept(reader: Reader, known: Described, said: str, given: Input | None = None) -> Response:
    drawn = draw_saved(known.tool, await saved_of(reader, known.tool), said=said)
    if reader.by_htmx:
        return html(drawn)
    if given is None:
        return go(url_of(known.tool))
    return await whole(reader, known, given, Shown(saved=drawn))


async def _refused(reader: Reader, known: Described, said: str, given: Input | None = None) -> Response:
    drawn = draw_saved(known.tool, await saved_of(reader, known.tool), said=said, is_wrong=True)
    if reader.by_htmx:
        return html(drawn, 422)
    return await whole(reader, known, given or Input(), Shown(saved=drawn, status=422))
