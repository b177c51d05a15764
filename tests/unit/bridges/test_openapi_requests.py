"""Any operation with any arguments: each value is found in the request where it belongs, and nowhere else."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qsl, unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail import Handrail, ToolError
from handrail.bridges.openapi import import_openapi
from handrail.bridges.openapi.document import load_document
from handrail.bridges.openapi.operations import ApiOperation, read_operations
from handrail.bridges.openapi.request import build_request
from handrail.ext.errors import DefinitionError

words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
names = st.sampled_from(["id", "Id", "id_path", "a b", "ü", "filter[x]", "x" * 70, "x" * 71, "body", "$ref"])
holes = st.sampled_from(["id", "b", "a b"])
headers = st.sampled_from(["X-Id", "id", "X-Trace"])
visible = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=6)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """One operation with parameters in all places, some of the same name."""
    places = [
        *(
            (one, "path")
            for one in draw(st.lists(st.sampled_from(["id", "b", "a b"]), max_size=2, unique=True))
        ),
        *((one, "query") for one in draw(st.lists(names, max_size=3, unique=True))),
        *((one, "header") for one in draw(st.lists(headers, max_size=2, unique=True))),
        *((one, "cookie") for one in draw(st.lists(st.sampled_from(["id", "sid"]), max_size=2, unique=True))),
    ]
    parts = draw(st.lists(names, max_size=3, unique=True))
    method = draw(st.sampled_from(["get", "put", "post", "delete", "patch", "head"]))
    path = "/api" + "".join(f"/{{{one}}}" for one, where in places if where == "path") + "/end"
    told: dict[str, Any] = {
        "parameters": [{"name": one, "in": where, "schema": {"type": "string"}} for one, where in places]
    }
    if parts:
        schema = {"type": "object", "properties": {one: {"type": "string"} for one in parts}}
        told["requestBody"] = {"content": {"application/json": {"schema": schema}}}
    return {"openapi": draw(st.sampled_from(["3.0.3", "3.1.0"])), "info": {}, "paths": {path: {method: told}}}


def operation(document: dict[str, Any]) -> ApiOperation:
    [one] = read_operations(load_document(document))
    assert isinstance(one, ApiOperation)
    return one


@pytest.mark.req("BY-20")
@settings(max_examples=150)
@given(document=documents(), data=st.data())
def test_each_value_is_found_where_it_belongs(document: dict[str, Any], data: st.DataObject) -> None:
    one = operation(document)
    keys = [field.key for field in one.fields]
    assert len(set(keys)) == len(keys) and all(0 < len(key) <= 64 for key in keys)
    assert list(one.input_schema["properties"]) == keys
    args = {
        field.key: data.draw(visible if field.where == "header" else words, label=field.key)
        for field in one.fields
    }
    given = [args[field.key] for field in one.fields if field.where == "path"]
    if any({".", ".."} & set(value.replace("\\", "/").split("/")) for value in given):
        with pytest.raises(ToolError, match="another address"):
            build_request(one, args)
        return
    request = build_request(one, args)
    path, _, query = request.target.partition("?")
    segments = path.split("/")
    assert [unquote(segment) for segment in segments] == [
        "",
        "api",
        *(args[field.key] for field in one.fields if field.where == "path"),
        "end",
    ]
    sent = {(where, name): value for where, found in _sent(request, query).items() for name, value in found}
    assert sent == {
        (field.where, field.name): args[field.key] for field in one.fields if field.where != "path"
    }


def _sent(request: Any, query: str) -> dict[str, list[tuple[str, str]]]:
    body = json.loads(request.content) if request.content else {}
    return {
        "query": parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query)),
        "header": [(name, value) for name, value in request.headers.items() if name != "Content-Type"],
        "cookie": [(name, unquote(value)) for name, value in request.cookies.items()],
        "body": list(body.items()),
    }


@pytest.mark.req("BY-20")
@settings(max_examples=40)
@given(several=st.lists(documents(), min_size=1, max_size=4), shuffled=st.randoms(use_true_random=False))
def test_tools_are_the_same_in_whatever_order_paths_stand_and_always_register(
    several: list[dict[str, Any]], shuffled: Any
) -> None:
    paths = [(path, item) for one in several for path, item in one["paths"].items()]
    other = list(dict(paths).items())
    shuffled.shuffle(other)
    base = {"openapi": "3.1.0", "info": {}}
    first = import_openapi({**base, "paths": dict(paths)}, "shop", base_url="https://a.example.com")
    second = import_openapi({**base, "paths": dict(other)}, "shop", base_url="https://a.example.com")
    assert [tool.digest for tool in first.tools] == [tool.digest for tool in second.tools]
    assert list(first.operations.items()) == list(second.operations.items())
    assert len(set(first.operations.values())) == len(first.tools) == len({path for path, _ in paths})
    Handrail(first.tools)


@pytest.mark.req("BY-20")
@settings(max_examples=100)
@given(value=st.text(st.sampled_from("./\\%2eE a"), max_size=8))
def test_no_value_changes_how_many_parts_a_path_has(value: str) -> None:
    path = {"get": {"parameters": [{"name": "x", "in": "path", "schema": {}}]}}
    one = operation({"openapi": "3.1.0", "paths": {"/a/{x}/b": path}})
    if not value or {".", ".."} & set(value.replace("\\", "/").split("/")):
        with pytest.raises(ToolError):
            build_request(one, {"x": value})
        return
    target = build_request(one, {"x": value}).target
    assert target.count("/") == 3 and "\\" not in target
    assert unquote(target.split("/")[2]) == value


@pytest.mark.req("BY-20")
@settings(max_examples=150)
@given(
    node=st.recursive(
        st.none() | st.booleans() | st.integers(-2, 2) | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    "type $ref properties items required in name schema content get parameters responses 200 "
                    "requestBody allOf nullable security application/json /a".split()
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=20,
    )
)
def test_no_document_however_odd_fails_in_another_way_than_with_words(node: Any) -> None:
    for odd in ({"openapi": "3.1.0", "paths": node}, {"openapi": "3.0.0", "paths": {"/a": {"post": node}}}):
        with suppress(DefinitionError):
            import_openapi(odd, "shop", base_url="https://a.example.com")
