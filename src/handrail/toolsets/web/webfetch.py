"""webfetch: what stands at an address, to be read."""

from __future__ import annotations

import asyncio
import html
from http import HTTPStatus
from typing import Annotated

from pydantic import BaseModel, Field

from handrail import Result, Tool, ToolError, tool
from handrail.ext.net import Fetcher, FetchResponse, retry_after
from handrail.toolsets.web.html_elements import mask_markup, unmask_escaped
from handrail.toolsets.web.markdown import Format
from handrail.toolsets.web.options import WEB_TOOL, WebOptions
from handrail.toolsets.web.page import ACCEPT, FetchedPage, frame_untrusted, read_page

_MAX_TIMEOUT = 120.0


class WebPage(BaseModel):
    """What was fetched."""

    url: str = Field(description="Where it was found, after redirects")
    title: str = Field(description="The page's own title, if it has one")
    type: str = Field(description="Its media type")
    chars: int = Field(description="How many characters of it were read")
    bytes: int = Field(description="How large it is")
    is_cut: bool = Field(description="Whether there is more than was read")


def webfetch(options: WebOptions | None = None) -> Tool:
    """The tool, within the limits of its options."""
    chosen = options or WebOptions()
    fetcher = Fetcher(chosen)

    @tool("webfetch", **WEB_TOOL, icon="globe", output=WebPage)
    async def webfetch(
        url: Annotated[str, Field(description="The address, beginning with https:// or http://")],
        format: Annotated[Format, Field(description="How a page is given")] = "markdown",
        max_chars: Annotated[
            int | None, Field(description="Read no more than this many characters of it", ge=1)
        ] = None,
        timeout: Annotated[
            float | None, Field(description="Seconds to wait at most", gt=0, le=_MAX_TIMEOUT)
        ] = None,
    ) -> Result:
        async with fetcher.time_limit(timeout):
            answer = await fetcher.fetch(url, ACCEPT)
            if not 200 <= answer.status < 300:
                raise _status_error(answer)
            return await asyncio.to_thread(
                lambda: _to_result(answer, read_page(answer, format), format, max_chars)
            )

    return webfetch


def _to_result(answer: FetchResponse, page: FetchedPage, form: Format, max_chars: int | None) -> Result:
    text = page.text if max_chars is None else page.text[:max_chars]
    is_cut = page.is_cut or len(text) < len(page.text)
    data = WebPage(
        url=str(answer.url),
        title=page.title,
        type=page.type,
        chars=len(text),
        bytes=len(answer.body),
        is_cut=is_cut,
    )
    size = f"{len(answer.body):,} bytes"
    if page.attachment is not None:
        summary = f"Fetched {page.attachment.name} ({page.type}, {size})"
        return Result(
            data=data,
            summary=summary,
            output=f"{summary} from {answer.url.shown}",
            attachments=(page.attachment,),
        )
    if not text:
        empty = f"There is nothing to read at {answer.url.shown}. A page may need a script to show something."
        return Result(data=data, summary=f"Fetched nothing from {answer.url.host}", output=empty)
    title = f"Title: {_escape_title(page.title, form)}\n\n" if page.title else ""
    output = frame_untrusted(f"{title}{text}", f"Fetched {answer.url.shown} ({page.type})")
    if is_cut:
        of = f" of {len(page.text):,}" if not page.is_cut else ""
        output += f"\nThe text was cut after {len(text):,}{of} characters."
    return Result(data=data, summary=f"Fetched {page.title or answer.url.host} ({size})", output=output)


def _escape_title(title: str, form: Format) -> str:
    """A title as text of its page: nothing in it is markup."""
    if form == "markdown":
        return unmask_escaped(mask_markup(title))
    return html.escape(title, quote=False) if form == "html" else title


def _status_error(answer: FetchResponse) -> ToolError:
    try:
        words = f" ({HTTPStatus(answer.status).phrase})"
    except ValueError:
        words = ""
    hint = {
        401: " It is not for everybody.",
        403: " It is not for everybody, or not for programs.",
        404: " Check the address, or search for the page.",
        410: " It is gone for good.",
        429: " Wait before you fetch from there again.",
    }.get(answer.status, "")
    return ToolError(
        f"{answer.url.shown} answered with the status {answer.status}{words}.{hint}",
        code="HTTP_STATUS",
        retry_after=retry_after(answer.headers) if answer.status in (429, 503) else None,
    )
