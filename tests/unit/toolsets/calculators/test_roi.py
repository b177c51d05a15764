"""ROI Calculator: worked by hand, at the edges, and whatever is put in."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from handrail.toolsets.calculators import roi
from handrail.toolsets.calculators.decimals import with_decimal_context
from handrail.toolsets.calculators.roi import Investment, calculate
from tests.unit.toolsets.calculators.tool_inputs import answer, refusal

AMOUNTS = st.integers(-10_000, 10_000).map(lambda cents: Decimal(cents) / 100)
FLOWS = st.lists(AMOUNTS, min_size=1, max_size=12)
RATES = st.integers(0, 100).map(lambda percent: Decimal(percent) / 100)


def decimals(*values: str | int) -> list[Decimal]:
    return [Decimal(one) for one in values]


@pytest.mark.req("CC-01")
def test_two_years_by_hand() -> None:
    # 600/1.1 = 545.4545..., 600/1.21 = 495.8677...; together 1041.3223 - 1000 = 41.32
    # payback: 400 are missing after a year, 400/600 = 0.6667 of the second
    # discounted: 454.5455 are missing, 454.5455/495.8678 = 0.9167 of the second
    # return: (1200 - 1000)/1000 = 20 %
    # internal rate: 1000 = 600x + 600x², x = (-600 + √2760000)/1200 = 0.884437, 1/x - 1 = 13.07 %
    out = answer(
        roi.calculate_roi, {"initialCost": 1000, "yearlyBenefit": 600, "years": 2, "discountRate": 10}
    )

    assert out["summary"] == {
        "npv": 41.32,
        "roi": 20.0,
        "payback": 1.67,
        "discountedPayback": 1.92,
        "irr": 13.07,
        "totalBenefit": 1200.0,
        "totalCost": 1000.0,
        "netGain": 200.0,
        "verdict": "It pays back in 1.7 years, and is worth 41.32 more than money that earns 10 % elsewhere.",
    }
    assert out["yearlyResults"] == [
        {
            "year": 0,
            "benefit": 0.0,
            "cost": 1000.0,
            "net": -1000.0,
            "cumulative": -1000.0,
            "presentValue": -1000.0,
            "cumulativePresentValue": -1000.0,
            "roi": -100.0,
        },
        {
            "year": 1,
            "benefit": 600.0,
            "cost": 0.0,
            "net": 600.0,
            "cumulative": -400.0,
            "presentValue": 545.45,
            "cumulativePresentValue": -454.55,
            "roi": -40.0,
        },
        {
            "year": 2,
            "benefit": 600.0,
            "cost": 0.0,
            "net": 600.0,
            "cumulative": 200.0,
            "presentValue": 495.87,
            "cumulativePresentValue": 41.32,
            "roi": 20.0,
        },
    ]


@pytest.mark.req("CC-01")
def test_growth_a_slow_start_running_costs_and_a_residual_value_by_hand() -> None:
    # year 1: 500 × 50 % - 100 = 150; year 2: 500 × 1.1 - 100 = 450; year 3: 500 × 1.21 - 100 + 200 = 705
    # worth at 0 %: -1000 + 150 + 450 + 705 = 305
    # payback without the residual value: -850, -400, +105; 2 + 400/505 = 2.79
    # return: benefits 250 + 550 + 605 + 200 = 1605, costs 1300; 305/1300 = 23.46 %
    found = calculate(
        Investment(
            initial_cost=1000,
            yearly_benefit=500,
            yearly_cost=100,
            years=3,
            discount_rate=0,
            benefit_growth=10,
            first_year_share=50,
            residual_value=200,
        )
    )

    assert [year.net for year in found.yearly_results] == [-1000, 150, 450, 705]
    assert (found.summary.npv, found.summary.roi) == (305, 23.46)
    assert found.summary.payback == found.summary.discounted_payback == 2.79


@pytest.mark.req("CC-01")
def test_an_investment_that_never_pays_back_says_so() -> None:
    # 10 × 2.5771 = 25.77 at 8 %: 974.23 less than its cost
    found = calculate(Investment(initial_cost=1000, yearly_benefit=10, years=3)).summary

    assert (found.payback, found.discounted_payback, found.npv) == ("Never", "Never", -974.23)
    assert found.verdict == (
        "It does not pay back within 3 years, and is worth 974.23 less than money that earns 8 % elsewhere."
    )


@pytest.mark.req("CC-01")
def test_what_pays_back_by_its_residual_value_alone_pays_back_at_the_end() -> None:
    found = calculate(Investment(initial_cost=100, yearly_benefit=0, years=4, residual_value=200)).summary

    assert (found.payback, found.discounted_payback) == (4, 4)


@pytest.mark.req("CC-01")
def test_without_a_cost_there_is_no_return_to_speak_of_and_nothing_to_pay_back() -> None:
    found = calculate(Investment(initial_cost=0, yearly_benefit=100, years=1))

    assert (found.summary.roi, found.summary.irr, found.summary.payback) == (None, None, 0)
    assert found.summary.verdict.startswith("It pays back at once, and")
    assert [year.roi for year in found.yearly_results] == [None, None]


@pytest.mark.req("CC-01")
def test_what_slips_into_debt_again_has_not_paid_back_before() -> None:
    # sums: -100, 50, -50, 10; from the last debt of 50 on, 60 come in within a year: 2 + 50/60
    assert round(roi.payback(decimals(-100, 150, -100, 60)) or 0, 4) == Decimal("2.8333")
    assert roi.payback(decimals(0, -5, 2)) is None
    assert roi.payback(decimals(5)) == 0


@pytest.mark.req("CC-01")
def test_there_is_an_internal_rate_only_when_money_first_goes_out_and_then_comes_in() -> None:
    assert round(roi.irr(decimals(-100, 110)) or 0, 10) == Decimal("0.1")
    assert round(roi.irr(decimals(0, -100, 0, 121)) or 0, 10) == Decimal("0.1")
    assert round(roi.irr(decimals(-100, 50)) or 0, 10) == Decimal("-0.5")
    for flow in ([], [-1], [0, 0], [1, 2], [-1, -2], [100, -110], [-100, 230, -132], [-100, 230, -132, 1]):
        assert roi.irr(decimals(*flow)) is None


@pytest.mark.req("CC-01")
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"initialCost": -1}, "initialCost: should be greater than or equal to 0, got -1"),
        ({"initialCost": 1e13}, "initialCost: should be less than or equal to 1000000000000"),
        ({"years": 0}, "years: should be greater than or equal to 1, got 0"),
        ({"discountRate": -11}, "discountRate: should be greater than or equal to -10"),
        ({"yearlyBenefit": "many"}, "yearlyBenefit: should be a valid number, got 'many'"),
    ],
)
def test_what_cannot_be_is_said_at_its_field(wrong: dict[str, object], message: str) -> None:
    args = {"initialCost": 1, "yearlyBenefit": 1, **wrong}

    assert message in refusal(roi.calculate_roi, args)


@pytest.mark.req("CC-01")
def test_its_two_sections_are_as_the_requirement_says() -> None:
    first, second, *_ = roi.calculate_roi.sections

    assert (first.key, first.label, first.type) == ("summary", "Summary", "summary")
    assert (second.key, second.label, second.type) == ("yearlyResults", "Year-by-Year", "table")


@given(FLOWS)
def test_at_a_rate_of_0_the_worth_is_the_sum(flow: list[Decimal]) -> None:
    assert roi.npv(flow, Decimal(0)) == sum(flow)


@given(st.lists(AMOUNTS.map(abs), min_size=1, max_size=8), AMOUNTS.map(abs), RATES, RATES)
def test_the_more_money_earns_elsewhere_the_less_it_is_worth(
    gains: list[Decimal], cost: Decimal, one: Decimal, other: Decimal
) -> None:
    low, high = sorted((one, other))

    assert roi.npv([-cost, *gains], low) >= roi.npv([-cost, *gains], high)


@given(FLOWS, st.data())
def test_more_benefit_never_pays_back_later(flow: list[Decimal], data: st.DataObject) -> None:
    more = [one + data.draw(AMOUNTS.map(abs)) for one in flow]
    worse, better = roi.payback(flow), roi.payback(more)

    assert worse is None or (better is not None and better <= worse)


@given(FLOWS)
def test_it_has_paid_back_exactly_when_the_sum_is_not_below_0(flow: list[Decimal]) -> None:
    years = roi.payback(flow)

    assert (years is None) == (sum(flow) < 0)
    assert years is None or 0 <= years <= len(flow) - 1


@given(st.lists(AMOUNTS.map(abs), min_size=1, max_size=8), AMOUNTS.map(abs))
def test_at_the_internal_rate_it_is_worth_nothing(gains: list[Decimal], cost: Decimal) -> None:
    assume(cost > 0 and any(gains))
    flow = [-cost, *gains]
    rate = with_decimal_context(roi.irr)(flow)

    assert rate is not None and rate > -1
    scale = sum((abs(one) for one in roi.present_values(flow, rate)), Decimal(0))
    assert abs(roi.npv(flow, rate)) <= scale * Decimal("1e-15")


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.integers(1, 50))
def test_the_last_year_tells_the_same_as_the_summary(cost: int, benefit: int, years: int) -> None:
    found = calculate(Investment(initial_cost=cost / 100, yearly_benefit=benefit / 100, years=years))
    last = found.yearly_results[-1]

    assert (last.year, last.cumulative_present_value, last.roi) == (
        years,
        found.summary.npv,
        found.summary.roi,
    )
    assert last.cumulative == found.summary.net_gain
