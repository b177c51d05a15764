"""forms.md: hints beside a schema, and a form of one's own for somebody else's tool."""

import asyncio

from pydantic import BaseModel, Field

from handrail import tool
from handrail.doors.web.forms.form import form_of

# region spec
from handrail.ext.forms import FormGroup, FormSpec, register_form_spec

form = FormSpec(
    {
        "rate": {"widget": "slider", "unit": "%", "help": "What the money would earn elsewhere."},
        "flows.*.amount": {"unit": "EUR", "placeholder": "68000"},
        "reason": {"visible_when": {"field": "kind", "is": "other"}},
        "model": {"operator_only": True},
    },
    order=("cost", "rate"),
    groups=(FormGroup("Money", ("cost", "rate")), FormGroup("Year by year", ("flows",), closed=True)),
)
# endregion


class Flow(BaseModel):
    """What comes in during one year."""

    amount: float = Field(description="What comes in, in euros.")


@tool("invest.value", level="read", form=form)
def value(
    cost: float,
    flows: list[Flow],
    rate: int = 5,
    kind: str = "usual",
    reason: str = "",
    model: str = "plain",
) -> float:
    """Say what an investment is worth today, from its cost and what it brings each year.

    Args:
        cost: What it costs now.
        flows: What comes in year by year.
        rate: The yearly rate in percent.
        kind: What kind of investment it is.
        reason: Why it is of another kind.
        model: The model that is used.
    """
    return sum(flow.amount for flow in flows) - cost


async def main() -> None:
    drawn = str(form_of(value).render())
    assert drawn.index("Money") < drawn.index("Year by year") < drawn.index("Additional options")
    # region register
    register_form_spec("tool:invest-value", FormSpec({"cost": {"label": "Price"}}))
    # endregion
    assert "Price" in str(form_of(value).render())
    from handrail.ext.forms import forget_form_spec

    forget_form_spec("tool:invest-value")


if __name__ == "__main__":
    asyncio.run(main())
