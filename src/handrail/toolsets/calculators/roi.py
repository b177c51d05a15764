"""ROI Calculator: is an investment worth it, and when."""

from __future__ import annotations

from decimal import Decimal

from handrail import Result, tool
from handrail.ext import FormGroup, FormSpec, OutputSection, ViewSpec, build_markdown_table
from handrail.toolsets.calculators import roi_model
from handrail.toolsets.calculators.decimals import (
    HUNDRED,
    cents,
    format_duration,
    format_number,
    from_percent,
    rounded,
    rounded_or_never,
    rounded_or_none,
    with_decimal_context,
)
from handrail.toolsets.calculators.roi_model import Investment, RoiResult, RoiSummary, YearlyResult

__all__ = ["calculate_roi"]


@with_decimal_context
def calculate(inputs: Investment) -> RoiResult:
    """All figures, rounded."""
    rate, residual = from_percent(inputs.discount_rate), cents(inputs.residual_value)
    flow = roi_model.cash_flow(
        cents(inputs.initial_cost),
        cents(inputs.yearly_benefit),
        cents(inputs.yearly_cost),
        inputs.years,
        from_percent(inputs.benefit_growth),
        from_percent(inputs.first_year_share),
    )
    bare = [year.net for year in flow]
    flow[-1] = roi_model.CashFlowYear(flow[-1].benefit + residual, flow[-1].cost)
    nets = [year.net for year in flow]
    worth = roi_model.present_values(nets, rate)
    discounted = roi_model.present_values(bare, rate)
    last = worth[-1] - discounted[-1]
    years = roi_model.payback(bare, residual)
    today = roi_model.payback(discounted, last)
    benefits = roi_model.running_sums([year.benefit for year in flow])
    costs = roi_model.running_sums([year.cost for year in flow])
    internal = roi_model.irr(nets)
    value = rounded(sum(worth, Decimal(0)))
    summary = RoiSummary(
        npv=value,
        roi=rounded_or_none(roi_model.roi(benefits[-1], costs[-1])),
        payback=rounded_or_never(years),
        discounted_payback=rounded_or_never(today),
        irr=None if internal is None else rounded(internal * HUNDRED),
        total_benefit=rounded(benefits[-1]),
        total_cost=rounded(costs[-1]),
        net_gain=rounded(benefits[-1] - costs[-1]),
        verdict=_verdict(value, years, inputs),
    )
    rows = zip(
        flow, roi_model.running_sums(nets), worth, roi_model.running_sums(worth), benefits, costs, strict=True
    )
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
                roi=rounded_or_none(roi_model.roi(benefit, cost)),
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

VIEW = ViewSpec(
    (
        OutputSection(
            "summary",
            "Summary",
            "summary",
            {
                "figures": [
                    {"key": "npv", "label": "Net present value", "decimals": 2},
                    {"key": "payback", "unit": "years", "decimals": 1},
                    {
                        "key": "discountedPayback",
                        "label": "Discounted payback",
                        "unit": "years",
                        "decimals": 1,
                    },
                    {"key": "roi", "label": "Return", "unit": "%", "decimals": 1},
                    {"key": "irr", "label": "Internal rate of return", "unit": "%", "decimals": 1},
                    {"key": "netGain", "label": "Net gain", "decimals": 2},
                    {"key": "totalBenefit", "label": "All benefits", "decimals": 2},
                    {"key": "totalCost", "label": "All costs", "decimals": 2},
                ]
            },
        ),
        OutputSection(
            "yearlyResults",
            "Year-by-Year",
            "table",
            {
                "columns": [
                    {"key": "year", "format": "integer"},
                    {"key": "benefit", "decimals": 2},
                    {"key": "cost", "decimals": 2},
                    {"key": "net", "decimals": 2},
                    {"key": "cumulative", "label": "So far", "decimals": 2},
                    {"key": "presentValue", "label": "Present value", "decimals": 2},
                    {"key": "roi", "label": "Return", "unit": "%", "decimals": 1},
                ]
            },
        ),
        OutputSection(
            "yearlyResults",
            "What has come in, year by year",
            "chart",
            {
                "kind": "line",
                "x": "year",
                "y": [
                    {"key": "cumulative", "label": "Cash", "decimals": 2},
                    {"key": "cumulativePresentValue", "label": "Discounted", "decimals": 2},
                ],
            },
        ),
    )
)


@tool(
    "analysis.calculateRoi",
    input=Investment,
    slug="roi-calculator",
    name="ROI Calculator",
    category="analysis",
    icon="calculator",
    level="read",
    danger="safe",
    idempotent=True,
    sections=VIEW.sections,
    form=FORM,
    view=VIEW,
)
async def calculate_roi(args: Investment) -> RoiResult | Result:
    """Calculate what an investment is worth: net present value, payback and return year by year, from its
    costs and yearly benefits.

    Use it to judge one investment, or two by calling it twice with the same rate. Not for hours that are
    saved: use analysis.calculateTimeSavings first, and take its value as the benefit.
    """
    result = calculate(args)
    return Result(
        data=result,
        summary=result.summary.verdict,
        markdown=build_markdown_table(
            [year.to_dict() for year in result.yearly_results], heading=result.summary.verdict, limit=51
        ),
    )
