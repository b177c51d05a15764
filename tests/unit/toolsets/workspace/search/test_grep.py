"""grep: what a model reads of the lines that match."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from handrail import Handrail, ToolError
from handrail.ext.tools import Signal
from handrail.toolsets.workspace import PathRules, Workspace
from handrail.toolsets.workspace.search import search_tools
from handrail.toolsets.workspace.search.finder import Finder
from handrail.toolsets.workspace.search.query import (
    MAX_PYTHON_SIZE,
    SearchLine,
    SearchQuery,
    SearchScope,
    UnsupportedPattern,
    translate_regex,
)
from handrail.toolsets.workspace.search.ripgrep import Ripgrep
from handrail.toolsets.workspace.search.walk import walk
from tests.unit.toolsets.workspace.search.file_trees import make_files, write_rules
from tests.unit.toolsets.workspace.search.search_caller import (
    ENGINES,
    Caller,
    open_search,
    pattern_for,
    ripgrep_program,
)

each_engine = pytest.mark.parametrize("engine", ENGINES)


def project(root: Path) -> None:
    make_files(root, ["src/a.py"], "import os\n\ndef load(path):\n    return os.open(path)\n")
    make_files(
        root, ["src/deep/b.ts"], "export function load(path: string) {\r\n  return open(path)\r\n}\r\n"
    )
    make_files(root, ["README.md"], "Load it.\n")
    make_files(root, ["build/out.py"], "def load(): pass\n")
    write_rules(root, {".": "build/\n"})


@pytest.mark.req("BF-06")
@each_engine
async def test_lines_come_with_path_and_number_in_the_order_of_paths(engine: str, tmp_path: Path) -> None:
    project(tmp_path)
    async with open_search(tmp_path, engine) as caller:
        out = await caller.call("grep", pattern=r"load\(")
        assert out.to_model() == snapshot("""\
