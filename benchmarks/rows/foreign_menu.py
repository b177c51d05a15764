"""What a model is given of a thousand foreign tools: their schemas, or a menu and a way to find more."""

from __future__ import annotations

import asyncio
import json
from itertools import product
from typing import Any

from benchmarks.environments import Peers
from benchmarks.row import Ratio, Row, at_most
from benchmarks.timing import Effort, Size
from handrail import Handrail
from handrail.bridges.mcp import McpToolset, Server
from handrail.ext.compat import DEFAULT_TENANT_ID
from handrail.ext.ports import MemoryPins
from handrail.ext.toolsets import Pin, PinChanges
from handrail.toolsets.search import describe_tool, search_tools

TITLE = "A thousand foreign tools in a prompt"

_VERBS = "create get list update delete search send export import archive".split()
_THINGS = "Record Invoice File Event Contact Order Branch Issue Report Message".split()


def measure(peers: Peers, effort: Effort) -> list[Row]:
    eager, lazy = asyncio.run(prompts())
    before, after = Size.of(eager), Size.of(lazy)
    return [
        Row("all schemas", before),
        Row(
            "menu, search_tools and describe_tool", after, Ratio(after, before, "{:.4f} of it"), at_most(0.03)
        ),
    ]


async def prompts() -> tuple[str, str]:
    """All schemas of the tools; and what stands in their place."""
    finding = [search_tools, describe_tool]
    async with Handrail(finding) as hr:
        few = json.dumps(await hr.export("openai"))
    async with Handrail([*finding, await far("lazy")]) as hr:
        menu = await hr.menu(loaded=finding)
    async with Handrail([await far("eager")]) as hr:
        every = await hr.export("openai")
    assert len(every) == 1_000
    return json.dumps(every), f"{few}\n{menu}"


async def far(load: Any) -> McpToolset:
    """A server whose tools were seen before, so that nobody has to reach it."""
    named = product(range(10), _VERBS, _THINGS)
    pins = MemoryPins()
    first = tuple(
        Pin(f"{verb}_{thing}_{area}".lower(), definition(area, verb, thing)) for area, verb, thing in named
    )
    await pins.note(DEFAULT_TENANT_ID, "far", PinChanges(first=first))
    return McpToolset(Server("far", command="never-started", load=load), pins=pins)


def definition(area: int, verb: str, thing: str) -> dict[str, Any]:
    """Of the usual size: a few parameters, each with a sentence."""
    texts = {
        "owner": f"The account that owns the {thing.lower()}; the name is not case sensitive.",
        "title": f"A short title for the {thing.lower()}, shown in lists.",
        "state": "Only those in this state.",
        "page": "The page of results to return, from 1 on.",
    }
    properties = {name: {"type": "string", "description": text} for name, text in texts.items()}
    return {
        "description": f"{verb.title()} one or more of the {thing.lower()}s in area {area} of the account.",
        "input_schema": {"type": "object", "properties": properties, "required": ["owner"]},
    }
