"""get_file_info: what there is to know of a file or folder without reading it."""

from __future__ import annotations

import asyncio
import os
import stat
from datetime import UTC, datetime
from typing import Annotated, BinaryIO, Literal

from pydantic import BaseModel, Field

from handrail import Result, Tool, tool
from handrail.toolsets.workspace.file_content import byte_order_mark, file_type, is_binary
from handrail.toolsets.workspace.files.not_found import not_found, visible_names
from handrail.toolsets.workspace.files.pages import CHUNK
from handrail.toolsets.workspace.search.gitignore import IgnoreLevel, load_level
from handrail.toolsets.workspace.target_file import path_from_root
from handrail.toolsets.workspace.workspace import Workspace, file_reader

_HEAD = 1 << 16
_MAX_COUNTED = 1 << 28


class FileInfo(BaseModel):
    """A file or folder."""

    path: str
    type: Literal["file", "folder", "other"]
    size: int
    mode: str
    """As `ls` writes it: `-rw-r--r--`."""
    modified: str
    """UTC, as ISO 8601."""
    target: str | None = None
    """Where the path leads, when it goes through a link."""
    ignored: bool = False
    """Whether listings and searches leave it out, because `.gitignore` says so."""
    mime: str | None = None
    encoding: str | None = None
    newline: Literal["lf", "crlf", "mixed"] | None = None
    lines: int | None = None
    """Of a text; missing when it is too large to count."""
    entries: int | None = None
    """Of a folder."""


def get_file_info(workspace: Workspace) -> Tool:
    @tool("get_file_info", **file_reader(workspace), icon="info", output=FileInfo)
    async def get_file_info(
        path: Annotated[str, Field(description="A file or folder, relative to the root of the workspace")],
    ) -> Result:
        info = await asyncio.to_thread(_info, workspace, path)
        lines = [f"{name}: {value}" for name, value in info.model_dump(exclude_none=True).items()]
        return Result(data=info, summary=f"{info.path} is a {info.type}", output="\n".join(lines))

    return get_file_info


def _info(workspace: Workspace, path: str) -> FileInfo:
    file_stat = workspace.stat(path)
    if file_stat is None:
        raise not_found(workspace, path)
    name = workspace.relative(path)
    spelled = path_from_root(workspace.resolver.parts(path))
    regular, folder = stat.S_ISREG(file_stat.st_mode), stat.S_ISDIR(file_stat.st_mode)
    info = FileInfo(
        path=spelled,
        type="file" if regular else "folder" if folder else "other",
        size=file_stat.st_size,
        mode=stat.filemode(file_stat.st_mode),
        modified=datetime.fromtimestamp(file_stat.st_mtime, UTC).isoformat(timespec="seconds"),
        target=None if name == spelled else name,
        ignored=_is_ignored(workspace, name, folder),
    )
    if folder:
        return info.model_copy(update={"entries": len(visible_names(workspace, name))})
    if workspace.may_read(file_stat):
        with workspace.open(name) as file:
            return info.model_copy(update=_contents(file))
    return info


def _is_ignored(workspace: Workspace, name: str, folder: bool) -> bool:
    """Whether a listing leaves it out, because of itself or of a folder that it lies in."""
    parts = workspace.resolver.parts(name)
    rules: IgnoreLevel | None = None
    for depth in range(len(parts)):
        held = workspace.open_folder(path_from_root(parts[:depth]))
        try:
            rules = load_level(held, "".join(f"{part}/" for part in parts[:depth]), rules)
        finally:
            os.close(held)
        inside = folder or depth < len(parts) - 1
        if rules is not None and rules.ignores("/".join(parts[: depth + 1]) + "/" * inside):
            return True
    return False


def _contents(file: BinaryIO) -> dict[str, str | int | None]:
    """What can be told from the bytes: of a text its encoding and lines, of anything else its kind."""
    head = file.read(_HEAD)
    if is_binary(head) or head.startswith(b"%PDF-"):
        return {"mime": file_type(head).mime}
    encoding = _encoding(head, len(head) == _HEAD)
    if encoding is None or encoding.startswith(("utf-16", "utf-32")):
        return {"mime": "text/plain", "encoding": encoding}
    ends = returns = size = 0
    last, chunk = b"", head
    while chunk:
        ends += chunk.count(b"\n")
        returns += (last[-1:] + chunk).count(b"\r\n")
        size += len(chunk)
        last = chunk
        if size > _MAX_COUNTED:
            return {"mime": "text/plain", "encoding": encoding}
        chunk = file.read(CHUNK)
    newline = None if not ends else "lf" if not returns else "crlf" if returns == ends else "mixed"
    open_end = bool(last) and not last.endswith(b"\n")
    return {"mime": "text/plain", "encoding": encoding, "newline": newline, "lines": ends + open_end}


def _encoding(head: bytes, cut: bool) -> str | None:
    """The encoding of a text, if it can be told."""
    if (marked := byte_order_mark(head)) is not None:
        return f"{marked[1]} with a byte order mark" if marked[1] == "utf-8" else marked[1]
    try:
        head.decode()
    except UnicodeDecodeError as error:
        if not cut or error.start < len(head) - 4:
            return None
    return "utf-8"
