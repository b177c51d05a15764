"""edit_file: search and replace in one file, as several edits that are all done or none."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from handrail import Context, Result, Tool, ToolError, tool
from handrail.toolsets.workspace.file_content import DecodedText, check_round_trip, decode, encode, is_text
from handrail.toolsets.workspace.files.diff import diff
from handrail.toolsets.workspace.files.edit_errors import quote_line
from handrail.toolsets.workspace.files.edits import AppliedEdit, Edit, EditedText, apply_edits, simple_edit
from handrail.toolsets.workspace.files.not_found import not_found
from handrail.toolsets.workspace.files.save import (
    MAX_TEXT_SIZE,
    FileChange,
    FileSnapshot,
    PlannedEdit,
    edit_in_loop,
    read_for_change,
    save,
)
from handrail.toolsets.workspace.workspace import Workspace, file_writer

_MAX_EDITS = 100
_MAX_KEPT_SHOWN = 3
"""Lines that stayed, of which the answer tells."""
_MAX_LOOP_CHARACTERS = 10_000
"""Characters of an edit whose diff takes no time worth a thread."""
_SEARCH = ("old_string", "oldString", "old_text", "old_str")
_REPLACE = ("new_string", "newString", "new_text", "new_str")
"""What other tools of this kind call the two."""


class OneEdit(BaseModel):
    """A search and its replacement."""

    model_config = ConfigDict(extra="forbid")
    search: Annotated[
        str,
        Field(
            description="The text to find, whole lines as the file has them",
            validation_alias=AliasChoices("search", *_SEARCH),
        ),
    ]
    replace: Annotated[
        str, Field(description="The text to put there", validation_alias=AliasChoices("replace", *_REPLACE))
    ]
    replace_all: Annotated[bool, Field(description="Replace every place that fits")] = False


class DoneEdit(BaseModel):
    """What became of one edit."""

    matched: str
    """How the text was found: `exact`, `whitespace` or `anchored`."""
    count: int
    lines: list[int]
    """Where the new text begins; of many places the first ones."""
    kept: list[str] = []
    """Lines that stay as the file has them, though the search has them otherwise."""


class FileEdit(FileChange):
    """What the edits did to a file."""

    edits: list[DoneEdit]


_LINES = {"widget": "textarea", "rows": 3, "class": "form-code"}
_FORM = {
    "search": _LINES,
    "replace": {
        **_LINES,
        "help": "The text to put in its place; to delete text, leave this empty and give both under Edits",
    },
    "edits.*.search": _LINES,
    "edits.*.replace": _LINES,
}


def edit_file(workspace: Workspace) -> Tool:
    @tool(
        "edit_file",
        **file_writer(workspace, search=_SEARCH, replace=_REPLACE, replace_all=("replaceAll",)),
        aliases=("edit",),
        preview=lambda args, ctx: _preview(workspace, args),
        icon="file-pen",
        form=_FORM,
        output=FileEdit,
    )
    async def edit_file(
        path: Annotated[str, Field(description="The file, relative to the root of the workspace")],
        search: Annotated[
            str | None,
            Field(description="The text to find; empty to fill an empty or new file", examples=["old text"]),
        ] = None,
        replace: Annotated[
            str | None, Field(description="The text to put in its place", examples=["new text"])
        ] = None,
        replace_all: Annotated[bool, Field(description="Replace every place that fits")] = False,
        edits: Annotated[
            list[OneEdit] | None,
            Field(
                description="Several edits in place of search and replace, done in order",
                max_length=_MAX_EDITS,
            ),
        ] = None,
        encoding: Annotated[str, Field(description="How its text is written")] = "utf-8",
        *,
        ctx: Context,
    ) -> Result:
        requested = _requested_edits(search, replace, replace_all, edits)
        is_short = sum([len(edit.search) + len(edit.replace) for edit in requested]) <= _MAX_LOOP_CHARACTERS

        def plan_in_loop(name: str, before: bytes) -> PlannedEdit | None:
            text = _text_of(before, encoding, path)
            edited = simple_edit(text.text, requested) if is_short else None
            if edited is None:
                return None
            after = encode(text.with_text(edited.text), path)
            return PlannedEdit(after, partial(_result, name, text.text, edited, len(after), False))

        def edit_in_thread() -> Result:
            with workspace.lock_path(path):
                name, before, text, edited = _apply_to_file(workspace, path, requested, encoding)
                after = encode(text.with_text(edited.text), path)
                save(workspace, ctx, name, "edit", before, after)
            return _result(name, text.text, edited, len(after), before is None)

        done = await edit_in_loop(workspace, ctx, path, "edit", plan_in_loop)
        return await ctx.in_thread(edit_in_thread) if done is None else done

    return edit_file


def _apply_to_file(
    workspace: Workspace, path: str, requested: Sequence[Edit], encoding: str
) -> tuple[str, FileSnapshot | None, DecodedText, EditedText]:
    """The file, its text, and that after the edits. Nothing is written."""
    name, before = read_for_change(workspace, path, MAX_TEXT_SIZE)
    if before is None and requested[0].search:
        raise not_found(workspace, path, "Check the path, or make the file with write_file.")
    text = DecodedText("") if before is None else _text_of(before.data, encoding, path)
    return name, before, text, apply_edits(text.text, requested, name)


def _preview(workspace: Workspace, args: Any) -> str:
    requested = _requested_edits(args.search, args.replace, args.replace_all, args.edits)
    name, _, text, edited = _apply_to_file(workspace, args.path, requested, args.encoding)
    return diff(text.text, edited.text, name, edited.same).text


def _text_of(data: bytes, encoding: str, path: str) -> DecodedText:
    """The text of a file. What can be read and has no NUL in it is text, and not looked at twice."""
    if b"\0" not in data or is_text(data, encoding):
        try:
            return check_round_trip(decode(data, encoding, path), data, path)
        except ToolError:
            if is_text(data, encoding):
                raise
    raise ToolError(
        f"{path} is binary, not text. Nothing was changed. "
        "If it is text after all, name its encoding, such as encoding='utf-16-le'.",
        code="BINARY_FILE",
    )


def _requested_edits(
    search: str | None, replace: str | None, replace_all: bool, edits: Sequence[OneEdit] | None
) -> list[Edit]:
    """The edits of a call, however they are given."""
    if edits and search is None and replace is None:
        return [Edit(edit.search, edit.replace, edit.replace_all or replace_all) for edit in edits]
    if not edits and search is not None and replace is not None:
        return [Edit(search, replace, replace_all)]
    if search is not None and not edits:
        raise ToolError(
            "There is no replace. Give the text to put in place of search; an empty one deletes it. "
            "Nothing was changed.",
            code="INVALID_EDITS",
        )
    raise ToolError(
        "Give either search and replace, or edits as a list of such pairs: "
        '[{"search": "old", "replace": "new"}]. Nothing was changed.',
        code="INVALID_EDITS",
    )


def _result(path: str, before: str, edited: EditedText, size: int, new: bool) -> Result:
    change = diff(before, edited.text, path, edited.same)
    is_same = before == edited.text
    operation = "created" if new else "unchanged" if is_same else "edited"
    done = [
        DoneEdit(
            matched=applied.way,
            count=applied.count,
            lines=list(applied.lines),
            kept=[theirs for _, theirs in applied.kept],
        )
        for applied in edited.applied
    ]
    counts = {"added": change.added, "removed": change.removed}
    data = FileEdit(path=path, operation=operation, size=size, diff=change.text, edits=done, **counts)
    summary = f"Nothing changed in {path}" if is_same else f"{operation.capitalize()} {path}"
    lines = [_line(nth, applied, len(done) > 1) for nth, applied in enumerate(edited.applied, 1)]
    return Result(
        data=data,
        summary=f"{summary} (+{change.added} -{change.removed})",
        output="\n".join([f"{summary}.", *lines, change.text]).rstrip("\n"),
    )


_MATCH_NOTES = {
    "exact": "",
    "whitespace": ", found but for whitespace; the new lines are indented as the file is",
    "anchored": ", found by its first and last lines",
}


def _line(number: int, applied: AppliedEdit, several: bool) -> str:
    where = ", ".join(map(str, applied.lines)) + (", …" if applied.count > len(applied.lines) else "")
    lead = f"Edit {number}: " if several else "The edit: "
    places = f"at line {where}" if applied.count == 1 else f"{applied.count} places, at lines {where}"
    return f"{lead}{places}{_MATCH_NOTES[applied.way]}.{_kept_note(applied.kept)}"


def _kept_note(kept: Sequence[tuple[str, str]]) -> str:
    """What whoever made the call has wrong about the file, though nothing was done to it."""
    if not kept:
        return ""
    lines = [
        f"{quote_line(theirs.strip())} (search has {quote_line(ours.strip())})"
        for ours, theirs in kept[:_MAX_KEPT_SHOWN]
    ]
    more = f" and {len(kept) - _MAX_KEPT_SHOWN} more" if len(kept) > _MAX_KEPT_SHOWN else ""
    return f" Not as search has it, and left as it is: {', '.join(lines)}{more}."
