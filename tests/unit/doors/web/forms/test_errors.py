"""Words: every reason of the guard, as the person at the form reads it."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, HttpUrl

from handrail import tool
from handrail.core.define.validation import InvalidValue, schema_validator
from handrail.core.guard.admit import Admitted, admit
from handrail.doors.web.forms.errors import error_sentence


@tool("forms.words", level="read")
def words(
    i: Annotated[int, Field(ge=1, le=5)] = 1,
    f: Annotated[float, Field(gt=0)] = 1,
    s: Annotated[str, Field(min_length=3, pattern="^[a-z]+$")] = "abc",
    d: date = date(2026, 3, 31),
    t: datetime | None = None,
    c: Literal["a", "b"] = "a",
    u: HttpUrl | None = None,
    many: Annotated[list[int] | None, Field(min_length=2)] = None,
    x: Decimal = Decimal(1),
    b: bool = False,
    o: int | str = 1,
) -> int:
    """Take one of everything."""
    return 1


@pytest.mark.req("UI-17")
@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"i": 9}, "It must be 5 or less."),
        ({"i": 0}, "It must be 1 or more."),
        ({"i": "68k"}, "It must be a whole number."),
        ({"f": 0}, "It must be more than 0."),
        ({"s": "A"}, "It must have at least 3 characters."),
        ({"s": "ABC"}, "It must look like ^[a-z]+$."),
        ({"d": "2026-02-30"}, "It must be a date such as 2026-03-31."),
        ({"c": "z"}, "It must be 'a' or 'b'."),
        ({"many": [1]}, "It needs at least 2 entries."),
        ({"many": "x"}, "It must be a list."),
        ({"x": "q"}, "It must be a number."),
        ({"b": "maybe"}, "It must be yes or no."),
        ({"o": [1]}, "It must be a whole number or text."),
    ],
)
def test_a_tool_of_python_types_is_refused_in_words(args: dict[str, Any], said: str) -> None:
    refused = admit(words, args)
    assert not isinstance(refused, Admitted)
    assert error_sentence("It", refused[0].reason) == said


@pytest.mark.req("UI-17")
@pytest.mark.parametrize(
    ("schema", "value", "said"),
    [
        ({"minimum": 1}, 0, "It must be 1 or more."),
        ({"exclusiveMinimum": 0}, 0, "It must be more than 0."),
        ({"maximum": 1}, 2, "It must be 1 or less."),
        ({"multipleOf": 5}, 3, "It must be a multiple of 5."),
        ({"type": "string"}, 3, "It must be text."),
        ({"type": ["integer", "boolean"]}, "x", "It must be yes or no or a whole number."),
        ({"minLength": 1}, "", "It must have at least 1 character."),
        ({"maxLength": 2}, "abc", "It must have at most 2 characters."),
        ({"pattern": "^a"}, "b", "It must look like ^a."),
        ({"enum": ["a", "b"]}, "c", "It must be one of 'a', 'b'."),
        ({"const": 5}, 4, "It must be 5."),
        ({"minItems": 1}, [], "It needs at least 1 entry."),
        ({"maxItems": 1}, [1, 2], "It takes at most 1 entry."),
        ({"uniqueItems": True}, [1, 1], "It must not hold the same entry twice."),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, [], "It must be text or a whole number."),
        ({"format": "email"}, "x", "It must be an e-mail address."),
        ({"format": "date"}, "x", "It must be a date such as 2026-03-31."),
    ],
)
def test_a_schema_is_refused_in_words(schema: dict[str, Any], value: Any, said: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        schema_validator(schema, formats=True)(value)
    assert error_sentence("It", refused.value.errors[0].reason) == said
