"""All figures of the ROI Calculator."""

from __future__ import annotations

from decimal import Decimal

from handrail.toolsets.calculators.figures import (
    HUNDRED,
    cents,
    exactly,
    part,
    rounded,
    rounded_or_none,
    spoken,
    spoken_time,
    when,
)
from handrail.toolsets.calculators.roi import formulas
from handrail.toolsets.calculators.roi.models import Investment, RoiResult, RoiSummary, YearlyResult


@exactly
def calculate(given: Investment) -> RoiResult:
    """All figures, rounded."""
    rate, residual = part(given.discount_rate), cents(given.residual_value)
    flow = formulas.cash_flow(
        cents(given.initial_cost),
        cents(given.yearly_benefit),
        cents(given.yearly_cost),
        given.years,
        part(given.benefit_growth),
        part(given.first_year_share),
    )
    bare = [year.net for year in flow]
    flow[-1] = formulas.Year(flow[-1].benefit + residual, flow[-1].cost)
    nets = [year.net for year in flow]
    worth = formulas.present_values(nets, rate)
    discounted = formulas.present_values(bare, rate)
    last = worth[-1] - discounted[-1]
    years = formulas.payback(bare, residual)
    today = formulas.payback(discounted, last)
    benefits = formulas.running([year.benefit for year in flow])
    costs = formulas.running([year.cost for year in flow])
    internal = formulas.irr(nets)
    value = rounded(sum(worth, Decimal(0)))
    summary = RoiSummary(
        npv=value,
        roi=rounded_or_none(formulas.roi(benefits[-1], costs[-1])),
        payback=when(years),
        discounted_payback=when(today),
        irr=None if internal is None else rounded(internal * HUNDRED),
        total_benefit=rounded(benefits[-1]),
        total_cost=rounded(costs[-1]),
        net_gain=rounded(benefits[-1] - costs[-1]),
        verdict=_verdict(value, years, given),
    )
    rows = zip(flow, formulas.running(nets), worth, formulas.running(worth), benefits, costs, strict=True)
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
                roi=rounded_or_none(formulas.roi(benefit, cost)),
            )
            for number, (year, total, present, presents, benefit, cost) in enumerate(rows)
        ],
    )


def _verdict(value: float, years: Decimal | None, given: Investment) -> str:
    span = "a year" if given.years == 1 else f"{given.years} years"
    if years is None:
        paid = f"It does not pay back within {span}"
    else:
        paid = f"It pays back {spoken_time(rounded(years, 1), 'year')}"
    rate = f"money that earns {spoken(given.discount_rate)} % elsewhere"
    if value == 0:
        return f"{paid}, and is worth exactly as much as {rate}."
    joined = "and" if (value > 0) == (years is not None) else "but"
    return f"{paid}, {joined} is worth {spoken(abs(value))} {'more' if value > 0 else 'less'} than {rate}."
