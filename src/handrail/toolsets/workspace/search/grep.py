"""grep: lines that match a regular expression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, Field

from handrail import Context, Result, Tool, tool
from handrail.ext.tools import Signal
from handrail.toolsets.workspace.search import display
from handrail.toolsets.workspace.search.finder import Finder, SearchEngine, search_scope, search_tool
from handrail.toolsets.workspace.search.query import (
    MAX_PYTHON_SIZE,
    MatchCounts,
    SearchLine,
    SearchQuery,
    SearchScope,
    translate_regex,
)
from handrail.toolsets.workspace.workspace import Workspace


def match_page(files: Mapping[str, int], offset: int, limit: int) -> tuple[list[str], int]:
    """The files of the page after so many matching lines, and how many lines of the first come before it.

    Files are in the order of their paths.
    """
    paths: list[str] = []
    before = skipped = 0
    for path, lines in files.items():
        if before >= offset + limit:
            break
        if before + lines > offset:
            if not paths:
                skipped = offset - before
            paths.append(path)
        before += lines
    return paths, skipped


def page_lines(
    lines: Sequence[SearchLine], skipped: int, most: int, around: tuple[int, int]
) -> list[SearchLine]:
    """Some matching lines of a file, and the lines around them."""
    matching = [line.number for line in lines if line.at >= 0][skipped : skipped + most]
    before, after = around
    near = {at for number in matching for at in range(number - before, number + after + 1)}
    shown = [line for line in lines if line.number in near]
    chosen = set(matching)
    return [line if line.number in chosen else line._replace(at=-1) for line in shown]


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
        **search_tool(workspace),
        icon="text-search",
        form={"pattern": {"widget": "text", "class": "form-code"}},
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
        scope = search_scope(workspace, path, glob, type, include_ignored)
        query = SearchQuery(translate_regex(pattern, literal=literal), literal, ignore_case)
        search = _Search(finder, query, scope, ctx.signal, (before, after))
        return search.result(pattern, output, offset, limit)

    return grep


class _Search(NamedTuple):
    """One search, run in a thread."""

    finder: Finder
    query: SearchQuery
    scope: SearchScope
    signal: Signal
    around: tuple[int, int]

    def result(self, pattern: str, output: str, offset: int, limit: int) -> Result:
        match_counts, engine = self.finder.search(self.query, self.scope, self.signal)
        if not match_counts.files:
            return _nothing(match_counts, pattern, self.scope, self.query)
        if output == "content":
            data, shown = self._lines(match_counts, engine, offset, limit)
            total, count, thing = data.total_lines, len(data.lines), "matching line"
        else:
            data, shown = self._files(match_counts, engine, offset, limit, output == "counts")
            total, count, thing = data.total_files, len(data.files), "file"
        if offset + limit < total:
            data.next_offset = offset + limit
        files = display.plural(data.total_files, "file")
        totals = f"{display.plural(data.total_lines, 'matching line')} in {files}"
        notes = display.left_out_notes(match_counts, MAX_PYTHON_SIZE)
        if offset or count < total:
            page = f"{count:,} of {display.plural(total, thing)} shown"
            more = f"; continue with offset={data.next_offset}" if data.next_offset is not None else ""
            notes.insert(0, f"{page} ({totals}){more}.")
        text = "\n".join([*shown, *(f"[{note}]" for note in notes)])
        return Result(data=data, summary=f"Found {totals}", output=text)

    def _lines(
        self, match_counts: MatchCounts, engine: SearchEngine, offset: int, limit: int
    ) -> tuple[Matches, list[str]]:
        paths, skipped = match_page(match_counts.files, offset, limit)
        shown: list[str] = []
        data = _totals(match_counts)
        finds = self.finder.lines(engine, self.query, paths, self.signal, self.around, skipped + limit)
        for path, lines in finds:
            page_rows = page_lines(lines, skipped, limit - len(data.lines), self.around)
            after_gap = {late.number for early, late in pairwise(page_rows) if late.number > early.number + 1}
            skipped, named = 0, display.path_text(path)
            if shown and any(self.around) and page_rows:
                shown.append("--")
            for line in page_rows:
                if line.number in after_gap and any(self.around):
                    shown.append("--")
                text, mark = display.shorten(line.text, line.at), ":" if line.at >= 0 else "-"
                shown.append(f"{named}{mark}{line.number}{mark} {text}")
                if line.at >= 0:
                    data.lines.append(MatchingLine(path=named, line=line.number, text=text))
        return data, shown

    def _files(
        self, match_counts: MatchCounts, engine: SearchEngine, offset: int, limit: int, counts: bool
    ) -> tuple[Matches, list[str]]:
        paths = list(match_counts.files)[offset : offset + limit]
        data = _totals(match_counts)
        for path, _ in self.finder.lines(engine, self.query, paths, self.signal, (0, 0), 1):
            data.files.append(MatchingFile(path=display.path_text(path), lines=match_counts.files[path]))
        return data, [f"{file.path}: {file.lines}" if counts else file.path for file in data.files]


def _totals(match_counts: MatchCounts) -> Matches:
    return Matches(
        total_lines=sum(match_counts.files.values()),
        total_files=len(match_counts.files),
        binary_files=match_counts.binary,
        large_files=match_counts.large,
        linked_files=match_counts.linked,
    )


def _nothing(match_counts: MatchCounts, pattern: str, scope: SearchScope, query: SearchQuery) -> Result:
    """No line matches; what to try instead."""
    advice = ["No line matches.", *display.left_out_notes(match_counts, MAX_PYTHON_SIZE)]
    if "\\|" in pattern and not query.literal:
        advice.append("\\| stands for the character itself: write a|b for one of two.")
    if not query.ignore_case and pattern != pattern.lower():
        advice.append("Upper and lower case count: try ignore_case=true.")
    if not scope.include_ignored:
        advice.append(
            "Files that .gitignore names were not searched: include_ignored=true searches them too."
        )
    return Result(data=_totals(match_counts), summary="No line matches", output=" ".join(advice))
