"""No bridge is loaded before it is used, and one whose package is missing says which extra brings it."""

from __future__ import annotations

import subprocess
import sys

import pytest

MISSING = """
import sys
class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {packages!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Nothing())
"""


def in_a_new_process(code: str, *packages: str) -> str:
    code = MISSING.format(packages=packages) + code
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.req("AB-09")
def test_the_formats_of_openai_and_anthropic_need_no_package() -> None:
    code = """
import asyncio
from handrail import Handrail, tool
from handrail.bridges import anthropic, openai
@tool("a.b", level="read")
async def f() -> int:
    "One."
    return 1
async def main():
    async with Handrail([f]) as hr:
        function = {"name": "a__b", "arguments": "{}"}
        print(await openai.run_tool_calls(hr, {"tool_calls": [{"id": "x", "function": function}]}))
        block = {"type": "tool_use", "id": "y", "name": "a__b", "input": {}}
        print((await anthropic.run_tool_calls(hr, {"content": [block]}))[0]["content"][0]["tool_use_id"])
asyncio.run(main())
"""
    packages = ("openai", "anthropic", "langchain_core", "pydantic_ai", "httpx2", "httpx", "yaml")
    out = in_a_new_process(code, *packages)
    assert out == "[{'role': 'tool', 'tool_call_id': 'x', 'content': '1'}]\ny"


@pytest.mark.req("AB-09")
@pytest.mark.parametrize(
    ("module", "package", "extra"),
    [("langchain", "langchain_core", "langchain"), ("pydantic_ai", "pydantic_ai", "pydantic-ai")],
)
def test_a_missing_package_is_told_with_its_extra(module: str, package: str, extra: str) -> None:
    code = f"try:\n    import handrail.bridges.{module}\nexcept ImportError as error:\n    print(error)"
    assert in_a_new_process(code, package).startswith(f"{package} is not installed")
    assert in_a_new_process(code, package).endswith(f"pip install 'handrail[{extra}]'")


@pytest.mark.req("AB-09")
def test_nothing_of_the_frameworks_is_imported_with_handrail() -> None:
    names = ["langchain_core", "pydantic_ai", "openai", "anthropic", "httpx2", "httpx", "handrail.bridges"]
    code = f"import handrail, handrail.ext, sys\nprint(*(one for one in {names} if one in sys.modules))"
    assert in_a_new_process(code) == ""


def test_servers_that_cannot_be_spoken_to_are_each_told_with_the_extra() -> None:
    code = """
import asyncio, sys
from handrail import Handrail
from handrail.bridges.mcp import McpToolset, Server
async def main():
    async with Handrail([McpToolset(Server(name, command=sys.executable)) for name in ("a", "b")]) as hr:
        for name in ("a.x", "b.x"):
            print((await hr.call(name)).result.error)
asyncio.run(main())
"""
    told = "mcp is not installed, which the bridge to MCP servers needs: pip install 'handrail[mcp]'"
    first, second = in_a_new_process(code, "mcp", "mcp_types").splitlines()
    assert told in first and told in second


@pytest.mark.req("AB-09", "BY-20")
def test_an_import_without_an_http_client_is_told_with_its_extra() -> None:
    code = """
from handrail.bridges.openapi import import_openapi
try:
    import_openapi({"openapi": "3.1.0", "paths": {}}, "a", base_url="https://a.example.com")
except ImportError as error:
    print(error)
"""
    told = "httpx2 is not installed, which calling an HTTP service needs: pip install 'handrail[openapi]'"
    assert in_a_new_process(code, "httpx2") == told
