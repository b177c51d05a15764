"""Arguments of tools with a raw JSON Schema: it validates, fills defaults, and reaches nothing outside."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from handrail import Handrail, Outcome, from_json_schema, from_params
from handrail.core.define.validation import InvalidValue, schema_validator
from handrail.ext.errors import DefinitionError


def closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


async def called(schema: dict[str, Any], args: dict[str, Any], **options: Any) -> Outcome:
    made = from_json_schema("take", schema, dict, description="Take values.", level="read", **options)
    async with Handrail([made], repair=False) as hr:
        return await hr.call("take", args)


@pytest.mark.req("SC-10", "TD-07")
@pytest.mark.parametrize(
    ("schema", "fits", "fails"),
    [
        ({"type": "integer"}, 1, True),
        ({"type": "number"}, 1.5, True),
        ({"type": "string", "minLength": 2}, "ab", "a"),
        ({"enum": ["a", None]}, None, "b"),
        ({"const": 1}, 1, 2),
        ({"type": "array", "items": {"type": "integer"}, "uniqueItems": True}, [1, 2], [1, 1]),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, None, 1),
        ({"oneOf": [{"type": "integer"}, {"minimum": 2}]}, 1, 3),
        ({"allOf": [{"minimum": 1}, {"maximum": 2}]}, 2, 3),
        ({"if": {"type": "string"}, "then": {"pattern": "^a"}}, "ab", "b"),
        ({"patternProperties": {"^n_": {"type": "integer"}}}, {"n_a": 1}, {"n_a": "x"}),
        ({"$ref": "#/$defs/tree"}, {"below": {"below": {}}}, {"below": {"below": 1}}),
    ],
)
async def test_a_schema_of_2020_12_decides(schema: Any, fits: Any, fails: Any) -> None:
    whole = {
        **closed(p=schema),
        "$defs": {"tree": {"type": "object", "properties": {"below": {"$ref": "#/$defs/tree"}}}},
    }

    assert (await called(whole, {"p": fits})).result.data == {"p": fits}
    assert (await called(whole, {"p": fails})).code == "INVALID_PARAM"


@pytest.mark.req("SC-10")
async def test_a_schema_may_name_an_older_draft() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        **closed(p={"type": "integer", "minimum": 1, "exclusiveMinimum": True}),
    }

    assert (await called(schema, {"p": 2})).ok
    assert (await called(schema, {"p": 1})).code == "INVALID_PARAM"


@pytest.mark.req("SC-10")
async def test_formats_are_checked_only_where_that_is_asked_for() -> None:
    schema = closed(day={"type": "string", "format": "date"})

    assert (await called(schema, {"day": "soon"})).ok
    assert (await called(schema, {"day": "soon"}, formats=True)).code == "INVALID_PARAM"


@pytest.mark.req("TD-05")
async def test_a_light_declaration_checks_formats() -> None:
    days = {"day": {"type": "string", "format": "date", "description": "Which day."}}
    made = from_params("take", dict, description="Take a day.", level="read", paramSchema=days)

    async with Handrail([made]) as hr:
        assert (await hr.call("take", {"day": "2024-02-29"})).ok
        assert (await hr.call("take", {"day": "2024-02-30"})).code == "INVALID_PARAM"


@pytest.mark.req("SC-10")
async def test_an_unknown_argument_of_a_closed_schema_is_refused_with_the_nearest_name() -> None:
    schema = closed(limit={"type": "integer"}, within=closed(street={"type": "string"}))

    top = await called(schema, {"limti": 3})
    inside = await called(schema, {"within": {"stret": "x"}})

    assert "limti: is not a parameter of this tool; did you mean 'limit'? Known: limit, within" in str(
        top.result
    )
    assert "within.stret: is not known here; did you mean 'street'? Known: street" in str(inside.result)


@pytest.mark.req("SC-10")
async def test_a_foreign_schema_decides_itself_over_unknown_arguments() -> None:
    assert (await called({"type": "object", "properties": {}}, {"anything": [1]})).result.data == {
        "anything": [1]
    }


@pytest.mark.req("SC-10", "TD-06")
async def test_defaults_are_filled_at_every_depth() -> None:
    schema = {
        **closed(
            limit={"type": "integer", "default": 10},
            page={"$ref": "#/$defs/page"},
            tags={"default": ["new"]},
        ),
        "$defs": {"page": {"allOf": [{"properties": {"size": {"default": 5}}}], "properties": {"at": {}}}},
    }

    out = await called(schema, {"page": {"at": 1}})

    assert out.result.data == {"page": {"at": 1, "size": 5}, "limit": 10, "tags": ["new"]}


async def test_a_body_that_changes_a_default_changes_it_for_itself_only() -> None:
    def append(args: Any) -> list[str]:
        args.tags.append("mine")
        return list(args.tags)

    schema = closed(tags={"type": "array", "default": ["new"]})
    made = from_json_schema("append", schema, append, description="Append.", level="read")

    async with Handrail([made]) as hr:
        assert (await hr.call("append")).result.data == ["new", "mine"]
        assert (await hr.call("append")).result.data == ["new", "mine"]
    assert schema["properties"]["tags"]["default"] == ["new"]


async def test_a_body_reads_arguments_as_keys_or_attributes() -> None:
    def read(args: Any) -> list[Any]:
        return [args["limit"], args.limit, args.get("page"), hasattr(args, "page")]

    made = from_json_schema("read", closed(limit={}, page={}), read, description="Read.", level="read")

    async with Handrail([made]) as hr:
        assert (await hr.call("read", {"limit": 3})).result.data == [3, 3, None, False]


async def test_a_refusal_says_where_and_what_is_allowed() -> None:
    schema = closed(
        state={"enum": ["todo", "done"]},
        stars={"type": ["integer", "null"]},
        who={"anyOf": [{"type": "integer"}, {"type": "string", "minLength": 3}]},
    )

    out = await called(schema, {"state": "open", "stars": "x", "who": []})

    told = {field["path"]: field["reason"] for field in out.result.metadata["fields"]}
    assert told["state"] == "should be one of 'todo', 'done', got 'open' (text)"
    assert told["stars"] == "should be null or integer, got 'x' (text)"
    assert told["who"] == "should be integer, got [] (list); or should be string, got [] (list)"


async def test_a_secret_is_never_quoted_in_a_refusal() -> None:
    schema = closed(key={"type": "string", "minLength": 12, "writeOnly": True}, n={"type": "integer"})

    out = await called(schema, {"key": "hunter2", "n": "five"})

    assert "key: does not fit its schema (minLength)" in (out.result.error or "")
    assert "'five'" in (out.result.error or "") and "hunter2" not in str(out.result)


@contextmanager
def listening() -> Iterator[tuple[str, list[bytes]]]:
    """A real server that answers with a schema, and what it was asked."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    asked.append(connection.recv(4096))
                    connection.sendall(b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{}")

        thread = threading.Thread(target=answer)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/schema.json", asked
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()


@pytest.mark.req("SC-10", "TD-27")
@pytest.mark.parametrize("where", ["$ref", "$schema", "nested", "$dynamicRef", "base"])
def test_a_reference_to_the_outside_fetches_nothing_and_is_refused(where: str) -> None:
    with listening() as (url, asked):
        schema = {
            "$ref": {"type": "object", "$ref": url},
            "$schema": {"$schema": url, "type": "object"},
            "nested": closed(p={"items": {"$ref": f"{url}#/$defs/x"}}),
            "$dynamicRef": closed(p={"$dynamicRef": url}),
            "base": {"$id": url, **closed(p={"$ref": "other.json"})},
        }[where]

        with pytest.raises(DefinitionError, match="not usable"):
            from_json_schema("take", schema, dict, description="Take.")

    assert asked == []


@pytest.mark.req("SC-10")
async def test_references_reach_the_schemas_that_are_given_along() -> None:
    resources = {"https://example.com/address": {"type": "object", "required": ["street"]}}
    schema = closed(home={"$ref": "https://example.com/address"})

    assert (await called(schema, {"home": {"street": "x"}}, resources=resources)).ok
    assert (await called(schema, {"home": {}}, resources=resources)).code == "INVALID_PARAM"


@pytest.mark.req("SC-10")
@pytest.mark.parametrize("bad", [{"type": "text"}, {"required": "a"}, {"properties": []}, {"pattern": "("}])
def test_a_schema_that_is_none_is_refused(bad: Any) -> None:
    with pytest.raises(DefinitionError, match="not usable"):
        schema_validator({"type": "object", "properties": {"p": bad}})


@pytest.mark.parametrize(
    "value",
    [10**5000, {"a": 10**5000}, float("nan"), "\ud800", {"\udfff": 1}],
    ids=["huge", "huge inside", "nan", "surrogate", "surrogate as a name"],
)
def test_a_value_that_is_not_json_is_refused_or_taken_but_never_breaks_the_validator(value: Any) -> None:
    validate = schema_validator({"type": "object", "properties": {"p": {"type": "boolean"}}})

    with pytest.raises(InvalidValue):
        validate({"p": value})
