"""search_files: files by parts of their names, the best fit first."""

from __future__ import annotations

import re
from collections.abc import Iterable
from heapq import nsmallest
from typing import Annotated

from pydantic import BaseModel, Field

from handrail import Context, Result, Tool, ToolError, tool
from handrail.ext.tools import Signal
from handrail.toolsets.workspace.search import display
from handrail.toolsets.workspace.search.finder import Finder, search_scope, search_tool
from handrail.toolsets.workspace.search.query import SearchScope
from handrail.toolsets.workspace.workspace import Workspace

_PARTS = re.compile(r"[\s/]+")
_WHOLE, _STEM, _BEGIN, _INSIDE, _PATH, _LOOSE = 1000, 900, 700, 500, 300, 100


def best_paths(query: str, paths: Iterable[str], limit: int) -> tuple[list[str], int]:
    """The paths that fit best, the best first, and how many fit at all."""
    words = [word for word in _PARTS.split(query.lower()) if word]
    loose = [_subsequence_regex(word) for word in words]
    scored = []
    for path in paths:
        lowered = path.lower()
        if all(regex.search(lowered) for regex in loose):
            scored.append((_score(words, loose, lowered), path))
    top = nsmallest(limit, scored, key=lambda candidate: (-candidate[0], len(candidate[1]), candidate[1]))
    return [path for _, path in top], len(scored)


def _subsequence_regex(word: str) -> re.Pattern[str]:
    """The letters in their order, with others between. Each is taken where it comes first."""
    return re.compile(
        "".join(f"[^{re.escape(char)}]*?{re.escape(char)}" for char in word).removeprefix(
            f"[^{re.escape(word[0])}]*?"
        ),
        re.DOTALL,
    )


def _score(words: list[str], loose: list[re.Pattern[str]], path: str) -> float:
    name = path.rpartition("/")[2]
    stem = name.partition(".")[0] or name
    return sum(_fit(word, regex, path, name, stem) for word, regex in zip(words, loose, strict=True))


def _fit(word: str, loose: re.Pattern[str], path: str, name: str, stem: str) -> float:
    if word == name:
        return _WHOLE
    if word == stem:
        return _STEM
    if name.startswith(word):
        return _BEGIN + len(word) / len(name)
    if word in name:
        return _INSIDE + len(word) / len(name)
    if word in path:
        return _PATH + len(word) / len(path)
    if match := loose.search(name):
        return _LOOSE + 50 * len(word) / len(match[0])
    match = loose.search(path)
    return 50 * len(word) / len(match[0]) if match else 0.0


class NamedFiles(BaseModel):
    """Paths that fit, the best first, and how many fit at all."""

    paths: list[str]
    total: int


def search_files(workspace: Workspace, finder: Finder | None = None) -> Tool:
    finder = finder or Finder.of(workspace)

    @tool("search_files", **search_tool(workspace), icon="file-search", output=NamedFiles)
    def search_files(
        query: Annotated[
            str,
            Field(
                description="Parts of the name or path, such as `user contr`", min_length=1, max_length=200
            ),
        ],
        path: Annotated[str, Field(description="The folder to look below")] = ".",
        limit: Annotated[int, Field(description="How many files to show at most", ge=1, le=200)] = 20,
        include_ignored: Annotated[
            bool, Field(description="Whether to show files that .gitignore names too")
        ] = False,
        *,
        ctx: Context,
    ) -> Result:
        scope = search_scope(workspace, path, include_ignored=include_ignored)
        if scope.is_file:
            raise ToolError(f"{path} is a file, not a folder.", code="NOT_A_FOLDER")
        if not query.strip(" /\t"):
            raise ToolError("The query is empty. Give parts of a name or path.", code="INVALID_PATTERN")
        return _result(finder, scope, query, limit, ctx.signal)

    return search_files


def _result(finder: Finder, scope: SearchScope, query: str, limit: int, signal: Signal) -> Result:
    best, total = best_paths(query, finder.files(scope, signal), limit)
    existing = {path for path, _ in finder.stats(sorted(best), signal)}
    paths = [display.path_text(path) for path in best if path in existing]
    lines = list(paths)
    if total > len(paths):
        lines.append(f"[{len(paths):,} of {display.plural(total, 'file')} shown, the best first.]")
    if not paths:
        lines.append("No path has these letters in this order. Try fewer or shorter parts.")
    summary = f"Found {display.plural(total, 'file')}"
    return Result(data=NamedFiles(paths=paths, total=total), summary=summary, output="\n".join(lines))
