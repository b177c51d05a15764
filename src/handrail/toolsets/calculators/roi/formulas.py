"""The formulas of the ROI Calculator. Rates are factors: 8 % is 0.08. A cash flow begins with year 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate

from handrail.toolsets.calculators.figures import HUNDRED, ONE, ZERO

_STEPS = 200


@dataclass(frozen=True, slots=True)
class Year:
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
) -> list[Year]:
    """Benefit of year t: B × (1 + g)^(t−1), and of that only a share in the first year."""
    flow = [Year(ZERO, initial_cost)]
    benefit = yearly_benefit
    for year in range(1, years + 1):
        flow.append(Year(benefit * first_share if year == 1 else benefit, yearly_cost))
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
    sums = running(nets)
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
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if high - low <= middle * Decimal("1e-20"):
            break
        low, high = (middle, high) if worth(middle) < 0 else (low, middle)
    return 2 / (low + high) - ONE


def running(values: Sequence[Decimal]) -> list[Decimal]:
    """Each with the sum of all before it."""
    return list(accumulate(values))
