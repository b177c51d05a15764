"""What inputs and outputs of the calculators share: names on the wire, limits, words for mistakes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

MAX_FIGURE = 1e12
"""No figure is larger, so that every result stays a number which is right to the cent."""

Money = Annotated[float, Field(ge=0, le=MAX_FIGURE)]
Percent = Annotated[float, Field(ge=0, le=100)]
Weight = Annotated[float, Field(ge=0, le=1000)]
Name = Annotated[str, Field(min_length=1, max_length=80)]
Rating = Literal[1, 2, 3, 4, 5]
Never = Literal["Never"]
Verdict = Annotated[str, Field(exclude=True)]
"""What the figures mean, in a sentence: the summary of the result, and no part of its data."""


class CalculatorInput(BaseModel):
    """An input: camelCase on the wire, no unknown names, no infinity."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="forbid",
        allow_inf_nan=False,
        str_strip_whitespace=True,
    )


class CalculatorOutput(BaseModel):
    """An output: camelCase on the wire."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, allow_inf_nan=False)

    def to_dict(self) -> dict[str, Any]:
        return self.model_dump(mode="json", by_alias=True)


def at_least_one(words: str) -> BeforeValidator:
    """Says in plain words that a list is empty, before the list is counted."""

    def check(value: Any) -> Any:
        if value == []:
            raise ValueError(words)
        return value

    return BeforeValidator(check)


def name_key(name: str) -> str:
    """Two spellings of one name have one key: case and spaces make no difference."""
    return " ".join(name.split()).casefold()


def _check_unique_names(items: list[Any]) -> list[Any]:
    """Raise when two have the same name, since nobody could tell their results apart."""
    seen: set[str] = set()
    for item in items:
        key = name_key(item.name)
        if key in seen:
            raise ValueError(f"“{item.name}” is there twice; give each its own name")
        seen.add(key)
    return items


UNIQUE_NAMES = AfterValidator(_check_unique_names)
"""Of a list of things with names: no two have the same."""


def check_weights(weights: Iterable[float]) -> None:
    """Raise when nothing has any weight: there is nothing to divide by."""
    if not any(weight > 0 for weight in weights):
        raise ValueError("all weights are 0; give at least one a weight above 0")
