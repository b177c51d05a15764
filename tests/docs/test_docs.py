"""README and docs say what holds: their code runs, their tables are complete, their links lead somewhere."""

from __future__ import annotations

import ast
import asyncio
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import pytest

import handrail
from handrail import conformance, ext, testing
from handrail.core.define.build import OPTIONS
from handrail.core.define.call import Status
from handrail.core.guard.rules import _FACTS, _OPERATORS
from handrail.core.tell import events
from tests.docs.code_blocks import PAGES, ROOT, SOURCES, blocks, printed, regions

DOCS = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)


def public_names(module: ModuleType) -> list[str]:
    """What a module exports; one without `__all__` imports nothing else."""
    return getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]


EXT_MODULES = [
    importlib.import_module(f"handrail.ext.{part.name}") for part in pkgutil.iter_modules(ext.__path__)
]
NO_CODES = {
    "AGENT_WORKSPACE_ROOT",
    "NFC",
    "NFD",
    "NFKC",
    "NFKD",
    "PYTHONPATH",
    *(name for module in EXT_MODULES for name in public_names(module)),
    *conformance.__all__,
}
NO_CODES |= {"PUT", "NO_COLOR", "HANDRAIL_CONFIG", "HANDRAIL_TOOLS", "CONFIG", "JSON", "TEXT"}
NO_CODES |= {
    "HANDRAIL_KEY",
    "HANDRAIL_LEASE",
    "HANDRAIL_PER_TENANT",
    "HANDRAIL_RATE",
    "XDG_DATA_HOME",
    "UTC",
    "ERROR",
}
NO_CODES |= {
    "BEGIN",
    "IMMEDIATE",
    "NORMAL",
    "FULL",
    "EXTRA",
    "INSERT",
    "UPDATE",
    "DELETE",
    "TABLES_WITH_COMMON_ROWS",
    "TABLES_WITHOUT_TENANT",
}  # the words of databases
NO_CODES |= {"DEFAULT_TENANT_ID", "HANDRAIL_DATABASE", "HANDRAIL_OWNER_URL"}
NO_CODES |= {"GET", "HEAD", "OPTIONS", "POST", "PATCH"}  # methods
NO_CODES |= {"RECORD_NOT_FOUND"}  # of a tool of the demo
NO_CODES |= {"API_KEY", "HOME", "KEY", "LEASE", "PATH", "PER_TENANT", "RATE"}  # ends of names of variables
NO_CODES |= {"CSV", "HTML", "MCP", "MISSING", "REST"}  # words of pages
NO_CODES |= set("ARMENIAN CHEROKEE COPTIC CYRILLIC DESERET GREEK LATIN LISU OSAGE".split())  # alphabets
NO_CODES |= {"GIT_CONFIG_COUNT", "GIT_OPTIONAL_LOCKS", "GIT_PAGER", "GIT_TERMINAL_PROMPT", "LANG"}
NO_CODES |= {"SHELL", "TERM", "TMPDIR", "ALL", "COMMIT", "ROLLBACK"}  # of commands and databases
NO_CODES |= {"EXA_API_KEY", "BRAVE_API_KEY", "HANDRAIL_WORKSPACE"}  # secrets and settings
NO_CODES |= {"SUCCESS"}  # how the durable engine calls what is done


def test_every_python_block_of_a_page_is_a_region_of_docs_src() -> None:
    for block in blocks():
        assert block.source and block.region, f"{block.page}: this block names no region:\n{block.code}"
        assert (ROOT / block.source) in SOURCES, f"{block.page}: there is no {block.source}"
        assert block.code == regions(ROOT / block.source).get(block.region), (
            f"{block.page}: the block from {block.source} ({block.region}) is not the region. "
            "Copy it with: python -m tests.docs.code_blocks"
        )


