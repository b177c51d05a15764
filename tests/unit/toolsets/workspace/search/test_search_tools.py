"""glob, list_files, search_files and search_code: what a model reads, and what holds for all of them."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path, PurePosixPath

import pytest
from inline_snapshot import snapshot

from handrail import Call, Handrail
from handrail.ext.tools import Signal
from handrail.testing import ConformanceCase, conformance_cases
from handrail.toolsets.workspace import Workspace
from handrail.toolsets.workspace.search import search_tools
from handrail.toolsets.workspace.search.definitions import definitions
from handrail.toolsets.workspace.search.finder import Finder
from handrail.toolsets.workspace.search.search_code import definitions_in, grammar_for
from tests.harness.child_processes import no_leftover_processes
from tests.unit.toolsets.workspace.search.file_trees import make_files, write_rules
from tests.unit.toolsets.workspace.search.search_caller import ANA, open_search

NAMES = ["list_files", "grep", "glob", "search_files", "search_code"]
TOOLS = search_tools(Workspace(Path(__file__).parent))


@pytest.mark.parametrize("case", conformance_cases(TOOLS, strict=True))
def test_each_is_conformant(case: ConformanceCase) -> None:
    case()


@pytest.mark.req("BP-04", "BF-04", "BF-05", "BF-06", "BF-07")
def test_all_only_read_and_run_beside_each_other() -> None:
    assert [tool.id for tool in TOOLS] == NAMES
    for tool in TOOLS:
        assert (tool.level, tool.danger, tool.concurrency, tool.origin) == (
            "read",
            "safe",
            "parallel",
            "system",
        )
        assert tool.capabilities == {"read"} and tool.category == "workspace" and tool.icon
        assert tool.guidance and tool.output_schema


@pytest.mark.req("BP-04")
async def test_a_batch_of_searches_answers_all(tmp_path: Path) -> None:
    make_files(tmp_path, ["a.py"], "x = 1\n")
    workspace = Workspace(tmp_path)
    given = [{}, {"pattern": "x"}, {"pattern": "*"}, {"query": "a"}, {"query": "x"}]
    calls = [Call(name, args, principal=ANA) for name, args in zip(NAMES, given, strict=True)]
    async with Handrail(search_tools(workspace)) as hr:
        outcomes = await hr.call_many(calls)
    workspace.close()
    assert [outcome.status for outcome in outcomes] == ["completed"] * 5


@pytest.mark.req("BF-05")
async def test_glob_shows_what_was_changed_last_first_or_goes_by_name(tmp_path: Path) -> None:
    make_files(tmp_path, ["src/a.py", "src/b.py", "c.py", "d.txt", "build/e.py"])
    write_rules(tmp_path, {".": "build\n"})
    for age, name in enumerate(["src/b.py", "c.py", "src/a.py"]):
        os.utime(tmp_path / name, (1e9 - age, 1e9 - age))
    async with open_search(tmp_path) as caller:
        assert (await caller.output("glob", pattern="*.py", sort="modified")).split("\n") == [
            "src/b.py",
            "c.py",
            "src/a.py",
        ]
        assert (await caller.output("glob", pattern="*.py")).split("\n") == [
            "c.py",
            "src/a.py",
            "src/b.py",
        ]
        assert await caller.output("glob", pattern="*.{py,txt}", limit=2) == snapshot("""\
c.py
d.txt
[2 of 4 files shown. Narrow the pattern or the path.]\
""")
        newest = await caller.done("glob", pattern="*.py", sort="modified", limit=1)
        assert ([one["path"] for one in newest["files"]], newest["total"]) == (["src/b.py"], 3)
        assert (await caller.done("glob", pattern="*.py", include_ignored=True))["total"] == 4
        assert (await caller.done("glob", pattern="[a]*.py", path="src"))["total"] == 1
        make_files(tmp_path, ["é.txt"])
        assert (await caller.output("glob", pattern="?.txt")).split("\n") == ["d.txt", "é.txt"]
        assert "include_ignored=true" in await caller.output("glob", pattern="*.rs")
        assert (await caller.refused("glob", pattern="*", path="c.py"))[0] == "NOT_A_FOLDER"


@pytest.mark.req("BF-04")
@pytest.mark.parametrize("name", ["list_files", "list"])
async def test_a_folder_is_listed_with_sizes_under_both_names(name: str, tmp_path: Path) -> None:
    make_files(tmp_path, ["src/a.py", "src/in/b.py", "x.log"], "x" * 1500)
    make_files(tmp_path, ["README.md"], "")
    write_rules(tmp_path, {".": "*.log\n"})
    (tmp_path / "link").symlink_to("src")
    async with open_search(tmp_path) as caller:
        out = await caller.call(name)
        assert out.to_model() == snapshot("""\
