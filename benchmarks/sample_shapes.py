"""Tools in the shapes that people write, beside the flat one of `sample_tool`, which flatters every library.

The bodies do next to nothing, so that what is timed is validation, the pipeline and the result.
"""

from enum import Enum
from typing import Any

from pydantic import BaseModel


class Priority(Enum):
    """How soon somebody should look."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"


async def open_ticket(title: str, priority: Priority, assignee: str | None = None) -> dict[str, Any]:
    """Open a ticket."""
    return {"number": 7, "title": title, "priority": priority.value, "assignee": assignee}


TICKET: dict[str, Any] = {"title": "The lamp is broken", "priority": "high"}
OPENED = {"number": 7, "title": "The lamp is broken", "priority": "high", "assignee": None}


class Address(BaseModel):
    """Where an order goes."""

    street: str
    city: str


class Item(BaseModel):
    """One position of an order."""

    product: str
    quantity: int


class Order(BaseModel):
    """What a customer wants."""

    customer: str
    address: Address
    items: list[Item]


class Receipt(BaseModel):
    """What was ordered."""

    customer: str
    city: str
    items: list[Item]
    quantity: int


async def place_order(order: Order) -> Receipt:
    """Place an order."""
    quantity = sum(item.quantity for item in order.items)
    return Receipt(customer=order.customer, city=order.address.city, items=order.items, quantity=quantity)


ORDER: dict[str, Any] = {
    "order": {
        "customer": "Ada",
        "address": {"street": "1 Main Street", "city": "London"},
        "items": [{"product": "lamp", "quantity": 1}, {"product": "bulb", "quantity": 2}],
    }
}
RECEIPT: dict[str, Any] = {
    "customer": "Ada",
    "city": "London",
    "items": [{"product": "lamp", "quantity": 1}, {"product": "bulb", "quantity": 2}],
    "quantity": 3,
}