def test_every_region_of_docs_src_is_in_a_page() -> None:
    shown = {(block.source, block.region) for block in blocks()}
    there = {(f"docs_src/{source.name}", name) for source in SOURCES for name in regions(source)}
    assert there == shown


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_what_docs_src_claims_holds_and_is_what_pages_print(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asyncio.run(importlib.import_module(f"docs_src.{source.stem}").main())
    output = capsys.readouterr().out.replace(f"{ROOT}/", "")
    shown = [one for one in printed() if one.source == f"docs_src/{source.name}"]
    for one in shown:
        assert one.text in output, f"{one.page} shows other output than {one.source} prints"
    assert bool(output) == bool(shown), "output that no page shows"


def test_every_output_in_a_page_belongs_to_a_file() -> None:
    assert {one.source for one in printed()} <= {f"docs_src/{source.name}" for source in SOURCES}
    marked = len(list(printed()))
    assert DOCS.count("```text") + DOCS.count("-->\n|") == marked


@pytest.mark.parametrize(
    "module", [handrail, *EXT_MODULES, conformance, testing], ids=lambda module: module.__name__
)
def test_every_public_name_is_documented(module: ModuleType) -> None:
    assert [name for name in public_names(module) if f"`{name}`" not in DOCS] == []


def test_every_code_that_a_call_can_end_with_is_documented() -> None:
    page = (ROOT / "docs" / "calls.md").read_text(encoding="utf-8")
    of_tools = {*codes("src/handrail/toolsets"), *codes("src/handrail/net")}
    of_calls = set(codes()) - of_doors() - of_tools
    assert [code for code in sorted(of_calls) if f"`{code}`" not in page] == []
    assert [code for code in sorted(of_tools) if f"`{code}`" not in DOCS] == []


def of_doors() -> set[str]:
    return {*codes("src/handrail/doors"), *codes("src/handrail/platform")}


def test_every_code_that_a_door_refuses_with_is_documented() -> None:
    assert [code for code in sorted(of_doors()) if f"`{code}`" not in DOCS] == []


def codes(folder: str = "src") -> Iterator[str]:
    """Every text in the source below a folder that is written like a code."""
    for file in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            text = node.value if isinstance(node, ast.Constant) else None
            if isinstance(text, str) and re.fullmatch("[A-Z]{3,}(_[A-Z]+)*", text) and text not in NO_CODES:
                yield text


def test_no_code_is_documented_that_the_source_does_not_know() -> None:
    named = set(re.findall(r"`([A-Z]{3,}(?:_[A-Z]+)+)`", DOCS)) - NO_CODES
    assert named <= set(codes())


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("tools.md", sorted(OPTIONS)),
        ("calls.md", get_args(Status)),
        ("guard.md", [*_OPERATORS, *_FACTS]),
        ("ports.md", [name for name in inspect.signature(handrail.Handrail).parameters if name != "tools"]),
        (
            "events.md",
            [word for kind in events.Event.__subclasses__() for word in (kind.type, kind.kind)],
        ),
    ],
    ids=["options", "statuses", "rules", "arguments of Handrail", "events"],
)
def test_a_page_names_every_word_of_its_subject(page: str, words: Any) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert [word for word in words if f"`{word}`" not in text] == []


LINK = re.compile(r"\[[^\]]+\]\((?P<target>[^)#\s]*)(?:#(?P<anchor>[^)\s]*))?\)")
FOLDERS = ("docs/adr", "examples")
WRITTEN = sorted(
    {*PAGES, *ROOT.glob("*.md"), *(page for one in FOLDERS for page in (ROOT / one).rglob("*.md"))}
)


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in LINK.finditer(page.read_text(encoding="utf-8")):
        if link["target"].startswith("https://"):
            continue
        target = (page.parent / link["target"]).resolve() if link["target"] else page
        assert target.exists(), f"{page.name}: {link[0]}"
        if link["anchor"]:
            assert link["anchor"] in anchors(target), f"{page.name}: {link[0]}"


def anchors(page: Path) -> set[str]:
    """The anchors that headings get on a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_the_pages_are_listed_in_the_index() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    pages = [page.name for page in (ROOT / "docs").glob("*.md") if page.name != "index.md"]
    assert [name for name in pages if f"]({name})" not in index] == []
