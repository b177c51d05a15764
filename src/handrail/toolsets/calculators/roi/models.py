"""What the ROI Calculator asks for and tells."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from handrail.toolsets.calculators.shapes import Given, Money, Never, Percent, Told, Verdict

Rate = Annotated[float, Field(ge=-10, le=100)]
Growth = Annotated[float, Field(ge=-100, le=100)]


class Investment(Given):
    """An investment and what it brings."""

    initial_cost: Money = Field(description="What is paid before the first year, such as 120000.")
    yearly_benefit: Money = Field(
        description="What it brings or saves in the first full year, before costs, such as 68000."
    )
    yearly_cost: Money = Field(default=0, description="What it costs to run in each year.")
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
    first_year_share: Percent = Field(
        default=100, description="Percent of the benefit that the first year brings, while it is introduced."
    )
    residual_value: Money = Field(
        default=0, description="What can still be sold at the end of the last year."
    )


class RoiSummary(Told):
    npv: float = Field(description="Net present value: what it is worth today beyond its cost.")
    roi: float | None = Field(description="Net gain in percent of all costs; null when there are no costs.")
    payback: float | Never = Field(description="After how many years it has paid back, or Never.")
    discounted_payback: float | Never = Field(description="The same in today's money.")
    irr: float | None = Field(
        description="Internal rate of return in percent; null when there is none or more than one."
    )
    total_benefit: float = Field(description="All benefits, with the residual value.")
    total_cost: float = Field(description="All costs.")
    net_gain: float = Field(description="Benefits less costs, not discounted.")
    verdict: Verdict = ""


class YearlyResult(Told):
    year: int = Field(description="0 is before the first year.")
    benefit: float = Field(description="What the year brings.")
    cost: float = Field(description="What the year costs.")
    net: float = Field(description="Benefit less cost.")
    cumulative: float = Field(description="Net of this year and all before.")
    present_value: float = Field(description="Net of the year in today's money.")
    cumulative_present_value: float = Field(description="Present value of this year and all before.")
    roi: float | None = Field(description="Net so far in percent of the costs so far; null without costs.")


class RoiResult(Told):
    summary: RoiSummary = Field(description="The figures that decide.")
    yearly_results: list[YearlyResult] = Field(description="Year by year, from before the first.")
