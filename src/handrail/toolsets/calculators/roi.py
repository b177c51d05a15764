"""ROI Calculator: is an investment worth it, and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate
from typing import Annotated

from pydantic import Field

from handrail.ext.forms import FormGroup, FormSpec
from handrail.toolsets.calculators import schemas
from handrail.toolsets.calculators.calculator import calculator, chart_section, summary_section, table_section
from handrail.toolsets.calculators.decimals import (
    HUNDRED,
    ONE,
    ZERO,
    cents,
    format_duration,
    format_number,
    from_percent,
    rounded,
    rounded_or_never,
    rounded_or_none,
    with_decimal_context,
)

Rate = Annotated[float, Field(ge=-10, le=100)]
Growth = Annotated[float, Field(ge=-100, le=100)]


class Investment(schemas.CalculatorInput):
    """An investment and what it brings."""

    initial_cost: schemas.Money = Field(description="What is paid before the first year, such as 120000.")
    yearly_benefit: schemas.Money = Field(
        description="What it brings or saves in the first full year, before costs, such as 68000."
    )
    yearly_cost: schemas.Money = Field(default=0, description="What it costs to run in each year.")
    years: Annotated[int, Field(ge=1, le=50)] = Field(
        default=5, description="For how many years it is looked at, 1 to 50."
    )
    discount_rate: Rate = Field(
        default=8,
        description="Percent a year that the money would earn elsewhere, -10 to 100; 0: all years alike.",
    )
    benefit_growth: Growth = Field(
        default=0, description="Percent by which the benefit changes from year to year, -100 to 100."
    )
    first_year_share: schemas.Percent = Field(
        default=100, description="Percent of the benefit that the first year brings, while it is introduced."
    )
    residual_value: schemas.Money = Field(
        default=0, description="What can still be sold at the end of the last year."
    )


class RoiSummary(schemas.CalculatorOutput):
    npv: float = Field(description="Net present value: what it is worth today beyond its cost.")
    roi: float | None = Field(description="Net gain in percent of all costs; null when there are no costs.")
    payback: float | schemas.Never = Field(description="After how many years it has paid back, or Never.")
    discounted_payback: float | schemas.Never = Field(description="The same in today's money.")
    irr: float | None = Field(
        description="Internal rate of return in percent; null when there is none or more than one."
    )
    total_benefit: float = Field(description="All benefits, with the residual value.")
    total_cost: float = Field(description="All costs.")
    net_gain: float = Field(description="Benefits less costs, not discounted.")
    verdict: schemas.Verdict = ""


class YearlyResult(schemas.CalculatorOutput):
    year: int = Field(description="0 is before the first year.")
    benefit: float = Field(description="What the year brings.")
    cost: float = Field(description="What the year costs.")
    net: float = Field(description="Benefit less cost.")
    cumulative: float = Field(description="Net of this year and all before.")
    present_value: float = Field(description="Net of the year in today's money.")
    cumulative_present_value: float = Field(description="Present value of this year and all before.")
    roi: float | None = Field(description="Net so far in percent of the costs so far; null without costs.")


class RoiResult(schemas.CalculatorOutput):
    summary: RoiSummary = Field(description="The figures that decide.")
    yearly_results: list[YearlyResult] = Field(description="Year by year, from before the first.")


_MAX_BISECTIONS = 200


@dataclass(frozen=True, slots=True)
class CashFlowYear:
    """What one year brings and costs."""

    benefit: Decimal
    cost: Decimal

    @property
    def net(self) -> Decimal:
        return self.benefit - self.cost


def cash_flow(
    initial_cost: Decimal,
    yearly_benefit: Decimal,
    yearly_cost: Decimal,
    years: int,
    growth: Decimal = ZERO,
    first_share: Decimal = ONE,
) -> list[CashFlowYear]:
    """Benefit of year t: B × (1 + g)^(t−1), and of that only a share in the first year."""
    flow = [CashFlowYear(ZERO, initial_cost)]
    benefit = yearly_benefit
    for year in range(1, years + 1):
        flow.append(CashFlowYear(benefit * first_share if year == 1 else benefit, yearly_cost))
        benefit *= ONE + growth
    return flow


def present_values(nets: Sequence[Decimal], rate: Decimal) -> list[Decimal]:
    """N_t / (1 + r)^t for each year t, beginning with 0."""
    return [net / (ONE + rate) ** year for year, net in enumerate(nets)]


def npv(nets: Sequence[Decimal], rate: Decimal) -> Decimal:
    """Net present value: the sum of the present values."""
    return sum(present_values(nets, rate), ZERO)


def roi(benefit: Decimal, cost: Decimal) -> Decimal | None:
    """(benefit − cost) / cost in percent; None when nothing was spent."""
    return None if cost == 0 else HUNDRED * (benefit - cost) / cost


def payback(nets: Sequence[Decimal], at_the_end: Decimal = ZERO) -> Decimal | None:
    """After how many years the sum of what came in is 0 or more and stays so; None when it never does.

    Within a year money is taken to come in evenly. What comes at the end of the last year comes only then.
    """
    sums = running_sums(nets)
    owing = [year for year, total in enumerate(sums) if total < 0]
    if not owing:
        return ZERO
    last = owing[-1]
    if last == len(sums) - 1:
        return Decimal(last) if sums[last] + at_the_end >= 0 else None
    return last - sums[last] / nets[last + 1]


def irr(nets: Sequence[Decimal]) -> Decimal | None:
    """The rate at which the net present value is 0, as a factor.

    Only when money first goes out and then comes in: with one change of sign there is exactly one such rate
    above −100 % (Descartes), with more there can be several, and none of them means anything.
    """
    paid = [net > 0 for net in nets if net != 0]
    if len(paid) < 2 or paid[0] or not paid[-1] or paid != sorted(paid):
        return None
    first = next(year for year, net in enumerate(nets) if net != 0)
    flow = nets[first:]

    def worth(factor: Decimal) -> Decimal:
        total = ZERO
        for net in reversed(flow):
            total = total * factor + net
        return total

    low, high = ZERO, ONE
    while worth(high) < 0:
        low, high = high, high * 2
    for _ in range(_MAX_BISECTIONS):
        middle = (low + high) / 2
        if high - low <= middle * Decimal("1e-20"):
            break
        low, high = (middle, high) if worth(middle) < 0 else (low, middle)
    return 2 / (low + high) - ONE


def running_sums(values: Sequence[Decimal]) -> list[Decimal]:
    """Each with the sum of all before it."""
    return list(accumulate(values))


@with_decimal_context
def calculate(inputs: Investment) -> RoiResult:
    """All figures, rounded."""
    rate, residual = from_percent(inputs.discount_rate), cents(inputs.residual_value)
    flow = cash_flow(
        cents(inputs.initial_cost),
        cents(inputs.yearly_benefit),
        cents(inputs.yearly_cost),
        inputs.years,
        from_percent(inputs.benefit_growth),
        from_percent(inputs.first_year_share),
    )
    bare = [year.net for year in flow]
    flow[-1] = CashFlowYear(flow[-1].benefit + residual, flow[-1].cost)
    nets = [year.net for year in flow]
    worth = present_values(nets, rate)
    discounted = present_values(bare, rate)
    last = worth[-1] - discounted[-1]
    years = payback(bare, residual)
    today = payback(discounted, last)
    benefits = running_sums([year.benefit for year in flow])
    costs = running_sums([year.cost for year in flow])
    internal = irr(nets)
    value = rounded(sum(worth, Decimal(0)))
    summary = RoiSummary(
        npv=value,
        roi=rounded_or_none(roi(benefits[-1], costs[-1])),
        payback=rounded_or_never(years),
        discounted_payback=rounded_or_never(today),
        irr=None if internal is None else rounded(internal * HUNDRED),
        total_benefit=rounded(benefits[-1]),
        total_cost=rounded(costs[-1]),
        net_gain=rounded(benefits[-1] - costs[-1]),
        verdict=_verdict(value, years, inputs),
    )
    rows = zip(flow, running_sums(nets), worth, running_sums(worth), benefits, costs, strict=True)
    return RoiResult(
        summary=summary,
        yearly_results=[
            YearlyResult(
                year=number,
                benefit=rounded(year.benefit),
                cost=rounded(year.cost),
                net=rounded(year.net),
                cumulative=rounded(total),
                present_value=rounded(present),
                cumulative_present_value=rounded(presents),
                roi=rounded_or_none(roi(benefit, cost)),
            )
            for number, (year, total, present, presents, benefit, cost) in enumerate(rows)
        ],
    )


def _verdict(value: float, years: Decimal | None, inputs: Investment) -> str:
    span = "a year" if inputs.years == 1 else f"{inputs.years} years"
    if years is None:
        paid = f"It does not pay back within {span}"
    else:
        paid = f"It pays back {format_duration(rounded(years, 1), 'year')}"
    rate = f"money that earns {format_number(inputs.discount_rate)} % elsewhere"
    if value == 0:
        return f"{paid}, and is worth exactly as much as {rate}."
    joined = "and" if (value > 0) == (years is not None) else "but"
    compared = "more" if value > 0 else "less"
    return f"{paid}, {joined} is worth {format_number(abs(value))} {compared} than {rate}."


FORM = FormSpec(
    {
        "initialCost": {"placeholder": "120000"},
        "yearlyBenefit": {"placeholder": "68000"},
        "discountRate": {"unit": "% a year"},
        "benefitGrowth": {"unit": "% a year"},
        "firstYearShare": {"unit": "%", "widget": "slider"},
    },
    groups=(FormGroup("Fine tuning", ("benefitGrowth", "firstYearShare", "residualValue"), closed=True),),
)

SECTIONS = (
    summary_section(
        {"key": "npv", "label": "Net present value", "decimals": 2},
        {"key": "payback", "unit": "years", "decimals": 1},
        {"key": "discountedPayback", "label": "Discounted payback", "unit": "years", "decimals": 1},
        {"key": "roi", "label": "Return", "unit": "%", "decimals": 1},
        {"key": "irr", "label": "Internal rate of return", "unit": "%", "decimals": 1},
        {"key": "netGain", "label": "Net gain", "decimals": 2},
        {"key": "totalBenefit", "label": "All benefits", "decimals": 2},
        {"key": "totalCost", "label": "All costs", "decimals": 2},
    ),
    table_section(
        "yearlyResults",
        "Year-by-Year",
        {"key": "year", "format": "integer"},
        {"key": "benefit", "decimals": 2},
        {"key": "cost", "decimals": 2},
        {"key": "net", "decimals": 2},
        {"key": "cumulative", "label": "So far", "decimals": 2},
        {"key": "presentValue", "label": "Present value", "decimals": 2},
        {"key": "roi", "label": "Return", "unit": "%", "decimals": 1},
    ),
    chart_section(
        "yearlyResults",
        "What has come in, year by year",
        "line",
        "year",
        {"key": "cumulative", "label": "Cash", "decimals": 2},
        {"key": "cumulativePresentValue", "label": "Discounted", "decimals": 2},
    ),
)


@calculator(
    "analysis.calculateRoi",
    slug="roi-calculator",
    name="ROI Calculator",
    icon="calculator",
    form=FORM,
    sections=SECTIONS,
    rows="yearly_results",
    limit=51,
)
def calculate_roi(args: Investment) -> RoiResult:
    """Calculate what an investment is worth: net present value, payback and return year by year, from its
    costs and yearly benefits.

    Use it to judge one investment, or two by calling it twice with the same rate. Not for hours that are
    saved: use analysis.calculateTimeSavings first, and take its value as the benefit.
    """
    return calculate(args)
