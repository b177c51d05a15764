"""search_code: where a name is defined and used, the lines that define it first."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Annotated, NamedTuple

from pydantic import BaseModel, Field

from handrail import Context, Result, Tool, ToolError, tool
from handrail.ext.tools import Signal
from handrail.toolsets.workspace.search import definitions as program
from handrail.toolsets.workspace.search import display
from handrail.toolsets.workspace.search.definitions import Definition, Grammar
from handrail.toolsets.workspace.search.finder import Finder, search_scope, search_tool
from handrail.toolsets.workspace.search.glob_patterns import FILE_KINDS
from handrail.toolsets.workspace.search.process import OutputBuffer, run
from handrail.toolsets.workspace.search.query import (
    MatchCounts,
    SearchLine,
    SearchQuery,
    SearchScope,
    translate_regex,
)
from handrail.toolsets.workspace.syntax_parsers import GRAMMARS
from handrail.toolsets.workspace.workspace import Workspace

_WORD = re.compile(r"[A-Za-z_$\u0080-\U0010ffff][\w$]*")
_DATA = {end for kind in ("docs", "json", "yaml", "toml", "xml", "html", "css") for end in FILE_KINDS[kind]}
_TEST = re.compile(r"(^|/)(tests?|spec|__tests__)/|(^|/)test_[^/]*$|[._](test|spec)\.\w+$")


class RankedLine(NamedTuple):
    """A line, what it defines where it does, and how well it fits: less is better."""

    rank: tuple[int, int, int, int]
    path: str
    line: int
    kind: str | None
    text: str
    at: int


def _is_code(path: str) -> bool:
    """Whether a file is code, and no text or data."""
    return path.rpartition(".")[2].lower() not in _DATA


def definition_regex(words: Sequence[str]) -> str:
    """An expression that fits most lines which define one of these names, and others."""
    one_of = "|".join(map(re.escape, words))
    before = (
        r"(def|class|function|func|fn|fun|struct|interface|enum|trait|type|const|let|var|val|macro|#define)"
    )
    return rf"{before}\b.*({one_of})|\b({one_of})\w*\s*(\(.*\)\s*\{{|:?=|:)"


def rank_lines(
    path: str, lines: Iterable[SearchLine], defined: Sequence[Definition], words: Sequence[str]
) -> Iterable[RankedLine]:
    """What the matching lines of a file are worth."""
    by_line: dict[int, list[Definition]] = {}
    for definition in defined:
        by_line.setdefault(definition.line, []).append(definition)
    exact = {word: re.compile(rf"(?<!\w){re.escape(word)}(?!\w)") for word in words}
    aside = 2 if not _is_code(path) else 1 if _TEST.search(path) else 0
    for line in lines:
        if line.at < 0:
            continue
        ranks = [_definition_rank(definition, words) for definition in by_line.get(line.number, ())]
        tier, defines = min(ranks, default=(3, ""))
        kind = defines if tier < 3 else None
        missing = sum(1 for regex in exact.values() if not regex.search(line.text))
        yield RankedLine((tier, missing, aside, line.number), path, line.number, kind, line.text, line.at)


def _definition_rank(definition: Definition, words: Sequence[str]) -> tuple[int, str]:
    """0: it is the name; 1: but for the case; 2: it has the name in it; 3: it is another."""
    if definition.name in words:
        return 0, definition.kind
    lowered = definition.name.lower()
    if any(word.lower() == lowered for word in words):
        return 1, definition.kind
    return (2 if any(word.lower() in lowered for word in words) else 3), definition.kind


_PARSE_TIMEOUT = 10.0
_MAX_PARSED_BYTES = 2_000_000
_NO_CODE = (".html", ".htm", ".css")
_HEADERS = (".h", ".hh", ".hxx")


def grammar_for(end: str) -> Grammar | None:
    """The grammar of files whose names end so."""
    grammar = GRAMMARS.get(".hpp" if end in _HEADERS else end)
    return None if grammar is None or end in _NO_CODE else Grammar(*grammar)


def definitions_in(
    finder: Finder,
    paths: Sequence[str],
    words: Sequence[str],
    signal: Signal,
    seconds: float = _PARSE_TIMEOUT,
) -> dict[str, list[Definition]]:
    """What of these names each file defines. What is not found out in time is left out."""
    by_path: dict[str, list[Definition]] = {}
    for opened in finder.opening(paths):
        collected = OutputBuffer()
        ends = {fd: PurePosixPath(path).suffix.lower() for fd, path in opened.items()}
        files = [[fd, end, grammar_for(end)] for fd, end in ends.items()]
        task = json.dumps({"files": files, "words": list(words), "most": _MAX_PARSED_BYTES}).encode() + b"\n"
        command = [sys.executable, "-I", "-W", "ignore", program.__file__]
        try:
            root = finder.workspace.root
            run(command, root, signal, take=collected.take, stdin=task, keep_open=[*opened], seconds=seconds)
        except ToolError:
            signal.throw_if_aborted()
        for line in collected.output.split(b"\n")[:-1]:
            fd, defined = json.loads(line)
            by_path[opened[fd]] = [Definition(*row) for row in defined]
    return by_path


_MAX_FILES = 200
_MAX_LINES = 200
_MAX_NAMES = 8


class CodeLine(BaseModel):
    """A line, and what it defines where it does."""

    path: str
    line: int
    defines: str | None
    text: str


class CodeMatches(BaseModel):
    """Lines of code, definitions first, and how many there are altogether."""

    lines: list[CodeLine]
    total_lines: int
    total_files: int


def search_code(workspace: Workspace, finder: Finder | None = None) -> Tool:
    finder = finder or Finder.of(workspace)

    @tool("search_code", **search_tool(workspace), icon="code", output=CodeMatches)
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
        words = list(dict.fromkeys(_WORD.findall(query)))[:_MAX_NAMES]
        if not words:
            raise ToolError(
                "The query has no name in it. Give a name such as load_user, or use grep for other text.",
                code="INVALID_PATTERN",
            )
        scope = search_scope(workspace, path, glob, type, include_ignored)
        return _result(finder, scope, words, limit, ctx.signal)

    return search_code


def _result(finder: Finder, scope: SearchScope, words: list[str], limit: int, signal: Signal) -> Result:
    match_counts, ranked = _search(finder, scope, words, signal)
    total, files = sum(match_counts.files.values()), len(match_counts.files)
    shown = sorted(ranked, key=lambda hit: (hit.rank[:3], hit.path, hit.line))[:limit]
    lines = [
        CodeLine(path=display.path_text(hit.path), line=hit.line, defines=hit.kind, text=_text(hit))
        for hit in shown
    ]
    texts = [
        f"{line.path}:{line.line}: {f'({line.defines}) ' if line.defines else ''}{line.text}"
        for line in lines
    ]
    defined = sum(1 for line in lines if line.defines)
    summary = f"Found {display.plural(defined, 'definition')} among {display.plural(total, 'line')}"
    if total > len(lines):
        texts.append(
            f"[{len(lines):,} of {display.plural(total, 'line')} in {display.plural(files, 'file')} shown, "
            "definitions first. Use grep for all of them.]"
        )
    if not lines:
        summary = "Nothing speaks of it"
        texts.append(f"No line has {' or '.join(words)} in it. Try a part of the name.")
    data = CodeMatches(lines=lines, total_lines=total, total_files=files)
    return Result(data=data, summary=summary, output="\n".join(texts))


def _text(hit: RankedLine) -> str:
    indent = len(hit.text) - len(hit.text.lstrip())
    return display.shorten(hit.text.strip(), hit.at - indent)


def _search(
    finder: Finder, scope: SearchScope, words: list[str], signal: Signal
) -> tuple[MatchCounts, list[RankedLine]]:
    """All words as they are written, else in any case and as parts of others."""
    one_of = "|".join(words)
    for pattern, ignore_case in ((rf"\b({one_of})\b", False), (f"({one_of})", True)):
        query = SearchQuery(translate_regex(pattern.replace("$", r"\$")), ignore_case=ignore_case)
        match_counts, engine = finder.search(query, scope, signal)
        if match_counts.files:
            break
    paths = list(match_counts.files)
    if len(paths) > _MAX_FILES:
        likely, _ = finder.search(
            SearchQuery(translate_regex(definition_regex(words)), ignore_case=ignore_case), scope, signal
        )
        paths.sort(key=lambda path: path not in likely.files)
    near = paths[:_MAX_FILES]
    defined = definitions_in(finder, [path for path in near if _is_code(path)], words, signal)
    ranked: list[RankedLine] = []
    for path, lines in finder.lines(engine, query, near, signal, (0, 0), _MAX_LINES):
        ranked += rank_lines(path, lines, defined.get(path, ()), words)
    return match_counts, ranked
