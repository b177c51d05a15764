"""One tool, written in five ways. Whoever calls it cannot tell them apart."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic import BaseModel, Field

from handrail import BaseTool, Handrail, define, from_json_schema, from_params, tool


def price(weight: float, express: bool) -> float:
    return round(4.9 + 1.2 * weight + (6 if express else 0), 2)


# 1. A decorated function: the parameters are the input, the docstring is the description.


@tool("parcel.price", level="read")
def decorated(weight: float, express: bool = False) -> float:
    """Say what it costs to send a parcel, in EUR.

    Args:
        weight: Weight in kg.
        express: Whether it must arrive tomorrow.
    """
    return price(weight, express)


# 2. A definition: a pydantic model for the input, and a function of it.


class Parcel(BaseModel):
    weight: float = Field(description="Weight in kg.")
    express: bool = Field(False, description="Whether it must arrive tomorrow.")


def priced(parcel: Parcel) -> float:
    return price(parcel.weight, parcel.express)


defined = define(
    "parcel.price",
    {
        "description": "Say what it costs to send a parcel, in EUR.",
        "level": "read",
        "input": Parcel,
        "execute": priced,
    },
)


# 3. A class: options as attributes, the work in `execute`.


class ParcelPrice(BaseTool):
    """Say what it costs to send a parcel, in EUR."""

    id = "parcel.price"
    level = "read"
    input = Parcel

    def execute(self, parcel: Parcel) -> float:
        return price(parcel.weight, parcel.express)


# 4. A light declaration: each parameter's type and description, and which of them are required.

declared = from_params(
    {
        "name": "parcel.price",
        "description": "Say what it costs to send a parcel, in EUR.",
        "permissionLevel": "read",
        "paramSchema": {
            "weight": {"type": "number", "description": "Weight in kg."},
            "express": {
                "type": "boolean",
                "description": "Whether it must arrive tomorrow.",
                "default": False,
            },
        },
        "requiredParams": ["weight"],
        "outputSchema": {"type": "number"},
        "execute": lambda args: price(args["weight"], args["express"]),
    }
)


# 5. A JSON Schema from somewhere else, used as it is.

SCHEMA = {
    "type": "object",
    "properties": {
        "weight": {"type": "number", "description": "Weight in kg."},
        "express": {"type": "boolean", "description": "Whether it must arrive tomorrow.", "default": False},
    },
    "required": ["weight"],
    "additionalProperties": False,
}


def of_schema(args: Any) -> float:
    """Say what it costs to send a parcel, in EUR."""
    return price(args.weight, args.express)


foreign = from_json_schema("parcel.price", SCHEMA, execute=of_schema, level="read", output={"type": "number"})


STYLES = {
    "function": decorated,
    "define": defined,
    "class": ParcelPrice,
    "parameters": declared,
    "JSON Schema": foreign,
}
CALLS: dict[str, dict[str, Any]] = {
    "as it should be": {"weight": 2.5, "express": True},
    "default filled in": {"weight": 2.5},
    "repaired": {"Weight": "2.5 kg", "express": "true"},
    "a name too many": {"weight": 2.5, "fragile": True},
    "nothing given": {},
}


async def main() -> None:
    print(f"{'':<12}  {'  '.join(f'{name:<17}' for name in CALLS)}".rstrip())
    for style, written in STYLES.items():
        async with Handrail([written]) as hr:
            outcomes = [await hr.call("parcel.price", args) for args in CALLS.values()]
        told = [str(one.result.data) if one.ok else str(one.code) for one in outcomes]
        print(f"{style:<12}  {'  '.join(f'{text:<17}' for text in told)}".rstrip())


if __name__ == "__main__":
    asyncio.run(main())
