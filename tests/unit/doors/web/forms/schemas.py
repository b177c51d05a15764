"""Random schemas, and random values: some that fit, some that do not."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

NAMES = st.sampled_from(
    ["a", "b", "name", "a/b", "x~y", "so so", "ü", "", "p[0]", "%41", "q?", "1", "\n", "_do"]
)
TEXTS = st.one_of(
    st.sampled_from(
        [
            "",
            " ",
            "a",
            "0",
            "true",
            "null",
            "=1",
            "=",
            "a\u202eb",
            "\u200b",
            "1.50",
            " x ",
            "a\nb",
            "\na",
            "\r\n",
            "\x00",
            "\t",
        ]
    ),
    st.sampled_from(
        ["2026-03-31", "2026-02-30", "12:00:00Z", "2026-03-31T12:00:00Z", "2026-03-31T12:00:00.50+02:00"]
    ),
    st.sampled_from(
        ["2026-03-31T12:30:01.25-03:30", "12:00", "<b>", "&amp;", '"', "data:text/plain;base64,YQ=="]
    ),
    st.text(max_size=8),
)
NUMBERS = st.one_of(
    st.integers(),
    st.integers(-5, 5),
    st.just(2**63 + 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([1.0, -0.0, 1e22, 0.1]),
)
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=6,
)

_PLAIN: list[dict[str, Any]] = [
    {"type": "string"},
    {"type": "string", "default": "d"},
    {"type": "string", "maxLength": 900},
    {"type": "string", "format": "date"},
    {"type": "string", "format": "time"},
    {"type": "string", "format": "date-time"},
    {"type": "string", "format": "email"},
    {"type": "string", "format": "data-url"},
    {"type": "string", "x-entity-type": "customer"},
    {"type": "string", "examples": ["x", "y"]},
    {"type": "integer"},
    {"type": "number", "default": 1.5},
    {"type": "boolean"},
    {"type": "boolean", "default": False},
    {"type": "null"},
    {"enum": ["a", "b", "", None, 1, True, {"k": [1]}]},
    {"enum": ["a", "b"], "type": "string"},
    {"const": "fixed"},
    {"oneOf": [{"const": "x", "title": "Ex"}, {"const": 2, "title": "Two"}]},
    {"anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^-?\d+(\.\d+)?$"}]},
    {"type": ["string", "integer"]},
    {"type": ["string", "null"]},
    {"type": ["integer", "null"], "default": None},
    {"type": ["boolean", "null"]},
    {"type": ["array", "boolean", "integer", "null", "number", "object", "string"]},
    {"type": "array", "items": {"enum": ["a", "b", 1]}, "uniqueItems": True},
    {"type": "array", "items": {"type": "string"}, "x-entity-type": "c", "x-entity-select": "multiple"},
    {"type": "array", "items": {"type": "string", "format": "data-url"}},
    {"$ref": "#/$defs/tree"},
    {"anyOf": [{"$ref": "#/$defs/tree"}, {"type": "null"}], "default": None},
    {},
]

DEFS: dict[str, Any] = {
    "tree": {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "left": {"$ref": "#/$defs/tree"},
            "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
        },
        "required": ["name"],
    }
}


@st.composite
def _objects(draw: Any, inner: Any) -> dict[str, Any]:
    properties = draw(st.dictionaries(NAMES, inner, max_size=4))
    made: dict[str, Any] = {
        "type": draw(st.sampled_from(["object", ["object", "null"]])),
        "properties": properties,
    }
    made["required"] = [name for name in properties if draw(st.booleans())]
    further = draw(st.sampled_from([None, None, True, False, "schema"]))
    if further is not None:
        made["additionalProperties"] = draw(inner) if further == "schema" else further
    if draw(st.integers(0, 5)) == 0:
        made["if"] = {"required": ["a"]}
        made["then"] = {"properties": {"extra": draw(inner)}}
    return made


def _arrays(inner: Any) -> Any:
    return st.one_of(
        st.builds(lambda items: {"type": "array", "items": items}, inner),
        st.builds(lambda items: {"type": ["array", "null"], "items": items}, inner),
        st.builds(
            lambda first, items: {"type": "array", "prefixItems": first, "items": items},
            st.lists(inner, min_size=1, max_size=3),
            st.one_of(inner, st.just(False)),
        ),
    )


def _unions(inner: Any) -> Any:
    return st.one_of(
        st.builds(lambda parts: {"anyOf": parts}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda parts: {"oneOf": parts}, st.lists(inner, min_size=2, max_size=3)),
        st.builds(lambda parts: {"allOf": parts}, st.lists(inner, min_size=1, max_size=2)),
        st.builds(lambda part: {"anyOf": [part, {"type": "null"}]}, inner),
    )


SCHEMAS = st.recursive(
    st.sampled_from(_PLAIN),
    lambda inner: st.one_of(_objects(inner), _arrays(inner), _unions(inner)),
    max_leaves=8,
).map(lambda made: {**made, "$defs": DEFS})


def fitting(schema: Any, depth: int = 0) -> st.SearchStrategy[Any]:
    """Values that mostly fit a schema."""
    if not isinstance(schema, dict) or depth > 4:
        return SCALARS
    if "$ref" in schema:
        return fitting(DEFS["tree"], depth + 1)
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return st.one_of([fitting(part, depth + 1) for part in schema[key]])
    if "allOf" in schema:
        return fitting(schema["allOf"][0], depth + 1)
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kinds = schema.get("type", [])
    return st.one_of(
        [_of_kind(kind, schema, depth) for kind in ([kinds] if isinstance(kinds, str) else kinds)]
        or [ANYTHING]
    )


def _of_kind(kind: str, schema: dict[str, Any], depth: int) -> st.SearchStrategy[Any]:
    if kind == "object":
        properties = schema.get("properties", {})
        needed = schema.get("required", [])
        made = {name: fitting(part, depth + 1) for name, part in properties.items()}
        return st.fixed_dictionaries(
            {name: made[name] for name in made if name in needed},
            optional={name: made[name] for name in made if name not in needed},
        )
    if kind == "array":
        items = schema.get("items", {})
        first = [fitting(part, depth + 1) for part in schema.get("prefixItems", [])]
        rest = st.just([]) if items is False else st.lists(fitting(items, depth + 1), max_size=3)
        return st.tuples(st.tuples(*first), rest).map(lambda both: [*both[0], *both[1]])
    by_kind: dict[str, st.SearchStrategy[Any]] = {
        "string": TEXTS,
        "integer": st.integers(),
        "number": NUMBERS,
        "boolean": st.booleans(),
    }
    return by_kind.get(kind, st.none())
