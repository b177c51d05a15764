"""search_code: where a name is defined and used."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from handrail import Context, Result, Tool, tool
from handrail.ext import Signal, ToolError
from handrail.toolsets.workspace.desk import Workspace
from handrail.toolsets.workspace.search import showing
from handrail.toolsets.workspace.search.code import Hit, defining, hits, is_code, order, words_of
from handrail.toolsets.workspace.search.defining import definitions_in
from handrail.toolsets.workspace.search.expressions import expression
from handrail.toolsets.workspace.search.finding import Finder, looked_at, place
from handrail.toolsets.workspace.search.query import Query, Tally, Where

_MOST_FILES = 200
_MOST_LINES = 200
_MOST_WORDS = 8


class CodeLine(BaseModel):
    """A line, and what it defines where it does."""

    path: str
    line: int
    defines: str | None
    text: str


class CodeFound(BaseModel):
    """Lines of code, definitions first, and how many there are altogether."""

    lines: list[CodeLine]
    total_lines: int
    total_files: int


def search_code(workspace: Workspace, finder: Finder | None = None) -> Tool:
    finder = finder or Finder.of(workspace)

    @tool(
        "search_code",
        level="read",
        capabilities=["read"],
        concurrency="parallel",
        reads=lambda args: looked_at(workspace, args.path),
        category="workspace",
        icon="code",
        origin="system",
        output=CodeFound,
    )
    def search_code(
        query: Annotated[
            str, Field(description="A name, or several words of one", min_length=1, max_length=400)
        ],
        path: Annotated[str, Field(description="A folder to search below, or one file")] = ".",
        glob: Annotated[
            str | None, Field(description="Only files whose path fits, such as src/**/*.py")
        ] = None,
        type: Annotated[
            str | None, Field(description="Only files of a kind: py, js, ts, go, rust, java, c, cpp, ruby …")
        ] = None,
        limit: Annotated[int, Field(description="How many lines to show at most", ge=1, le=500)] = 30,
        include_ignored: Annotated[
            bool, Field(description="Whether to look at files that .gitignore names too")
        ] = False,
        *,
        ctx: Context,
    ) -> Result:
        words = words_of(query)[:_MOST_WORDS]
        if not words:
            raise ToolError(
                "The query has no name in it. Give a name such as load_user, or use grep for other text.",
                code="INVALID_PATTERN",
            )
        where = place(workspace, path, glob, type, include_ignored)
        return _result(finder, where, words, limit, ctx.signal)

    return search_code


def _result(finder: Finder, where: Where, words: list[str], limit: int, signal: Signal) -> Result:
    tally, found = _search(finder, where, words, signal)
    total, files = sum(tally.files.values()), len(tally.files)
    shown = order(found)[:limit]
    lines = [
        CodeLine(
            path=showing.name(hit.path),
            line=hit.line,
            defines=hit.kind,
            text=_text(hit),
        )
        for hit in shown
    ]
    texts = [
        f"{one.path}:{one.line}: {f'({one.defines}) ' if one.defines else ''}{one.text}" for one in lines
    ]
    defined = sum(1 for one in lines if one.defines)
    summary = f"Found {showing.several(defined, 'definition')} among {showing.several(total, 'line')}"
    if total > len(lines):
        texts.append(
            f"[{len(lines):,} of {showing.several(total, 'line')} in {showing.several(files, 'file')} shown, "
            "definitions first. Use grep for all of them.]"
        )
    if not lines:
        summary = "Nothing speaks of it"
        texts.append(f"No line has {' or '.join(words)} in it. Try a part of the name.")
    data = CodeFound(lines=lines, total_lines=total, total_files=files)
    return Result(data=data, summary=summary, output="\n".join(texts))


def _text(hit: Hit) -> str:
    indent = len(hit.text) - len(hit.text.lstrip())
    return showing.cut(hit.text.strip(), hit.at - indent)


def _search(finder: Finder, where: Where, words: list[str], signal: Signal) -> tuple[Tally, list[Hit]]:
    """All words as they are written, else in any case and as parts of others."""
    one_of = "|".join(words)
    for pattern, ignore_case in ((rf"\b({one_of})\b", False), (f"({one_of})", True)):
        query = Query(expression(pattern.replace("$", r"\$")), ignore_case=ignore_case)
        tally, engine = finder.search(query, where, signal)
        if tally.files:
            break
    paths = list(tally.files)
    if len(paths) > _MOST_FILES:
        likely, _ = finder.search(Query(expression(defining(words)), ignore_case=ignore_case), where, signal)
        paths.sort(key=lambda path: path not in likely.files)
    near = paths[:_MOST_FILES]
    defined = definitions_in(finder, [path for path in near if is_code(path)], words, signal)
    found: list[Hit] = []
    for path, lines in finder.lines(engine, query, near, signal, (0, 0), _MOST_LINES):
        found += hits(path, lines, defined.get(path, ()), words)
    return tally, found
