"""What a definition may say of a tool, in either spelling, and where that shows."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from handrail import (
    BaseTool,
    Handrail,
    Principal,
    Registry,
    Result,
    Tool,
    define,
    from_json_schema,
    from_params,
    tool,
)
from handrail.core.errors import DefinitionError
from handrail.ext.compat import CallSpec, InitContext, to_tool_meta
from handrail.ext.forms import FormSpec, OutputSection, ViewSpec


def roi(args: Any) -> str:
    return "1.5"


def calculator(**options: Any) -> Tool:
    return define("finance.roiCalculator", **{"description": "Compute a return.", "execute": roi, **options})


@pytest.mark.req("TD-03")
def test_catalogue_fields_are_kept() -> None:
    made = calculator(slug="roi", name="ROI", category="Money", icon="calculator")

    assert (made.slug, made.name, made.category, made.icon) == ("roi", "ROI", "Money", "calculator")


@pytest.mark.req("TD-03", "NM-01")
def test_catalogue_fields_follow_from_the_id_where_they_are_missing() -> None:
    made = calculator()

    assert (made.slug, made.name, made.category) == ("finance-roi-calculator", "Roi Calculator", "finance")


@pytest.mark.req("TD-02")
def test_a_definition_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        calculator().description = "Something else."  # type: ignore[misc]


@pytest.mark.req("TD-04")
@pytest.mark.parametrize("spelling", ["permissionLevel", "permission_level", "level"])
def test_the_permission_level_is_taken_in_every_spelling(spelling: str) -> None:
    assert calculator(**{spelling: "draft"}).level == "draft"


@pytest.mark.req("TD-04")
def test_a_tool_without_a_level_is_taken_to_write() -> None:
    assert calculator().level == "write"


@pytest.mark.req("TD-09")
@pytest.mark.parametrize(
    ("danger", "level"), [("safe", "read"), ("moderate", "write"), ("dangerous", "destructive")]
)
def test_a_danger_level_alone_says_how_far_the_tool_goes(danger: str, level: str) -> None:
    made = calculator(dangerLevel=danger)

    assert (made.danger, made.level) == (danger, level)


@pytest.mark.req("TD-10", "TD-09")
@pytest.mark.parametrize(
    ("command", "verdict", "layer"), [("ls", "allow", "level"), ("rm -rf /", "ask", "danger")]
)
async def test_a_danger_computed_from_the_arguments_stands_above_the_static_one(
    command: str, verdict: str, layer: str
) -> None:
    @tool(
        "bash",
        dangerLevel="moderate",
        getDangerLevel=lambda args: "dangerous" if args.command.startswith("rm") else "safe",
    )
    def bash(command: str) -> str:
        """Run a command."""
        return command

    async with Handrail([bash]) as hr:
        decision = await hr.explain("bash", {"command": command})

    assert (decision.verdict, decision.layer) == (verdict, layer)


@pytest.mark.req("TD-10")
def test_a_computed_danger_without_a_static_one_is_listed_at_its_worst() -> None:
    made = calculator(getDangerLevel=lambda args: "safe")

    assert (made.danger, made.level) == ("dangerous", "destructive")


@pytest.mark.req("TD-11")
async def test_a_required_permission_keeps_others_out() -> None:
    async with Handrail([calculator(requiredPermission="finance:read", level="read")]) as hr:
        holder = Principal(tenant="acme", permissions=frozenset({"finance:read"}))
        allowed = await hr.call("finance.roiCalculator", principal=holder)
        refused = await hr.call("finance.roiCalculator", principal=Principal(tenant="acme"))

    assert allowed.status == "completed"
    assert (refused.status, refused.code) == ("refused", "NOT_PERMITTED")


@pytest.mark.req("TD-12")
async def test_a_policy_of_always_ask_asks_even_for_a_read() -> None:
    auto, asking = calculator(level="read"), calculator(level="read", permissionPolicy="always_ask")

    assert (auto.policy, asking.policy) == ("auto", "always_ask")
    async with Handrail([asking]) as hr:
        assert (await hr.explain("finance.roiCalculator")).layer == "policy"


@pytest.mark.req("TD-13")
def test_capabilities_are_attached_when_the_tool_is_registered() -> None:
    needs = {"required": ["read"], "optional": ["network"]}
    made = Registry().register(calculator(), permissions=needs)  # type: ignore[arg-type]

    assert [*made.capabilities, *made.optional_capabilities] == ["read", "network"]


@pytest.mark.req("TD-13")
def test_a_definition_may_name_its_capabilities_itself() -> None:
    made = calculator(permissions={"required": "execute", "optional": ["network"]})

    assert [*made.capabilities, *made.optional_capabilities] == ["execute", "network"]
    assert made.level == "write"


@pytest.mark.req("TD-14")
async def test_a_tenant_that_is_not_listed_does_not_know_the_tool() -> None:
    async with Handrail([calculator(tenantSlugs=["acme"], level="read")]) as hr:
        ours, theirs = Principal(tenant="acme"), Principal(tenant="other")

        assert [one.id for one in await hr.tools(ours)] == ["finance.roiCalculator"]
        assert await hr.tools(theirs) == []
        assert (await hr.call("finance.roiCalculator", principal=theirs)).code == "TOOL_NOT_FOUND"


@pytest.mark.req("TD-15")
def test_a_collaborative_tool_aggregates_submissions() -> None:
    made = calculator(collaborative=True, aggregate=lambda submissions: sum(submissions) / len(submissions))

    assert made.collaborative and made.aggregate is not None
    assert made.aggregate([1, 2, 6]) == 3


@pytest.mark.req("TD-16", "TD-25")
def test_output_sections_say_how_an_output_is_shown() -> None:
    chart = OutputSection("trend", "Trend", "chart", {"x": "year"})
    made = calculator(outputSections=[{"key": "rows", "label": "Rows", "type": "table"}, chart])

    assert made.sections == (OutputSection("rows", "Rows", "table"), chart)
    assert made.view == ViewSpec(made.sections)


@pytest.mark.req("TD-17", "RG-05")
def test_the_metadata_of_a_tool_is_serialisable_and_holds_exactly_the_catalogue() -> None:
    made = calculator(
        slug="roi-calculator",
        icon="calculator",
        collaborative=True,
        outputSections=[{"key": "rows", "label": "Rows", "type": "table", "config": {"sort": "year"}}],
        requiredPermission="finance:read",
        tenantSlugs=["other", "acme"],
    )

    assert json.loads(json.dumps(to_tool_meta(made).to_dict())) == {
        "slug": "roi-calculator",
        "name": "Roi Calculator",
        "description": "Compute a return.",
        "category": "finance",
        "icon": "calculator",
        "collaborative": True,
        "outputSections": [{"key": "rows", "label": "Rows", "type": "table", "config": {"sort": "year"}}],
        "requiredPermission": "finance:read",
        "tenantSlugs": ["acme", "other"],
    }
    assert made.to_meta() == to_tool_meta(made)


@pytest.mark.req("TD-18", "TD-19")
async def test_an_initialiser_is_told_the_place_where_the_tool_will_run() -> None:
    def initialise(init: InitContext) -> dict[str, Any]:
        return {"description": f"Work in {init.working_dir}.", "execute": roi, "level": "read"}

    async with Handrail([define("work", initialise)], working_dir="/srv/work") as hr:
        [made] = await hr.tools()

    assert (made.id, made.description) == ("work", "Work in /srv/work.")


class ReadMetadata(Tool.Metadata):
    path: str
    bytes: int


@pytest.mark.req("TD-20", "TD-18")
async def test_a_tool_tells_metadata_of_its_own_kind() -> None:
    @tool("read", level="read")
    def read(path: str) -> Result:
        """Read a file."""
        told: ReadMetadata = {"title": "Read", "path": path, "bytes": 3}
        return Result(data="abc", metadata=told)

    async with Handrail([read]) as hr:
        out = await hr.call("read", {"path": "/a"})

    assert out.result.metadata == {"title": "Read", "path": "/a", "bytes": 3}


@pytest.mark.req("TD-21")
def test_a_class_may_be_named_by_id_by_name_or_by_itself() -> None:
    class Named(BaseTool):
        """Do it."""

        name = "shop.sell"

        def execute(self) -> str:
            return "done"

    class Titled(Named):
        id = "shop.give"
        name = "Give Away"

    class Sell(BaseTool):
        """Do it."""

        def execute(self) -> str:
            return "done"

    made = [kind.tool() for kind in (Named, Titled, Sell)]
    assert [(one.id, one.name) for one in made] == [
        ("shop.sell", "Sell"),
        ("shop.give", "Give Away"),
        ("Sell", "Sell"),
    ]


@pytest.mark.req("TD-21")
async def test_instances_of_one_class_are_tools_of_their_own() -> None:
    class Greet(BaseTool):
        description = "Greet."
        level = "read"

        def __init__(self, language: str, word: str) -> None:
            self.id = f"greet.{language}"  # type: ignore[misc]
            self.word = word

        def execute(self, name: str) -> str:
            return f"{self.word} {name}"

    async with Handrail([Greet("en", "Hello"), Greet("fr", "Salut")]) as hr:
        out = await hr.call("greet.fr", {"name": "Ann"})

    assert out.result.data == "Salut Ann"


@pytest.mark.req("TD-21")
def test_a_literal_with_id_and_name_is_found_by_its_id() -> None:
    literal = {"id": "finance.roi", "name": "ROI", "description": "Compute.", "execute": roi}
    with_schema = {**literal, "parameters": {"type": "object", "properties": {}}}

    for made in (from_params(literal), from_json_schema(with_schema)):
        assert (made.id, made.name) == ("finance.roi", "ROI")


@pytest.mark.req("TD-24")
@pytest.mark.parametrize("origin", ["system", "custom", "tenant_custom", "bundle", "mcp"])
def test_every_definition_carries_an_origin(origin: str) -> None:
    assert calculator(origin=origin).origin == origin
    assert calculator().origin == "custom"


@pytest.mark.req("TD-25")
def test_a_tool_is_one_of_the_shapes_of_interaction() -> None:
    made = calculator(
        form={"year": {"widget": "slider"}}, view=ViewSpec((OutputSection("rows", "Rows", "table"),))
    )

    assert isinstance(made, CallSpec)
    assert isinstance(made.form, FormSpec) and made.form.hints == {"year": {"widget": "slider"}}
    assert isinstance(made.view, ViewSpec)


@pytest.mark.req("TD-26")
async def test_the_engine_brings_no_tools_and_takes_its_own_like_any_other() -> None:
    async with Handrail() as hr:
        assert await hr.tools() == []
        hr.registry.register(calculator(origin="system"))
        hr.registry.register(define("shop.sell", description="Sell.", execute=roi))

        assert [one.id for one in await hr.tools()] == ["finance.roiCalculator", "shop.sell"]


@pytest.mark.req("TD-01")
@pytest.mark.parametrize("source", ["web", "agent", "mcp", "api", "cli", "job"])
async def test_people_and_agents_call_the_same_definition(source: Any) -> None:
    @tool("double", level="read")
    def double(number: int) -> int:
        """Double a number."""
        return 2 * number

    async with Handrail([double]) as hr:
        done = await hr.call("double", {"number": 2}, source=source)
        refused = await hr.call("double", {"number": []}, source=source)
        [listed] = await hr.tools(source=source)
        [exported] = await hr.export("mcp", source=source)

    assert (done.result.data, refused.code) == (4, "INVALID_PARAM")
    assert listed is double
    assert exported["inputSchema"] == double.input_schema


def test_the_digest_covers_what_a_listing_shows() -> None:
    first = calculator(level="read").digest

    assert first == calculator(level="read").digest
    assert first != calculator(level="draft").digest
    assert first != calculator(level="read", description="Something else.").digest
    assert first != calculator(level="read", category="Money").digest
    assert first != calculator(level="read", paramSchema={"year": {"type": "integer"}}).digest


@pytest.mark.req("BY-05")
def test_a_tool_says_how_many_must_approve_it_and_whether_the_requester_counts() -> None:
    assert (calculator().approvals, calculator().four_eyes) == (1, False)
    made = calculator(approvals=2, fourEyes=True)
    assert (made.approvals, made.four_eyes) == (2, True)


@pytest.mark.req("BY-05")
@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"approvals": 0}, "a number of persons"),
        ({"approvals": "two"}, "a number of persons"),
        ({"approvals": True}, "a number of persons"),
        ({"four_eyes": "yes"}, "neither True nor False"),
    ],
)
def test_a_quorum_that_is_none_does_not_load(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(DefinitionError, match=problem):
        calculator(**options)