src/a.py:3: def load(path):
src/deep/b.ts:1: export function load(path: string) {\
""")
        assert out.result.summary == "Found 2 matching lines in 2 files"
        ignored_too = await caller.output("grep", pattern="load", include_ignored=True, output="files")
        assert ignored_too == snapshot("""\
build/out.py
src/a.py
src/deep/b.ts\
""")


@pytest.mark.req("BF-06")
@each_engine
async def test_lines_around_a_match_are_marked_as_such(engine: str, tmp_path: Path) -> None:
    make_files(tmp_path, ["a.txt"], "".join(f"line {number}\n" for number in range(1, 13)))
    make_files(tmp_path, ["b.txt"], "x\nline 3\n")
    async with open_search(tmp_path, engine) as caller:
        assert await caller.output("grep", pattern="line (3|9)$", before=1, after=1) == snapshot("""\
a.txt-2- line 2
a.txt:3: line 3
a.txt-4- line 4
--
a.txt-8- line 8
a.txt:9: line 9
a.txt-10- line 10
--
b.txt-1- x
b.txt:2: line 3\
""")


@pytest.mark.req("BF-06")
@each_engine
async def test_pages_follow_each_other_and_say_how_much_there_is(engine: str, tmp_path: Path) -> None:
    for name in "abc":
        make_files(tmp_path, [f"{name}.txt"], "".join(f"hit {name}{number}\n" for number in range(4)))
    async with open_search(tmp_path, engine) as caller:
        assert await caller.output("grep", pattern="hit", limit=5) == snapshot("""\
a.txt:1: hit a0
a.txt:2: hit a1
a.txt:3: hit a2
a.txt:4: hit a3
b.txt:1: hit b0
[5 of 12 matching lines shown (12 matching lines in 3 files); continue with offset=5.]\
""")
        texts: list[str] = []
        offset: int | None = 0
        while offset is not None:
            page = await caller.done("grep", pattern="hit", limit=5, offset=offset)
            texts += [one["text"] for one in page["lines"]]
            offset = page["next_offset"]
        assert texts == [f"hit {name}{number}" for name in "abc" for number in range(4)]
        assert await caller.output("grep", pattern="hit", output="counts", limit=2) == snapshot("""\
a.txt: 4
b.txt: 4
[2 of 3 files shown (12 matching lines in 3 files); continue with offset=2.]\
""")


@pytest.mark.req("BF-06")
@each_engine
async def test_files_are_chosen_by_folder_pattern_and_kind(engine: str, tmp_path: Path) -> None:
    project(tmp_path)
    async with open_search(tmp_path, engine) as caller:

        async def found(**args: object) -> list[str]:
            data = await caller.done("grep", pattern="load", ignore_case=True, output="files", **args)
            return [one["path"] for one in data["files"]]

        assert await found() == ["README.md", "src/a.py", "src/deep/b.ts"]
        assert await found(path="src") == ["src/a.py", "src/deep/b.ts"]
        assert await found(path="src/a.py") == ["src/a.py"]
        assert await found(path="src", glob="*.ts") == ["src/deep/b.ts"]
        assert await found(glob="src/*") == ["src/a.py"]
        assert await found(type="docs") == ["README.md"]
        assert (await caller.refused("grep", pattern="x", type="cobol"))[0] == "INVALID_PATTERN"
        assert (await caller.refused("grep", pattern="x", type="py", glob="*"))[0] == "INVALID_PATTERN"
        assert (await caller.refused("grep", pattern="x", path="nowhere"))[0] == "FILE_NOT_FOUND"
        assert (await caller.refused("grep", pattern="x", path="../.."))[0] == "OUTSIDE_WORKSPACE"


@pytest.mark.req("BF-06")
@each_engine
async def test_rules_above_the_folder_count_too(engine: str, tmp_path: Path) -> None:
    make_files(tmp_path, ["a/b/c.txt", "a/b/d.log", "a/b/e/f.txt", "a/b/g.txt"], "hit\n")
    write_rules(tmp_path, {".": "*.log\n", "a": "/b/e/\ng.txt\n"})
    async with open_search(tmp_path, engine) as caller:
        data = await caller.done("grep", pattern="hit", path="a/b")
        assert [one["path"] for one in data["lines"]] == ["a/b/c.txt"]


@pytest.mark.req("BF-05", "BF-06")
@each_engine
async def test_rules_above_the_workspace_are_none_of_its_own(engine: str, tmp_path: Path) -> None:
    make_files(tmp_path, ["root/a.txt", "root/sub/b.txt"], "hit\n")
    write_rules(tmp_path, {".": "*.txt\n"})
    write_rules(tmp_path, {".": "*.txt\n"}, ".ignore")
    async with open_search(tmp_path / "root", engine) as caller:
        for path, total in ((".", 2), ("sub", 1)):
            assert (await caller.done("grep", pattern="hit", path=path))["total_files"] == total
            assert (await caller.done("glob", pattern="*.txt", path=path))["total"] == total


@pytest.mark.req("BF-06")
@each_engine
async def test_text_is_found_as_it_is_written_and_braces_are_braces(engine: str, tmp_path: Path) -> None:
    make_files(tmp_path, ["a.js"], 'if (a[0].b) {\n  say("{}")\n}\n-e\n')
    async with open_search(tmp_path, engine) as caller:
        assert await caller.output("grep", pattern="a[0].b) {", literal=True) == "a.js:1: if (a[0].b) {"
        assert await caller.output("grep", pattern=r"\) {$") == "a.js:1: if (a[0].b) {"
        assert await caller.output("grep", pattern=r"\"{}\"") == 'a.js:2:   say("{}")'
        assert await caller.output("grep", pattern="-e") == "a.js:4: -e"


@pytest.mark.req("BF-06")
@each_engine
async def test_what_only_python_knows_is_searched_for_by_python(engine: str, tmp_path: Path) -> None:
    make_files(tmp_path, ["a.txt"], "foobar\nfoobaz\nabab\n")
    async with open_search(tmp_path, engine) as caller:
        assert await caller.output("grep", pattern="foo(?!bar)") == "a.txt:2: foobaz"
        assert await caller.output("grep", pattern=r"^(ab)\1$") == "a.txt:3: abab"


@pytest.mark.req("BF-06")
@each_engine
@pytest.mark.parametrize("pattern", ["(", "[a", "*a", "a\\", "a\nb", "a\\nb", "(?P<1>a)", "[b-a]"])
async def test_a_pattern_that_is_none_is_explained(engine: str, pattern: str, tmp_path: Path) -> None:
    make_files(tmp_path, ["a.txt"], "a\n")
    async with open_search(tmp_path, engine) as caller:
        code, words = await caller.refused("grep", pattern=pattern)
        assert code == "INVALID_PATTERN"
        assert "literal=true" in words and "ripgrep" not in words


@pytest.mark.req("BF-06")
@each_engine
@pytest.mark.parametrize(
    ("pattern", "number"),
    [(r"(?x) a\ b # so", 1), (r"(?x)^a[ x]b", 1), (r"\N{BULLET}{2}", 3), (r"^\u{e9}$", 4), (r"^\B$", 5)],
)
async def test_blanks_names_and_codes_mean_what_is_written(
    engine: str, pattern: str, number: int, tmp_path: Path
) -> None:
    make_files(tmp_path, ["a.txt"], "a b\nab\n••\né\n\n")
    async with open_search(tmp_path, engine) as caller:
        found = await caller.done("grep", pattern=pattern)
        assert [one["line"] for one in found["lines"]] == [number]


@pytest.mark.req("BF-06")
@each_engine
async def test_bytes_that_are_no_text_fit_nothing(engine: str, tmp_path: Path) -> None:
    make_files(tmp_path, ["old.txt"], b'x = "caf\xe9"\n')
    async with open_search(tmp_path, engine) as caller:
        for pattern in ('"[^"]*"', r"f\S", r"f\W", r"f\D", r"f[\s\S]", "f[^a]", "f.", r'\B"$'):
            assert (await caller.done("grep", pattern=pattern))["total_lines"] == 0
        assert (await caller.done("grep", pattern='"[^"]*'))["total_lines"] == 1


async def test_what_only_ripgrep_knows_is_searched_for_by_ripgrep(tmp_path: Path) -> None:
    make_files(tmp_path, ["a.txt"], "ähm\n")
    async with open_search(tmp_path) as caller:
        assert await caller.output("grep", pattern=r"\p{Lowercase}{3}") == "a.txt:1: ähm"
        code, words = await caller.refused("grep", pattern=r"\p{Lowercase}(?=h)")
        assert code == "INVALID_PATTERN" and "only ripgrep knows" in words


@pytest.mark.req("BF-05", "BF-06", "BF-07")
@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("grep", {"pattern": "a"}),
        ("grep", {"pattern": "a(?=b)"}),
        ("glob", {"pattern": "*"}),
        ("search_files", {"query": "a"}),
        ("search_code", {"query": "a"}),
    ],
)
async def test_where_ripgrep_is_missing_the_answer_says_what_to_install(
    name: str, args: dict[str, str], tmp_path: Path
) -> None:
    make_files(tmp_path, ["a.txt"], "ab\n")
    workspace = Workspace(tmp_path)
    try:
        async with Handrail(search_tools(workspace, Finder(workspace, None))) as hr:
            code, words = await Caller(hr).refused(name, **args)
            assert code == "NOT_INSTALLED" and "pip install 'handrail[workspace]'" in words
            assert await Caller(hr).output("list_files") == "a.txt (3 B)"
    finally:
        workspace.close()


@pytest.mark.req("BF-06")
@each_engine
async def test_no_match_says_what_else_to_try(engine: str, tmp_path: Path) -> None:
    make_files(tmp_path, ["a.txt"], "a\n")
    async with open_search(tmp_path, engine) as caller:
        out = await caller.call("grep", pattern=r"Foo\|Bar")
        assert out.result.summary == "No line matches"
        assert "a|b" in out.to_model() and "ignore_case=true" in out.to_model()
        assert "include_ignored=true" in out.to_model()


@pytest.mark.req("BF-06")
@each_engine
async def test_binaries_and_linked_files_are_left_out_and_counted(engine: str, tmp_path: Path) -> None:
    make_files(tmp_path, ["a.bin"], b"hit\n\0\1\2")
    make_files(tmp_path, ["b.txt", "c.txt"], "hit\n")
    os.link(tmp_path / "c.txt", tmp_path / "d.txt")
    async with open_search(tmp_path, engine) as caller:
        assert await caller.output("grep", pattern="hit") == snapshot("""\
b.txt:1: hit
[1 binary file with matches left out.]
[2 files left out that have several hard links.]\
""")
    async with open_search(tmp_path, engine, PathRules(hardlinks=True)) as caller:
        data = await caller.done("grep", pattern="hit", output="files")
        assert [one["path"] for one in data["files"]] == ["b.txt", "c.txt", "d.txt"]


@pytest.mark.req("BF-06")
async def test_a_file_that_is_too_large_for_python_is_counted(tmp_path: Path) -> None:
    make_files(tmp_path, ["a.txt", "e.log"], "hit\n")
    with_mark = "\ufeffhit\n".encode()
    make_files(tmp_path, ["e.log"], with_mark)
    os.truncate(tmp_path / "e.log", MAX_PYTHON_SIZE + 1)
    async with open_search(tmp_path, "python") as caller:
        assert await caller.output("grep", pattern="hit") == snapshot("""\
a.txt:1: hit
[1 file over 67.1 MB not searched.]\
""")
    async with open_search(tmp_path, "ripgrep") as caller:
        assert await caller.output("grep", pattern="hit") == "a.txt:1: hit\ne.log:1: hit"


@each_engine
async def test_marks_and_line_ends_do_not_hide_a_match(engine: str, tmp_path: Path) -> None:
    make_files(tmp_path, ["mark.txt"], "\ufefffirst\r\nlast".encode())
    make_files(tmp_path, ["wide.txt"], "first\r\nlast\r\n".encode("utf-16"))
    make_files(tmp_path, ["latin.txt"], "first\nla\xdft\n".encode("latin-1"))
    async with open_search(tmp_path, engine) as caller:
        assert await caller.output("grep", pattern="^first$") == snapshot("""\
latin.txt:1: first
mark.txt:1: first
wide.txt:1: first\
""")
        assert await caller.output("grep", pattern="^la.t$") == snapshot("""\
mark.txt:2: last
wide.txt:2: last\
""")


@each_engine
async def test_a_long_line_is_cut_around_its_match(engine: str, tmp_path: Path) -> None:
    make_files(tmp_path, ["min.js"], "é" * 5000 + "needle" + "y" * 5000)
    async with open_search(tmp_path, engine) as caller:
        message = await caller.output("grep", pattern="needle")
        assert len(message) < 330 and "éneedley" in message
        assert message.startswith("min.js:1: …é") and message.endswith("y…")


@pytest.mark.req("BF-06")
@each_engine
async def test_however_long_lines_are_each_is_shown_and_paged(engine: str, tmp_path: Path) -> None:
    make_files(tmp_path, ["many.js"], "a" * 400_000)
    make_files(tmp_path, ["wide.txt"], ("x" * 2_000_000 + "é needle\r\n") * 10)
    make_files(tmp_path, ["z.txt"], "needle\n")
    async with open_search(tmp_path, engine) as caller:
        assert (await caller.output("grep", pattern="a", path="many.js")).startswith("many.js:1: aaa")
        seen = []
        offset: int | None = 0
        while offset is not None:
            page = await caller.done("grep", pattern="needle", limit=4, offset=offset)
            seen += [(one["path"], one["line"], one["text"][-12:]) for one in page["lines"]]
            offset = page["next_offset"]
        shown = [("wide.txt", line, "xxxxé needle"[-12:]) for line in range(1, 11)]
        assert seen == [*shown, ("z.txt", 1, "needle")]
        around = await caller.output("grep", pattern="needle", path="wide.txt", limit=1, after=1)
        assert around.split("\n")[1].startswith("wide.txt-2- xxx")


@each_engine
async def test_what_became_something_else_meanwhile_breaks_no_search(engine: str, tmp_path: Path) -> None:
    make_files(tmp_path, ["a.txt", "b/c.txt"], "hit\n")
    workspace = Workspace(tmp_path)
    finder, query = (
        Finder(workspace, ripgrep_program()),
        SearchQuery(translate_regex(pattern_for(engine, "hit"))),
    )
    try:
        for start, is_file in (("b/c.txt", True), ("a.txt", True)):
            where = SearchScope(start, is_file)
            (tmp_path / start).unlink()
            (tmp_path / start).mkdir()
            assert finder.search(query, where, Signal())[0].files == {}
        with pytest.raises(ToolError) as raised:
            list(walk(workspace, "gone/away", Signal()))
        assert raised.value.code == "FILE_NOT_FOUND"
    finally:
        workspace.close()


class Failing(Ripgrep):
    """One that cannot look at open files, as where there is no /dev/fd."""

    def show(self, *args: Any) -> list[tuple[int, SearchLine]]:
        raise UnsupportedPattern


def test_where_ripgrep_cannot_look_at_open_files_python_does(tmp_path: Path) -> None:
    make_files(tmp_path, ["a.txt"], "hit\n")
    workspace = Workspace(tmp_path)
    try:
        finder, engine = (
            Finder(workspace, ripgrep_program()),
            Failing(ripgrep_program(), workspace),
        )
        query = SearchQuery(translate_regex("h.t"))
        assert list(finder.lines(engine, query, ["a.txt"], Signal(), (0, 0), 5)) == [
            ("a.txt", [SearchLine(1, "hit", 0)])
        ]
        with pytest.raises(ToolError, match="no regular expression"):
            list(finder.lines(engine, SearchQuery(translate_regex(r"\p{L}")), ["a.txt"], Signal(), (0, 0), 5))
    finally:
        workspace.close()
