"""The syntax check: a warning with its place, after the edit, which stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from handrail.toolsets.workspace import Workspace, syntax_errors, syntax_parsers
from handrail.toolsets.workspace.syntax_check import ParseCache
from handrail.toolsets.workspace.syntax_errors import ParseResult, SyntaxProblem
from handrail.toolsets.workspace.syntax_parsers import GRAMMARS, LanguageParser, parse
from tests.harness.child_processes import no_leftover_processes
from tests.unit.toolsets.workspace.workspace_agents import WorkspaceAgents

BROKEN = {
    "a.py": ("x = 1\ndef f(:\n    pass\n", 2),
    "a.json": ('{\n  "a": 1,\n  "b" 2\n}\n', 3),
    "a.yaml": ("a: 1\nb: [1, 2\nc: 3\n", 3),
    "a.toml": ("a = 1\nb = = 2\n", 2),
    "a.js": ("let x = 1;\nfunction f( { return 1; }\n", 2),
    "a.jsx": ("const a = 1;\nconst b = <div>{</div>;\n", 2),
    "a.ts": ("let x: number = 1;\nlet y: = 2;\n", 2),
    "a.tsx": ("const a: number = 1;\nconst b = <div>{</div>;\n", 2),
    "a.go": ("package main\nfunc main() { x := }\n", 2),
    "a.rs": ("fn f() {}\nfn g( { }\n", 2),
    "a.java": ("class A {}\nclass B { int x = ; }\n", 2),
    "a.c": ("int a;\nint f( { return 1; }\n", 2),
    "a.cpp": ("int a;\nint f( { return 1; }\n", 2),
    "a.rb": ("x = 1\ndef f(\n  1 +\n", 2),
    "a.css": ("a { color: red; }\nb { color }}\n", 2),
    "a.sh": ("echo ok\nif true; then\n", 2),
}
SOUND = {
    "a.py": "x = 1\n",
    "a.json": '{"a": [1, 2]}\n',
    "a.yaml": "a: !custom [1]\n---\nb: 2\n",
    "a.toml": "[a]\nb = 2\n",
    "a.js": "export const f = async (x) => ({ ...x });\n",
    "a.jsx": "const a = <div className='x'>{1}</div>;\n",
    "a.ts": "export type A<T> = { [K in keyof T]?: T[K] };\n",
    "a.tsx": "const A = (p: { x: number }) => <b>{p.x}</b>;\n",
    "a.go": "package main\nfunc main() {}\n",
    "a.rs": 'fn main() { println!("x"); }\n',
    "a.java": "class A { int x = 1; }\n",
    "a.c": "int main(void) { return 0; }\n",
    "a.cpp": "template <class T> T f(T x) { return x; }\n",
    "a.rb": "def f(x)\n  x + 1\nend\n",
    "a.css": "a { color: red; }\n",
    "a.html": "<!doctype html><p>Hello</p>\n",
    "a.sh": "if true; then echo ok; fi\n",
    "tsconfig.json": "{ // with a comment\n}\n",
    "a.txt": "anything ( goes\n",
}


@pytest.fixture
def agents(tmp_path: Path) -> WorkspaceAgents:
    return WorkspaceAgents(tmp_path)


@pytest.mark.req("EX-15", "EX-23")
async def test_a_problem_is_a_warning_with_its_line_and_the_edit_stays(agents: WorkspaceAgents) -> None:
    for name, (text, line) in BROKEN.items():
        out = await agents.call("write_file", path=name, content=text)
        assert out.status == "completed", name
        assert (agents.root / name).read_text() == text
        warning = out.result.metadata.get("warning", "")
        assert f"{name} may not parse: line {line}, column " in warning, name
        assert f"Warning: {warning}" in out.to_model()


@pytest.mark.req("EX-15")
async def test_what_is_sound_gets_no_warning(agents: WorkspaceAgents) -> None:
    for name, text in SOUND.items():
        out = await agents.call("write_file", path=name, content=text)
        assert "warning" not in out.result.metadata, out.to_model()


@pytest.mark.req("EX-15", "EX-23")
async def test_the_warning_reads_as_this(agents: WorkspaceAgents) -> None:
    await agents.call("write_file", path="a.py", content="def f():\n    return 1\n")
    out = await agents.call("edit_file", path="a.py", search="f():", replace="f(:")
    assert out.result.metadata["warning"] == snapshot(
        "a.py may not parse: line 1, column 7: invalid syntax: `def f(:`. "
        "The change was made; repair it with another edit, or undo it with undo_file."
    )
    out = await agents.call("edit_file", path="a.py", search="f(:", replace="f():")
    assert "warning" not in out.result.metadata


@pytest.mark.req("EX-23")
async def test_a_file_that_was_broken_before_says_so(agents: WorkspaceAgents) -> None:
    (agents.root / "a.py").write_text("def f(:\n    x = 1\n")
    out = await agents.call("edit_file", path="a.py", search="x = 1", replace="x = 2")
    warning = out.result.metadata["warning"]
    assert "It did not parse before this change either (line 1: invalid syntax)." in warning
    assert "undo_file" not in warning


@pytest.mark.req("EX-15")
async def test_a_large_file_is_not_parsed(agents: WorkspaceAgents) -> None:
    out = await agents.call("write_file", path="a.py", content="x = (\n" + "# filling\n" * 110_000)
    assert out.status == "completed" and "warning" not in out.result.metadata


@pytest.mark.req("EX-14")
async def test_a_tree_is_kept_until_its_file_changes_by_a_tool_a_shell_or_anybody(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    trees = ParseCache(workspace, most=2)
    workspace.write("a.js", b"let a = 1;\n")
    first = await trees.of("a.js")
    again = await trees.of("a.js")
    assert first is not None and again is not None
    assert first[1].tree is again[1].tree is not None
    workspace.write("a.js", b"let a = 2;\n")
    assert "a.js" not in trees
    second = await trees.of("a.js")
    assert second is not None and second[1].tree is not first[1].tree
    (tmp_path / "a.js").write_bytes(b"let a = 3;\n")
    third = await trees.of("a.js")
    assert third is not None and third[1].tree is not second[1].tree
    workspace.notify_changed(None)
    assert "a.js" not in trees
    for name in ("a.js", "b.js", "c.js"):
        workspace.write(name, b"1;\n")
        await trees.of(name)
    assert "a.js" not in trees and "c.js" in trees


@pytest.mark.req("EX-15")
@given(st.binary(max_size=60) | st.text("{}[]()<>:=,'\"\n\t #-abc1\0", max_size=60).map(str.encode))
def test_nothing_that_is_written_breaks_a_check(data: bytes) -> None:
    for name in SOUND:
        check = syntax_parsers.parser_for(name)
        if check is not None and (problem := check.parse(data).problem) is not None:
            assert problem.line >= 1 and problem.column >= 1 and problem.text
            assert isinstance(syntax_errors.line_of(data, problem), str)


@pytest.mark.req("EX-15")
@pytest.mark.parametrize(
    ("name", "data", "line", "column"),
    [
        ("a.py", "if 1:\r\n\tx = = 1\r\n", 2, 6),
        ("a.py", "\ufeffx = = 1\n", 1, 5),
        ("a.py", "s = '😀é'; x = = 1\n", 1, 15),
        ("a.py", "# coding: latin-1\nü = 1 +* 2\n".encode("latin-1"), 2, 8),
        ("a.py", b"x = 1\ny = '\xff'\n", 2, 1),
        ("a.json", '\ufeff{\r\n\t"😀" 1}', 2, 6),
        ("a.toml", '\ufeffa = "😀" x\r\n', 1, 9),
        ("a.yaml", '"😀": ]', 1, 6),
        ("a.js", "\ufefflet x = = 1;\n", 1, 7),
        ("a.js", "\tlet s = '😀'; let x = = 1;\r\n", 1, 21),
        ("a.ts", "let a;\nlet x = = 1;\n".encode("utf-16"), 2, 7),
    ],
)
def test_columns_count_characters_whatever_stands_before(
    name: str, data: str | bytes, line: int, column: int
) -> None:
    check = syntax_parsers.parser_for(name)
    assert check is not None
    given_bytes = data if isinstance(data, bytes) else data.encode()
    problem = check.parse(given_bytes).problem
    assert problem is not None and (problem.line, problem.column) == (line, column)
    shown = syntax_errors.line_of(given_bytes, problem)
    assert shown and "\ufeff" not in shown and "\0" not in shown


@pytest.mark.req("EX-15")
async def test_a_file_that_takes_time_is_parsed_in_a_process_of_its_own(agents: WorkspaceAgents) -> None:
    """No parser lets anybody else in its process work, not even from a thread."""

    def here(data: bytes) -> ParseResult:
        raise AssertionError

    with no_leftover_processes():
        for words, text in (
            (("python",), "x = 1\ndef f(:\n"),
            (("grammar", *GRAMMARS[".js"]), "a;\nlet y = ;\n"),
        ):
            found = await parse(LanguageParser(here, words, at_once=5), text.encode())
            assert found.problem is not None and found.problem.line == 2
        assert await parse(LanguageParser(here, ("python",), at_once=5), b"x = 1 ") == ParseResult()
        assert (
            await parse(LanguageParser(here, ("python",), at_once=5), b"def f(:", seconds=0) == ParseResult()
        )
        assert await parse(LanguageParser(here, ("nothing",), at_once=5), b"def f(:") == ParseResult()
    for name, filling in (("a.py", "x = 1\n" * 11_000), ("a.js", "let a = 1;\n" * 1_600)):
        out = await agents.call("write_file", path=name, content=f"{filling}x = = 1;\n")
        warning = out.result.metadata["warning"]
        assert f"line {filling.count(chr(10)) + 1}, column " in warning


@pytest.mark.req("EX-15")
def test_what_is_too_much_for_a_parser_is_no_problem_of_the_file() -> None:
    digits = "1" * 5_000
    assert syntax_errors.json_text(f'{{"a": {digits}}}'.encode()).problem is None
    assert syntax_errors.toml(f"a = {digits}\n".encode()).problem is None
    assert syntax_errors.yaml(b"[" * 100_000).problem is None
    assert syntax_errors.yaml(b"- " * 100_000).problem is None


@pytest.mark.req("EX-15")
def test_deep_nesting_and_strange_encodings_are_survived() -> None:
    for text in (b"(" * 5_000, b"[" * 200_000, b"-" * 50_000 + b"1", b"x = \0", b"# coding: nonsense\n"):
        syntax_errors.python(text)
        syntax_errors.json_text(text)
        syntax_errors.toml(text)
    assert syntax_errors.python(b"# coding: nonsense\nx = 1\n").problem is not None
    assert syntax_errors.python("\ufeffx = 'ä'\r\n".encode()).problem is None
    assert syntax_errors.python(b"x = '\\d'\n").problem is None
    assert syntax_errors.json_text("\ufeff{}".encode()).problem is None
    assert syntax_errors.json_text(b"\n\xff").problem == SyntaxProblem(2, 1, "these bytes are not text")
