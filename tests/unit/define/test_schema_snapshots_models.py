"""Exactly what a model is shown of parameters that are models, unions, enumerations and trees."""

from __future__ import annotations

import enum
from typing import Annotated, Any, Literal, Optional

import pytest
from inline_snapshot import snapshot
from pydantic import BaseModel, Field

from handrail import Handrail, Tool, tool


async def shown(made: Tool) -> Any:
    """The parameters of a tool as they go to a provider."""
    async with Handrail([made]) as hr:
        [exported] = await hr.export("openai")
        [other] = await hr.export("anthropic")
    assert other["input_schema"] == exported["function"]["parameters"]
    return exported["function"]["parameters"]


class Priority(enum.Enum):
    """How soon it must be done."""

    LOW = "low"
    HIGH = "high"


class Address(BaseModel):
    """Where somebody lives."""

    street: str
    town: str = "Bonn"


class Person(BaseModel):
    name: str = Field(description="First and last name.")
    address: Address
    others: list[Address] = []


class Node(BaseModel):
    label: str
    children: list[Node] = []


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    tricks: list[str]


@pytest.mark.req("SC-02", "SC-01")
async def test_nested_models() -> None:
    @tool("people.add", level="read")
    def add(person: Person, backup: Optional[Person] = None) -> str:  # noqa: UP045
        """Add a person."""
        return person.name

    assert await shown(add) == snapshot(
        {
            "type": "object",
            "properties": {
                "person": {"$ref": "#/$defs/Person"},
                "backup": {"anyOf": [{"$ref": "#/$defs/Person"}, {"type": "null"}], "default": None},
            },
            "$defs": {
                "Address": {
                    "additionalProperties": False,
                    "description": "Where somebody lives.",
                    "properties": {
                        "street": {"type": "string"},
                        "town": {"default": "Bonn", "type": "string"},
                    },
                    "required": ["street"],
                    "type": "object",
                },
                "Person": {
                    "additionalProperties": False,
                    "properties": {
                        "name": {"description": "First and last name.", "type": "string"},
                        "address": {"$ref": "#/$defs/Address"},
                        "others": {"default": [], "items": {"$ref": "#/$defs/Address"}, "type": "array"},
                    },
                    "required": ["name", "address"],
                    "type": "object",
                },
            },
            "additionalProperties": False,
            "required": ["person"],
        }
    )


@pytest.mark.req("SC-02")
async def test_a_model_as_the_whole_input() -> None:
    @tool("people.add", level="read", input=Person)
    def add(args: Person) -> str:
        """Add a person."""
        return args.name

    assert await shown(add) == snapshot(
        {
            "type": "object",
            "properties": {
                "name": {"description": "First and last name.", "type": "string"},
                "address": {"$ref": "#/$defs/Address"},
                "others": {"default": [], "items": {"$ref": "#/$defs/Address"}, "type": "array"},
            },
            "$defs": {
                "Address": {
                    "additionalProperties": False,
                    "description": "Where somebody lives.",
                    "properties": {
                        "street": {"type": "string"},
                        "town": {"default": "Bonn", "type": "string"},
                    },
                    "required": ["street"],
                    "type": "object",
                }
            },
            "additionalProperties": False,
            "required": ["name", "address"],
        }
    )


@pytest.mark.req("SC-02")
async def test_unions() -> None:
    @tool("pets.add", level="read")
    def add(
        pet: Annotated[Cat | Dog, Field(discriminator="kind")],
        toy: Cat | str | None = None,
        age: int | float = 1,
    ) -> str:
        """Add a pet."""
        return pet.kind

    assert await shown(add) == snapshot(
        {
            "type": "object",
            "properties": {
                "pet": {"oneOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}]},
                "toy": {
                    "anyOf": [{"$ref": "#/$defs/Cat"}, {"type": "string"}, {"type": "null"}],
                    "default": None,
                },
                "age": {"anyOf": [{"type": "integer"}, {"type": "number"}], "default": 1},
            },
            "$defs": {
                "Cat": {
                    "additionalProperties": False,
                    "properties": {
                        "kind": {"const": "cat", "type": "string"},
                        "lives": {"default": 9, "type": "integer"},
                    },
                    "required": ["kind"],
                    "type": "object",
                },
                "Dog": {
                    "additionalProperties": False,
                    "properties": {
                        "kind": {"const": "dog", "type": "string"},
                        "tricks": {"items": {"type": "string"}, "type": "array"},
                    },
                    "required": ["kind", "tricks"],
                    "type": "object",
                },
            },
            "additionalProperties": False,
            "required": ["pet"],
        }
    )


@pytest.mark.req("SC-02")
async def test_enums_and_literals() -> None:
    @tool("tasks.add", level="read")
    def add(
        status: Literal["todo", "done"],
        priority: Priority = Priority.LOW,
        levels: list[Priority] = [],  # noqa: B006
        answer: Literal[42] = 42,
    ) -> str:
        """Add a task."""
        return status

    assert await shown(add) == snapshot(
        {
            "type": "object",
            "properties": {
                "status": {"enum": ["todo", "done"], "type": "string"},
                "priority": {"$ref": "#/$defs/Priority", "default": "low"},
                "levels": {"default": [], "items": {"$ref": "#/$defs/Priority"}, "type": "array"},
                "answer": {"const": 42, "default": 42, "type": "integer"},
            },
            "$defs": {
                "Priority": {
                    "description": "How soon it must be done.",
                    "enum": ["low", "high"],
                    "type": "string",
                }
            },
            "additionalProperties": False,
            "required": ["status"],
        }
    )


@pytest.mark.req("SC-02")
async def test_a_recursive_model_inside() -> None:
    @tool("tree.add", level="read")
    def add(node: Node) -> Node:
        """Add a tree."""
        return node

    assert await shown(add) == snapshot(
        {
            "type": "object",
            "properties": {"node": {"$ref": "#/$defs/Node"}},
            "$defs": {
                "Node": {
                    "additionalProperties": False,
                    "properties": {
                        "label": {"type": "string"},
                        "children": {"default": [], "items": {"$ref": "#/$defs/Node"}, "type": "array"},
                    },
                    "required": ["label"],
                    "type": "object",
                }
            },
            "additionalProperties": False,
            "required": ["node"],
        }
    )


@pytest.mark.req("SC-02", "SC-06")
async def test_a_recursive_model_as_the_whole_input_shows_its_properties_at_the_top() -> None:
    @tool("tree.add", level="read", input=Node)
    def add(args: Node) -> Node:
        """Add a tree."""
        return args

    assert await shown(add) == snapshot(
        {
            "type": "object",
            "properties": {
                "label": {"type": "string"},
                "children": {"default": [], "items": {"$ref": "#/$defs/Node"}, "type": "array"},
            },
            "additionalProperties": False,
            "required": ["label"],
            "$defs": {
                "Node": {
                    "additionalProperties": False,
                    "properties": {
                        "label": {"type": "string"},
                        "children": {"default": [], "items": {"$ref": "#/$defs/Node"}, "type": "array"},
                    },
                    "required": ["label"],
                    "type": "object",
                }
            },
        }
    )
    assert add.output_schema == snapshot(
        {
            "properties": {
                "label": {"type": "string"},
                "children": {"default": [], "items": {"$ref": "#/$defs/Node"}, "type": "array"},
            },
            "required": ["label"],
            "type": "object",
            "$defs": {
                "Node": {
                    "properties": {
                        "label": {"type": "string"},
                        "children": {"default": [], "items": {"$ref": "#/$defs/Node"}, "type": "array"},
                    },
                    "required": ["label"],
                    "type": "object",
                }
            },
        }
    )