.gitignore (6 B)
README.md (0 B)
link (link)
src/\
""")
        assert out.result.summary == "4 entries in the workspace"
        assert await caller.output(name, path="src", depth=2) == snapshot("""\
src/a.py (1.5 kB)
src/in/
src/in/b.py (1.5 kB)\
""")
        assert await caller.output(name, glob="**/*.py") == "src/a.py (1.5 kB)\nsrc/in/b.py (1.5 kB)"
        assert await caller.output(name, glob="src/") == "src/a.py (1.5 kB)\nsrc/in/b.py (1.5 kB)"
        assert await caller.output(name, glob="*.log", include_ignored=True) == "x.log (1.5 kB)"


@pytest.mark.req("BF-04")
async def test_a_long_listing_is_cut_and_says_how_much_is_left_out(tmp_path: Path) -> None:
    make_files(tmp_path, [f"{number:02}.txt" for number in range(30)])
    async with open_search(tmp_path) as caller:
        data = await caller.done("list_files", limit=4)
        assert [one["path"] for one in data["entries"]] == ["00.txt", "01.txt", "02.txt", "03.txt"]
        assert data["left_out"] == 26
        assert "4 of 30 entries shown, 26 left out" in await caller.output("list_files", limit=4)
        assert (await caller.refused("list_files", path="00.txt"))[0] == "NOT_A_FOLDER"
        assert (await caller.refused("list_files", path="none"))[0] == "FILE_NOT_FOUND"


@pytest.mark.req("BF-07")
async def test_files_are_found_by_parts_of_their_names(tmp_path: Path) -> None:
    make_files(tmp_path, ["src/users/UserController.ts", "src/users/list.ts", "docs/users.md", "out/user.js"])
    write_rules(tmp_path, {".": "out\n"})
    async with open_search(tmp_path) as caller:
        assert await caller.output("search_files", query="usr contr") == "src/users/UserController.ts"
        out = await caller.call("search_files", query="user", limit=2)
        assert out.to_model() == snapshot("""\
docs/users.md
src/users/UserController.ts
[2 of 3 files shown, the best first.]\
""")
        assert out.result.summary == "Found 3 files"
        assert (await caller.refused("search_files", query=" / "))[0] == "INVALID_PATTERN"


@pytest.mark.req("BF-07")
async def test_definitions_come_before_uses_and_code_before_tests_and_texts(
    tmp_path: Path,
) -> None:
    make_files(tmp_path, ["README.md"], "Call load_user.\n")
    make_files(tmp_path, ["app/main.py"], "from app.users import load_user\n\nprint(load_user(1))\n")
    make_files(
        tmp_path, ["app/users.py"], '"""load_user loads."""\n\n\nasync def load_user(id):\n    return id\n'
    )
    make_files(tmp_path, ["tests/test_users.py"], "def test_it():\n    assert load_user(1)\n")
    make_files(tmp_path, ["web/users.ts"], "// load_user\nexport const load_user = (id: number) => id;\n")
    make_files(tmp_path, ["web/more.ts"], "function load_user_twice() { load_user(1) }\n")
    async with open_search(tmp_path) as caller:
        assert await caller.output("search_code", query="load_user") == snapshot('''\
app/users.py:4: (function) async def load_user(id):
web/users.ts:2: (variable) export const load_user = (id: number) => id;
web/more.ts:1: (function) function load_user_twice() { load_user(1) }
app/main.py:1: from app.users import load_user
app/main.py:3: print(load_user(1))
app/users.py:1: """load_user loads."""
web/users.ts:1: // load_user
tests/test_users.py:2: assert load_user(1)
README.md:1: Call load_user.\
''')
        out = await caller.call("search_code", query="load_user", type="py", limit=1)
        assert out.to_model() == snapshot("""\
