"""write_file: a new file, or new contents for one that is there."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from handrail import Context, Result, Tool, ToolError, tool
from handrail.toolsets.workspace.file_content import (
    DecodedText,
    codec_name,
    decode,
    decode_leniently,
    encode,
    is_text,
)
from handrail.toolsets.workspace.files.diff import diff
from handrail.toolsets.workspace.files.save import (
    MAX_TEXT_SIZE,
    FileChange,
    FileSnapshot,
    read_for_change,
    save,
)
from handrail.toolsets.workspace.workspace import Workspace, file_writer

Newline = Literal["keep", "lf", "crlf"]


def write_file(workspace: Workspace) -> Tool:
    @tool(
        "write_file",
        **file_writer(workspace, content=("contents", "text")),
        aliases=("write",),
        preview=lambda args, ctx: _preview(workspace, args),
        icon="file-plus",
        form={"content": {"widget": "textarea", "rows": 12, "class": "form-code"}},
        output=FileChange,
    )
    def write_file(
        path: Annotated[str, Field(description="The file, relative to the root of the workspace")],
        content: Annotated[str, Field(description="All that the file shall hold")],
        encoding: Annotated[
            str | None, Field(description="How to write its text; by default as the file is, else utf-8")
        ] = None,
        newline: Annotated[
            Newline, Field(description="How lines end; by default as in the file, else as in the content")
        ] = "keep",
        *,
        ctx: Context,
    ) -> Result:
        with workspace.lock_path(path):
            name, before = read_for_change(workspace, path)
            old, text = _old_and_new_text(before, content, encoding, newline, path)
            after = encode(text, path)
            save(workspace, ctx, name, "write", before, after)
        return _result(name, before, old, text, after)

    return write_file


def _preview(workspace: Workspace, args: Any) -> str:
    name, before = read_for_change(workspace, args.path)
    old, text = _old_and_new_text(before, args.content, args.encoding, args.newline, args.path)
    after = encode(text, args.path)
    if before is None:
        return f"{name} is new."
    return _result(name, before, old, text, after).data.diff or f"{name} would stay as it is."


def _old_and_new_text(
    before: FileSnapshot | None, content: str, encoding: str | None, newline: Newline, path: str
) -> tuple[DecodedText | None, DecodedText]:
    """The text of the file, if there is one, and that which takes its place."""
    if len(content) > MAX_TEXT_SIZE:
        raise ToolError(
            f"The content has {len(content)} characters; more than {MAX_TEXT_SIZE} are not written.",
            code="TOO_LARGE",
        )
    old = None if before is None else _old_text(before, encoding, content, path)
    return old, _new_text(content, old, encoding, _line_ending(newline, content, before, old))


def _old_text(before: FileSnapshot, encoding: str | None, content: str, path: str) -> DecodedText | None:
    """The text of the file that is overwritten; None when it is none, or in an encoding that nobody named."""
    if not is_text(before.data, encoding or "utf-8"):
        return None
    try:
        return decode(before.data, encoding or "utf-8", path)
    except ToolError:
        if encoding is None and not content.isascii():
            raise ToolError(
                f"{path} is not utf-8, and its encoding cannot be kept without being named. Give the one "
                "it has, such as 'latin-1', or encoding='utf-8' to change it. Nothing was written.",
                code="WRONG_ENCODING",
            ) from None
        return None


def _line_ending(
    newline: Newline, content: str, before: FileSnapshot | None, old: DecodedText | None
) -> Newline:
    """How lines shall end: as most of the file do, where the content does not say."""
    if newline != "keep" or "\r" in content or before is None:
        return newline
    return "crlf" if (old or DecodedText(decode_leniently(before.data) or "")).newline == "\r\n" else "lf"


def _new_text(content: str, old: DecodedText | None, encoding: str | None, newline: Newline) -> DecodedText:
    """The new text, written down like the old one in all that was not asked for."""
    if newline != "keep":
        content = content.replace("\r\n", "\n")
    if newline == "crlf":
        content = content.replace("\n", "\r\n")
    if old is not None and (encoding is None or old.has_encoding(encoding)):
        return old.with_text(content.removeprefix("\ufeff") if old.mark else content)
    return DecodedText(content, codec_name(encoding or "utf-8"))


def _result(
    path: str, before: FileSnapshot | None, old: DecodedText | None, text: DecodedText, after: bytes
) -> Result:
    was = "" if before is None else old.text if old is not None else decode_leniently(before.data)
    change = diff(was or "", text.text, path)
    shown = change.text if was is not None else change.text.replace("--- /dev/null", f"--- a/{path}", 1)
    operation = "created" if before is None else "written" if before.data != after else "unchanged"
    counts = {"added": change.added, "removed": change.removed}
    data = FileChange(path=path, operation=operation, size=len(after), diff=shown, **counts)
    lines = text.text.count("\n") + (not text.text.endswith("\n") and bool(text.text))
    counted = f"{lines} line{'s' * (lines != 1)}"
    if before is None:
        summary, shown = f"Created {path} ({counted})", ""
    elif operation == "unchanged":
        summary = f"Nothing changed in {path}: it holds exactly this already"
    elif was is None:
        summary = f"Wrote {path} ({counted}) in place of {len(before.data)} bytes that were no text"
    elif was == text.text:
        summary = f"Wrote {path}: the same text, now in {text.encoding}"
    else:
        summary = f"Wrote {path} (+{change.added} -{change.removed})"
    return Result(data=data, summary=summary, output=f"{summary}.\n{shown}".rstrip("\n"))
