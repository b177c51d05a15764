"""OpenAPI documents are read: versions, references, names, schemas, and what cannot be called."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from handrail import Handrail, Principal, Tool
from handrail.bridges.openapi import ImportedTools, import_openapi
from handrail.bridges.openapi.document import OpenAPIError
from handrail.ext.data_files import parse_yaml_1_2
from handrail.ext.errors import DefinitionError

ANA = Principal("acme", "ana")
BASE = "https://api.example.com"


def document(paths: dict[str, Any], version: str = "3.1.0", **more: Any) -> dict[str, Any]:
    return {"openapi": version, "info": {"title": "t", "version": "1"}, "paths": paths, **more}


def imported(paths: dict[str, Any], version: str = "3.1.0", **more: Any) -> ImportedTools:
    return import_openapi(document(paths, version, **more), "shop", base_url=BASE)


def only(paths: dict[str, Any], version: str = "3.1.0", **more: Any) -> Tool:
    [tool] = imported(paths, version, **more).tools
    return tool


def posting(schema: Any, required: bool = True, media: str = "application/json") -> dict[str, Any]:
    body = {"required": required, "content": {media: {"schema": schema}}}
    return {"/a": {"post": {"operationId": "a", "requestBody": body}}}


def answering(*answers: tuple[Any, Any]) -> dict[str, Any]:
    responses = {
        status: {"content": {"application/json": {"schema": schema}}} if schema is not None else {}
        for status, schema in answers
    }
    return {"/a": {"get": {"operationId": "a", "responses": responses}}}


YAML = """
openapi: 3.0.3
info: {title: Pets, version: 2020-01-01}
servers: [{url: https://suggested.example.com/v1}]
paths:
  /pets/{id}:
    get:
      operationId: getPet
      summary: Get a pet.
      description: Gets one pet. Use list first.
      tags: [pets]
      parameters:
        - {name: id, in: path, required: true, schema: {type: integer}}
        - {name: since, in: query, schema: {type: string, enum: [NO, SE], default: NO}}
      responses:
        200: {content: {application/json: {schema: {type: object, properties: {on: {type: boolean}}}}}}
"""


@pytest.mark.req("BY-20")
def test_a_document_comes_as_data_as_text_and_as_a_file(tmp_path: Path) -> None:
    (tmp_path / "pets.yaml").write_text(YAML)
    data = parse_yaml_1_2(YAML, "pets")
    (tmp_path / "pets.json").write_text(json.dumps(data))
    forms: list[Any] = [
        YAML,
        data,
        json.dumps(data),
        tmp_path / "pets.yaml",
        tmp_path / "pets.json",
    ]
    tools = [import_openapi(form, "shop", base_url=BASE).tools for form in forms]
    assert len({tool.digest for [tool] in tools}) == 1
    [tool] = tools[0]
    assert (tool.id, tool.description, tool.guidance, tool.category) == (
        "shop.getPet",
        "Get a pet.",
        "Gets one pet. Use list first.",
        "pets",
    )
    assert tool.input_schema == snapshot(
        {
            "type": "object",
            "properties": {
                "id": {"type": "integer"},
                "since": {"type": "string", "enum": ["NO", "SE"], "default": "NO"},
            },
            "required": ["id"],
            "additionalProperties": False,
        }
    )
    assert tool.output_schema == {"type": "object", "properties": {"on": {"type": "boolean"}}}


@pytest.mark.req("BY-20")
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"swagger": "2.0", "paths": {}}, "version 2.0"),
        ({"openapi": "4.0.0"}, "version 4.0.0"),
        ({}, "no version"),
        ("[1]", "not an object"),
        ("{", "not JSON"),
        ("a: [", "not YAML"),
        (document({"/": {"get": {"parameters": [{"$ref": "#/components/none"}]}}}), "leads nowhere"),
        (document({"/": {"get": {"parameters": [{"$ref": "other.yaml#/x"}]}}}), "nothing is fetched"),
        (
            document({"/": {"get": {"parameters": [{"$ref": "https://a.b/c"}]}}}),
            "nothing is fetched",
        ),
        (document({"/": {"$ref": "#/paths/~1"}}), "leads to itself"),
        (document(posting({"$ref": "#/x"}), x={"$ref": "#/y"}, y={"$ref": "#/x"}), "leads to itself"),
        (document(posting(7)), "stands where a schema belongs"),
        ({"openapi": "3.1.0", "paths": [1]}, "paths are not an object"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_a_document_that_cannot_be_read_says_why(given: Any, words: str) -> None:
    with pytest.raises(DefinitionError, match=words):
        import_openapi(given, "shop", base_url=BASE)


@pytest.mark.req("BY-20")
def test_a_document_that_says_very_much_in_few_words_is_refused() -> None:
    laughs = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)
    )
    with pytest.raises(OpenAPIError, match="more than"):
        import_openapi(f"openapi: 3.1.0\npaths: {{}}\n{laughs}", "shop", base_url=BASE)
    deep: Any = {}
    for _ in range(5_000):
        deep = {"a": deep}
    with pytest.raises(OpenAPIError, match="nested too deeply"):
        import_openapi(document({}, x=deep), "shop", base_url=BASE)


@pytest.mark.req("BY-20")
def test_the_address_is_the_operators() -> None:
    given = document({}, servers=[{"url": "https://evil.example.com"}])
    with pytest.raises(OpenAPIError, match=r"suggests https://evil\.example\.com"):
        import_openapi(given, "shop")
    for wrong in ("ftp://a", "//a", "api.example.com", "https://u:p@a", "https://a?b=c", "https://a#f"):
        with pytest.raises(OpenAPIError, match=r"base_url|not an http address"):
            import_openapi(given, "shop", base_url=wrong)


@pytest.mark.req("BY-20")
def test_names_come_from_operation_ids_or_from_method_and_path_and_never_clash() -> None:
    found = imported(
        {
            "/a/{id}/b.c": {
                "get": {"parameters": [{"name": "id", "in": "path"}]},
                "put": {"operationId": "x y"},
            },
            "/twin": {"get": {"operationId": "same"}, "post": {"operationId": "same"}},
            "/hump": {"get": {"operationId": "getUser"}, "post": {"operationId": "get_user"}},
            "/odd": {"get": {"operationId": "¿?"}, "post": {"operationId": "l" * 200}},
        }
    )
    assert found.skipped == {"put /a/{id}/b.c": "its path has a place that no parameter fills"}
    assert dict(found.operations) == snapshot(
        {
            "shop.getUser_52fb76d9": "get /hump",
            "shop.get_3ac4551f": "get /odd",
            "shop.get_a_by_id_b_c": "get /a/{id}/b.c",
            "shop.get_user_062185e8": "post /hump",
            "shop.llllllllllllllllllllllllllllllllllllllllllllllllllllllllllll_194ee92a": "post /odd",
            "shop.same_16d17006": "get /twin",
            "shop.same_b2145347": "post /twin",
        }
    )
    assert [tool.id for tool in found.tools] == list(found.operations)
    Handrail(found.tools)


@pytest.mark.req("BY-20")
def test_a_body_that_lists_its_properties_is_flat_and_any_other_is_one_argument() -> None:
    listed = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    assert only(posting(listed)).input_schema["required"] == ["name"]
    nested = [
        {**listed, "additionalProperties": True},
        {**listed, "additionalProperties": {"type": "integer"}},
        {"allOf": [listed]},
        {"type": "array", "items": listed},
        {"type": ["object", "null"], "properties": listed["properties"]},
        True,
    ]
    for schema in nested:
        shown = only(posting(schema)).input_schema
        assert list(shown["properties"]) == ["body"] and shown["required"] == ["body"]
    optional = only(posting(listed, required=False)).input_schema
    assert list(optional["properties"]) == ["body"] and "required" not in optional


@pytest.mark.req("BY-20")
def test_what_cannot_be_sent_is_left_out_with_the_reason() -> None:
    paths = {
        **posting({"type": "object"}, media="multipart/form-data"),
        "/b": {"get": {"operationId": "b", "security": [{"tls": []}]}},
        "/c": {"get": {"operationId": "c", "parameters": [{"name": "x", "in": "path"}]}},
        "/d": {
            "post": {
                "operationId": "d",
                "requestBody": {"content": {"application/json": {"schema": {"type": "nonsense"}}}},
            }
        },
        "e": {"get": {"operationId": "e"}},
        "/f": {"get": {"operationId": "f"}},
    }
    found = imported(paths, components={"securitySchemes": {"tls": {"type": "mutualTLS"}}})
    assert [tool.id for tool in found.tools] == ["shop.f"]
    assert {name: why[:40] for name, why in found.skipped.items()} == snapshot(
        {
            "post /a": "its body is multipart/form-data, and onl",
            "get /b": "it asks for credentials that cannot be g",
            "get /c": "its path has no place for 'x'",
            "get e": "its path does not begin with a slash",
            "post /d": 'its JSON Schema is not usable: "nonsense',
        }
    )
    with pytest.raises(OpenAPIError, match="no operation can be imported; post /a"):
        imported(posting({}, media="image/png"))


@pytest.mark.req("BY-20")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        (
            {"type": "string", "enum": ["a"], "nullable": True},
            {"type": ["string", "null"], "enum": ["a", None]},
        ),
        (
            {"nullable": True, "allOf": [{"type": "string"}]},
            {"anyOf": [{"allOf": [{"type": "string"}]}, {"type": "null"}]},
        ),
        (
            {"type": "number", "minimum": 1, "exclusiveMinimum": True},
            {"type": "number", "exclusiveMinimum": 1},
        ),
        ({"type": "number", "maximum": 1, "exclusiveMaximum": False}, {"type": "number", "maximum": 1}),
        ({"type": "string", "example": "x", "x-y": 1, "xml": {}, "deprecated": True}, {"type": "string"}),
        ({"$ref": "#/components/schemas/T", "description": "left"}, {"$ref": "#/$defs/T"}),
    ],
)
def test_schemas_of_3_0_become_those_of_today(old: Any, new: Any) -> None:
    components = {"schemas": {"T": {"type": "string"}}}
    shown = only(posting({"type": "array", "items": old}), "3.0.3", components=components).input_schema
    assert shown["properties"]["body"]["items"] == new


@pytest.mark.req("BY-20")
def test_schemas_of_3_1_keep_their_words() -> None:
    schema = {"type": ["number", "null"], "exclusiveMinimum": 1, "const": 3}
    components = {"schemas": {"T": {"type": "string"}}}
    both = {"type": "array", "prefixItems": [schema, {"$ref": "#/components/schemas/T", "maxLength": 3}]}
    shown = only(posting(both), components=components).input_schema
    assert shown["properties"]["body"]["prefixItems"] == [schema, {"$ref": "#/$defs/T", "maxLength": 3}]
    assert shown["$defs"] == {"T": {"type": "string"}}


@pytest.mark.req("BY-20")
async def test_schemas_that_refer_to_themselves_stay_finite_and_hold() -> None:
    itself = {"$ref": "#/components/schemas/T"}
    tree = {"type": "object", "properties": {"of": {"type": "array", "items": itself}}}
    paths = posting(itself)
    paths["/a"]["post"]["responses"] = {201: {"content": {"application/json": {"schema": itself}}}}
    tool = only(paths, components={"schemas": {"T": tree}})
    assert tool.input_schema["properties"]["of"]["items"] == {"$ref": "#/$defs/T"}
    assert tool.output_schema is not None and tool.output_schema["$ref"] == "#/$defs/T"
    async with Handrail([tool]) as hr:
        bad = await hr.call("shop.a", {"of": [{"of": [{"of": 3}]}]}, principal=ANA)
        assert bad.code == "INVALID_PARAM"
        good = await hr.call("shop.a", {"of": [{"of": [{"of": []}]}]}, principal=ANA)
        assert good.status == "pending"


@pytest.mark.req("BY-20")
def test_a_long_chain_of_references_is_followed_to_its_end() -> None:
    chain: dict[str, Any] = {
        f"S{n}": {"type": "object", "properties": {"next": {"$ref": f"#/components/schemas/S{n + 1}"}}}
        for n in range(1_500)
    }
    chain["S1500"] = {"type": "string"}
    tool = only(posting({"$ref": "#/components/schemas/S0"}), components={"schemas": chain})
    assert len(tool.input_schema["$defs"]) == 1_500  # the first is flat
    far = only(answering((200, {"$ref": "#/components/schemas/S0"})), components={"schemas": chain})
    assert far.output_schema is None  # more than anybody reads
    near = only(answering((200, {"$ref": "#/components/schemas/S1460"})), components={"schemas": chain})
    assert near.output_schema is not None and len(near.output_schema["$defs"]) == 41
    deep: Any = {"type": "string"}
    for _ in range(300):
        deep = {"type": "array", "items": deep}
    found = imported({**posting(deep), "/b": {"get": {}}})
    assert [tool.id for tool in found.tools] in (["shop.get_b"], ["shop.a", "shop.get_b"])


@pytest.mark.req("BY-20")
def test_what_goes_one_way_only_is_shown_that_way_only() -> None:
    pet = {
        "type": "object",
        "properties": {
            "id": {"type": "integer", "readOnly": True},
            "name": {"type": "string"},
            "password": {"type": "string", "writeOnly": True},
        },
        "required": ["id", "name", "password"],
    }
    paths = posting(pet)
    paths["/a"]["post"]["responses"] = {"200": {"content": {"application/json": {"schema": pet}}}}
    tool = only(paths)
    assert tool.input_schema["required"] == ["name", "password"] == list(tool.input_schema["properties"])
    assert tool.output_schema is not None
    assert tool.output_schema["required"] == ["id", "name"] == list(tool.output_schema["properties"])


@pytest.mark.req("BY-20")
@pytest.mark.parametrize(
    ("answers", "schema"),
    [
        ([("200", {"type": "string"})], {"type": "string"}),
        ([(200, {"type": "string"}), (404, {"type": "integer"})], {"type": "string"}),
        ([("2XX", {"type": "string"})], {"type": "string"}),
        (
            [(200, {"type": "string"}), (202, {"type": "integer"})],
            {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        ),
        ([(200, {"type": "string"}), (204, None)], {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ([(204, None)], None),
        ([("default", {"type": "string"})], None),
        ([], None),
    ],
)
def test_the_output_is_what_a_success_answers(answers: Any, schema: Any) -> None:
    assert only(answering(*answers)).output_schema == schema


@pytest.mark.req("BY-20")
def test_options_are_for_every_tool() -> None:
    paths = {"/a": {"get": {"operationId": "a"}}, "/b": {"get": {"operationId": "b"}}}
    found = import_openapi(document(paths), "shop", base_url=BASE, requires="shop.use", tenants=["acme"])
    assert {(tool.requires, tool.tenants) for tool in found.tools} == {("shop.use", frozenset({"acme"}))}
    assert {tool.capabilities for tool in found.tools} == {frozenset({"network"})}