app/users.py:4: (function) async def load_user(id):
[1 of 5 lines in 3 files shown, definitions first. Use grep for all of them.]\
""")
        assert "async def load_user" in await caller.output("search_code", query="LOAD_USER", glob="app/*")
        assert "No line has" in await caller.output("search_code", query="nowhere_to_be_found")
        assert (await caller.refused("search_code", query="1 + 2"))[0] == "INVALID_PATTERN"


@pytest.mark.req("BF-07")
@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("a.py", "class A:\n    x: int = 1\n    def f(self): pass\n", "1 A, 2 x, 3 f"),
        ("broken.py", "def f(:\n  class\nclass B:\n", "1 f, 3 B"),
        ("a.js", "class A { f() {} }\nfunction* g() {}\nconst h = 1, [i] = j\n", "1 A, 1 f, 2 g, 3 h, 3 i"),
        ("b.js", "x = { a: () => 1, b: 2 }\nexports.c = function () {}\n", "1 a, 2 c"),
        ("c.js", "class A { static s = 1 }\nlet { d, e: f } = x\n", "1 A, 1 s, 2 d, 2 f"),
        ("a.ts", "interface I { p: 1 }\ntype T = 1\nenum E { F, G = 2 }\n", "1 I, 1 p, 2 T, 3 E, 3 F, 3 G"),
        (
            "b.ts",
            "abstract class A { private x = 1; abstract m(): 1 }\nnamespace N {}\n",
            "1 A, 1 x, 1 m, 2 N",
        ),
        ("a.tsx", "export const C: FC = () => <b/>;\n", "1 C"),
        ("a.go", "package p\nfunc F() {}\ntype T struct{ A, B int }\n", "2 F, 3 T, 3 A, 3 B"),
        (
            "b.go",
            "package p\nfunc (t T) M() {}\nvar v, w = 1, 2\ntype I interface { N() }\n",
            "2 M, 3 v, 3 w, 4 I, 4 N",
        ),
        (
            "a.rs",
            "struct S;\nfn f() {}\ntrait R {}\nconst C: u8 = 1;\nenum E { V }\n",
            "1 S, 2 f, 3 R, 4 C, 5 E, 5 V",
        ),
        ("b.rs", "impl S { fn n() {} }\nmacro_rules! m { () => {} }\nmod o {}\n", "1 n, 2 m, 3 o"),
        ("A.java", "class A {\n  A() {}\n  int f() { return 1; }\n  int k;\n}\n", "1 A, 2 A, 3 f, 4 k"),
        ("B.java", "record R(int a) {}\nenum E { P }\n@interface N {}\n", "1 R, 2 E, 2 P, 3 N"),
        (
            "a.c",
            "#define M 1\nstruct s { int a; };\nint *f(struct t *x) { return 0; }\n",
            "1 M, 2 s, 2 a, 3 f",
        ),
        (
            "b.c",
            "enum e { A };\ntypedef int (*cb)(int);\nint g(void), h[2] = {1};\n",
            "1 e, 1 A, 2 cb, 3 g, 3 h",
        ),
        ("a.cpp", "int n::C::m() { return 1; }\nusing U = int;\nclass D { ~D(); };\n", "1 m, 2 U, 3 D, 3 ~D"),
        ("a.h", "int g(void);\nclass C;\n", "1 g"),
        ("a.rb", "class A\n  K = 1\n  def f?\n  end\n  def self.g; end\nend\n", "1 A, 2 K, 3 f?, 5 g"),
        ("a.sh", "foo() { :; }\nfunction bar { :; }\nexport V=1\n", "1 foo, 2 bar, 3 V"),
        ("a.kt", "data class A(val x: Int)\nsuspend fun f() {}\nfun String.g() {}\n", "1 A, 2 f, 3 g"),
        ("a.sql", 'CREATE TABLE users (id int);\ncreate view if not exists a."v" as\n', "1 users, 2 v"),
        ("a.lua", "local function f() end\nfunction M.g() end\n", "1 f, 2 g"),
    ],
)
def test_what_a_file_defines_is_known_by_its_language(path: str, text: str, found: str) -> None:
    end = PurePosixPath(path).suffix
    defined = definitions(end, text.encode(), grammar_for(end))
    assert sorted(found.split(", ")) == sorted(f"{one.line} {one.name}" for one in defined)
    assert all(one.kind for one in defined)


@pytest.mark.req("BF-07")
async def test_prose_defines_nothing(tmp_path: Path) -> None:
    make_files(tmp_path, ["README.md"], "class loaders are explained here\n")
    make_files(tmp_path, ["a.py"], "def loaders(): ...\n")
    async with open_search(tmp_path) as caller:
        data = await caller.done("search_code", query="loaders")
        assert [one["defines"] for one in data["lines"]] == ["function", None]


@pytest.mark.req("BF-07")
def test_what_is_not_parsed_in_time_is_no_definition_and_leaves_no_process(tmp_path: Path) -> None:
    """Parsers let nobody else in their process work, so that they run in another."""
    make_files(tmp_path, ["a.py", "b.js"], "class A { }\n")
    make_files(tmp_path, ["c.py"], "class A: ...\n")
    workspace = Workspace(tmp_path)
    finder = Finder.of(workspace)
    with closing(workspace), no_leftover_processes():
        assert definitions_in(finder, ["a.py", "b.js", "c.py", "gone.py"], ["a"], Signal()) == {
            "a.py": [(1, "A", "class")],
            "b.js": [(1, "A", "class")],
            "c.py": [(1, "A", "class")],
        }
        assert definitions_in(finder, ["c.py"], ["b"], Signal()) == {"c.py": []}
        assert definitions_in(finder, ["c.py"], ["a"], Signal(), seconds=0) == {}
