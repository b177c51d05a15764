"""grep: lines that match a regular expression."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from handrail import Context, Result, Tool, tool
from handrail.ext import Signal
from handrail.toolsets.workspace.desk import Workspace
from handrail.toolsets.workspace.search import showing
from handrail.toolsets.workspace.search.expressions import expression
from handrail.toolsets.workspace.search.finding import Engine, Finder, looked_at, place
from handrail.toolsets.workspace.search.paging import gaps, page_of, taken
from handrail.toolsets.workspace.search.query import LARGEST, Query, Tally, Where


class MatchingLine(BaseModel):
    """A line that matches."""

    path: str
    line: int
    text: str


class MatchingFile(BaseModel):
    """A file with matching lines, and how many."""

    path: str
    lines: int


class Matches(BaseModel):
    """A page of what matches, and how much there is altogether."""

    lines: list[MatchingLine] = []
    files: list[MatchingFile] = []
    total_lines: int
    total_files: int
    next_offset: int | None = None
    """Where the next page begins."""
    binary_files: int = 0
    large_files: int = 0
    linked_files: int = 0


def grep(workspace: Workspace, finder: Finder | None = None) -> Tool:
    finder = finder or Finder.of(workspace)

    @tool(
        "grep",
        level="read",
        capabilities=["read"],
        concurrency="parallel",
        reads=lambda args: looked_at(workspace, args.path),
        category="workspace",
        icon="text-search",
        form={"pattern": {"widget": "text", "class": "form-code"}},
        origin="system",
        output=Matches,
    )
    def grep(
        pattern: Annotated[
            str, Field(description="A regular expression, tried on each line", min_length=1, max_length=4000)
        ],
        path: Annotated[str, Field(description="A folder to search below, or one file")] = ".",
        glob: Annotated[
            str | None, Field(description="Only files whose path fits, such as *.py or src/**/*.{ts,tsx}")
        ] = None,
        type: Annotated[
            str | None, Field(description="Only files of a kind: py, js, ts, go, rust, java, c, docs, yaml …")
        ] = None,
        before: Annotated[int, Field(description="Lines to show before each match", ge=0, le=50)] = 0,
        after: Annotated[int, Field(description="Lines to show after each match", ge=0, le=50)] = 0,
        ignore_case: Annotated[bool, Field(description="Whether a and A are the same")] = False,
        literal: Annotated[
            bool, Field(description="Whether the pattern is a text as it is, without special characters")
        ] = False,
        output: Annotated[
            Literal["content", "files", "counts"],
            Field(description="The lines, only the paths of their files, or how many lines each file has"),
        ] = "content",
        limit: Annotated[int, Field(description="How many lines or files to show", ge=1, le=1000)] = 100,
        offset: Annotated[
            int, Field(description="How many to leave out first, for the next page", ge=0, le=10_000_000)
        ] = 0,
        include_ignored: Annotated[
            bool, Field(description="Whether to look at files that .gitignore names too")
        ] = False,
        *,
        ctx: Context,
    ) -> Result:
        where = place(workspace, path, glob, type, include_ignored)
        query = Query(expression(pattern, literal=literal), literal, ignore_case)
        search = _Search(finder, query, where, ctx.signal, (before, after))
        return search.result(pattern, output, offset, limit)

    return grep


class _Search:
    """One search, run in a thread."""

    def __init__(
        self, finder: Finder, query: Query, where: Where, signal: Signal, around: tuple[int, int]
    ) -> None:
        self._finder = finder
        self._query = query
        self._where = where
        self._signal = signal
        self._around = around

    def result(self, pattern: str, output: str, offset: int, limit: int) -> Result:
        tally, engine = self._finder.search(self._query, self._where, self._signal)
        if not tally.files:
            return _nothing(tally, pattern, self._where, self._query)
        if output == "content":
            data, shown = self._lines(tally, engine, offset, limit)
            total, count, thing = data.total_lines, len(data.lines), "matching line"
        else:
            data, shown = self._files(tally, engine, offset, limit, output == "counts")
            total, count, thing = data.total_files, len(data.files), "file"
        if offset + limit < total:
            data.next_offset = offset + limit
        files = showing.several(data.total_files, "file")
        found = f"{showing.several(data.total_lines, 'matching line')} in {files}"
        notes = showing.left_out(tally, LARGEST)
        if offset or count < total:
            page = f"{count:,} of {showing.several(total, thing)} shown"
            more = f"; continue with offset={data.next_offset}" if data.next_offset is not None else ""
            notes.insert(0, f"{page} ({found}){more}.")
        text = "\n".join([*shown, *(f"[{note}]" for note in notes)])
        return Result(data=data, summary=f"Found {found}", output=text)

    def _lines(self, tally: Tally, engine: Engine, offset: int, limit: int) -> tuple[Matches, list[str]]:
        page = page_of(tally.files, offset, limit)
        shown: list[str] = []
        data, skipped = _totals(tally), page.skipped
        finds = self._finder.lines(
            engine, self._query, page.paths, self._signal, self._around, page.skipped + limit
        )
        for path, lines in finds:
            kept = taken(lines, skipped, limit - len(data.lines), self._around)
            skipped, apart, named = 0, gaps(kept), showing.name(path)
            if shown and any(self._around) and kept:
                shown.append("--")
            for line in kept:
                if line.number in apart and any(self._around):
                    shown.append("--")
                text, mark = showing.cut(line.text, line.at), ":" if line.at >= 0 else "-"
                shown.append(f"{named}{mark}{line.number}{mark} {text}")
                if line.at >= 0:
                    data.lines.append(MatchingLine(path=named, line=line.number, text=text))
        return data, shown

    def _files(
        self, tally: Tally, engine: Engine, offset: int, limit: int, counts: bool
    ) -> tuple[Matches, list[str]]:
        paths = list(tally.files)[offset : offset + limit]
        data = _totals(tally)
        for path, _ in self._finder.lines(engine, self._query, paths, self._signal, (0, 0), 1):
            data.files.append(MatchingFile(path=showing.name(path), lines=tally.files[path]))
        return data, [f"{one.path}: {one.lines}" if counts else one.path for one in data.files]


def _totals(tally: Tally) -> Matches:
    return Matches(
        total_lines=sum(tally.files.values()),
        total_files=len(tally.files),
        binary_files=tally.binary,
        large_files=tally.large,
        linked_files=tally.linked,
    )


def _nothing(tally: Tally, pattern: str, where: Where, query: Query) -> Result:
    """No line matches; what to try instead."""
    said = ["No line matches.", *showing.left_out(tally, LARGEST)]
    if "\\|" in pattern and not query.literal:
        said.append("\\| stands for the character itself: write a|b for one of two.")
    if not query.ignore_case and pattern != pattern.lower():
        said.append("Upper and lower case count: try ignore_case=true.")
    if not where.include_ignored:
        said.append("Files that .gitignore names were not searched: include_ignored=true searches them too.")
    return Result(data=_totals(tally), summary="No line matches", output=" ".join(said))
