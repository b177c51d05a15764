"""How the calculators count: in decimal numbers as they were typed, rounded once, at the end.

Money has two decimals, and a half goes to the even neighbour: over many figures that neither adds nor takes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from functools import wraps
from typing import Literal, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
K = TypeVar("K")

_CONTEXT = Context(prec=60, rounding=ROUND_HALF_EVEN)

ZERO = Decimal(0)
ONE = Decimal(1)
HUNDRED = Decimal(100)
_CENT = Decimal("0.01")


def with_decimal_context(fn: Callable[P, R]) -> Callable[P, R]:
    """The same function, counting with 60 digits whatever the program around it has set."""

    @wraps(fn)
    def counting(*args: P.args, **kwargs: P.kwargs) -> R:
        with localcontext(_CONTEXT):
            return fn(*args, **kwargs)

    return counting


def to_decimal(value: float) -> Decimal:
    """The number that was typed, not its nearest binary neighbour: 0.1 is a tenth."""
    return Decimal(str(value))


def cents(value: float) -> Decimal:
    """An amount of money, to the cent."""
    return to_decimal(value).quantize(_CENT, rounding=ROUND_HALF_EVEN, context=_CONTEXT)


def from_percent(percent: float) -> Decimal:
    """A percentage as a factor: 25 is 0.25."""
    return to_decimal(percent) / HUNDRED


def rounded(value: Decimal, places: int = 2) -> float:
    """The figure that is shown; never a negative zero."""
    step = ONE.scaleb(-places)
    return float(value.quantize(step, rounding=ROUND_HALF_EVEN, context=_CONTEXT)) + 0.0


def rounded_or_none(value: Decimal | None, places: int = 2) -> float | None:
    return None if value is None else rounded(value, places)


def rounded_or_never(value: Decimal | None, places: int = 2) -> float | Literal["Never"]:
    """A point in time, or that it never comes."""
    return "Never" if value is None else rounded(value, places)


def clamp(value: Decimal, low: Decimal = ZERO, high: Decimal = HUNDRED) -> Decimal:
    return max(low, min(high, value))


def mean(values: list[Decimal]) -> Decimal:
    """Of at least one value."""
    return sum(values, ZERO) / len(values)


def normalised(weights: Mapping[K, Decimal]) -> dict[K, Decimal]:
    """Weights that add up to 1; the caller has made sure that one of them is above 0."""
    total = sum(weights.values(), ZERO)
    return {name: weight / total for name, weight in weights.items()}


def format_number(value: float, places: int = 2) -> str:
    """A figure in a sentence: 1,234.50, and 3 rather than 3.00."""
    text = f"{value:,.{places}f}"
    return text.rstrip("0").rstrip(".") if float(value).is_integer() else text


def format_duration(value: float, unit: str) -> str:
    """How long something takes, in a sentence: at once, in 1 year, in 2.5 years."""
    if value == 0:
        return "at once"
    return f"in 1 {unit}" if value == 1 else f"in {format_number(value, 1)} {unit}s"
