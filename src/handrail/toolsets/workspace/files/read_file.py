"""read_file: the lines of a file with their numbers, or an image or document to look at."""

from __future__ import annotations

import asyncio
import os
from pathlib import PurePosixPath
from typing import Annotated, BinaryIO

from pydantic import BaseModel, Field

from handrail import Attachment, Result, Tool, ToolError, tool
from handrail.ext.tools import MODEL_LIMIT
from handrail.toolsets.workspace.file_content import (
    ATTACHABLE,
    byte_order_mark,
    codec_name,
    decode,
    file_type,
    is_text,
)
from handrail.toolsets.workspace.files.not_found import not_found
from handrail.toolsets.workspace.files.pages import (
    PageLimits,
    TextPage,
    page_of_file,
    page_of_text,
    wrong_encoding,
)
from handrail.toolsets.workspace.workspace import Workspace, file_reader

DEFAULT_LINES = 2_000
_CHARACTERS = MODEL_LIMIT - 1_000
"""A page stays within what a model is given, so that it ends with a whole line and says how to read on."""
_MAX_LOOP_SIZE = 1 << 18
"""Bytes of a file that is read as a whole, in the loop itself."""
_HEAD = 1 << 13
_MAX_ATTACHED = 10_000_000


class FileText(BaseModel):
    """Lines of a file."""

    path: str
    content: str
    """The lines that were read, without numbers."""
    first_line: int
    last_line: int
    lines: int | None
    """How many lines the file has; missing when it is too large to count them."""
    size: int
    encoding: str | None
    """Missing for what is no text."""
    next_offset: int | None = None
    """Where to read on; missing at the end of the file."""


def read_file(workspace: Workspace) -> Tool:
    @tool(
        "read_file",
        **file_reader(workspace, offset=("start_line", "startLine"), end_line=("endLine",)),
        aliases=("read", "file_read"),
        icon="file-text",
        output=FileText,
    )
    async def read_file(
        path: Annotated[str, Field(description="The file, relative to the root of the workspace")],
        offset: Annotated[int, Field(description="The first line to read, counted from 1", ge=1)] = 1,
        limit: Annotated[int, Field(description="How many lines to read at most", ge=1)] = DEFAULT_LINES,
        end_line: Annotated[
            int | None, Field(description="The last line to read, in place of a limit", ge=1)
        ] = None,
        encoding: Annotated[
            str, Field(description="How its text is written; a byte order mark counts more")
        ] = "utf-8",
    ) -> Result:
        if end_line is not None:
            if end_line < offset:
                raise ToolError(
                    f"end_line {end_line} comes before offset {offset}. Give a later line, or leave it out.",
                    code="OUT_OF_RANGE",
                )
            limit = min(limit, end_line - offset + 1) if limit != DEFAULT_LINES else end_line - offset + 1
        bounds = PageLimits(offset, limit, _CHARACTERS)
        with _open(workspace, path) as file:
            size = os.fstat(file.fileno()).st_size
            if size > _MAX_LOOP_SIZE:
                return await asyncio.to_thread(_read, file, path, size, bounds, encoding)
            return _read(file, path, size, bounds, encoding)

    return read_file


def _open(workspace: Workspace, path: str) -> BinaryIO:
    try:
        return workspace.open(path)
    except ToolError as error:
        if error.code == "FILE_NOT_FOUND":
            raise not_found(workspace, path) from None
        raise


def _read(file: BinaryIO, path: str, size: int, bounds: PageLimits, encoding: str) -> Result:
    head = file.read(
        _HEAD if size > _MAX_LOOP_SIZE else size or _MAX_LOOP_SIZE
    )  # what is written meanwhile comes later
    if head.startswith(b"%PDF-") or not is_text(head, encoding):
        return _attachment_result(file, head, path, size)
    if size <= _MAX_LOOP_SIZE:
        try:
            text = decode(head, encoding, path)
        except ToolError:
            pass  # what does not fit may be far from the lines that are wanted
        else:
            return _result(path, page_of_text(text.text, bounds), size, text.encoding, bounds)
    mark, named = byte_order_mark(head) or (b"", codec_name(encoding))
    file.seek(len(mark))
    try:
        page = page_of_file(file, named, bounds)
    except UnicodeDecodeError as error:
        raise wrong_encoding(named, "before the end of what was asked for", error) from None
    return _result(path, page, size, named, bounds)


def _attachment_result(file: BinaryIO, head: bytes, path: str, size: int) -> Result:
    """An image or document goes along as it is; anything else is refused with what it is."""
    kind = file_type(head)
    if kind.mime not in ATTACHABLE:
        raise ToolError(
            f"{path} is {kind.words} ({kind.mime}, {size} bytes), not text. "
            "If it is text after all, name its encoding, such as encoding='utf-16'.",
            code="BINARY_FILE",
        )
    if size > _MAX_ATTACHED:
        raise ToolError(
            f"{path} is {kind.words} of {size} bytes; more than {_MAX_ATTACHED} are not attached.",
            code="TOO_LARGE",
        )
    file.seek(0)
    attachment = Attachment(kind.mime, PurePosixPath(path).name, data=file.read(_MAX_ATTACHED + 1))
    return Result(
        data=FileText(path=path, content="", first_line=0, last_line=0, lines=None, size=size, encoding=None),
        summary=f"Attached {path}",
        output=f"[{path} is {kind.words} of {size} bytes. It is attached.]",
        attachments=(attachment,),
    )


def _result(path: str, page: TextPage, size: int, encoding: str, bounds: PageLimits) -> Result:
    lines, first = page.lines, page.first
    if not lines and first > 1:
        raise ToolError(
            f"{path} has {page.total} lines; there is no line {first}. Give a smaller offset.",
            code="OUT_OF_RANGE",
        )
    shown = "\n".join([f"{row:6}\t{line}" for row, line in enumerate(lines, first)])
    content = "\n".join(lines)
    if "\r" in content:
        shown = shown.replace("\r\n", "\n").removesuffix("\r")
    data = FileText.model_construct(
        path=path,
        content=content,
        first_line=first if lines else 0,
        last_line=page.last if lines else 0,
        lines=page.total,
        size=size,
        encoding=encoding,
        next_offset=page.last + 1 if page.more else None,
    )
    output = [shown] if lines else []
    if note := _note(path, page, bounds):
        output.append(note)
    count = f"{len(lines)} line{'s' * (len(lines) != 1)}"
    return Result(data=data, summary=f"Read {count} of {path}", output="\n".join(output))


def _note(path: str, page: TextPage, bounds: PageLimits) -> str:
    """What is not shown, and how to get it."""
    if not page.lines:
        return f"[{path} is empty]"
    is_complete = page.first == 1 and not page.more
    if is_complete:
        return ""
    total = "more" if page.total is None else str(page.total)
    note = f"[lines {page.first} to {page.last} of {total}."
    if page.more:
        note += f" Read on with offset={page.last + 1}."
        if len(page.lines) < bounds.count:
            note += " There is no room for more in one answer."
    return note + "]"
