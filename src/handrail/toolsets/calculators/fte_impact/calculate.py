"""All figures of the FTE Impact Calculator."""

from __future__ import annotations

from decimal import Decimal

from handrail.toolsets.calculators.figures import (
    cents,
    exact,
    exactly,
    part,
    rounded,
    rounded_or_none,
    spoken,
)
from handrail.toolsets.calculators.fte_impact import formulas
from handrail.toolsets.calculators.fte_impact.models import FteImpact, FteSummary, FteYear, Team


@exactly
def calculate(given: Team) -> FteImpact:
    """All figures, rounded."""
    team = exact(given.team_size)
    hours = formulas.capacity(exact(given.weekly_hours), exact(given.absence_days), part(given.utilisation))
    years = [_year(given, year, hours, team) for year in range(given.years + 1)]
    before, after = _needed(given, 0, hours)
    avoided = years[-1].hires_before - years[-1].hires_after
    return FteImpact(
        summary=FteSummary(
            freed=rounded(before - after),
            needed_before=rounded(before),
            needed_after=rounded(after),
            capacity_hours=rounded(hours, 1),
            load_before=rounded_or_none(formulas.load(before, team), 1),
            load_after=rounded_or_none(formulas.load(after, team), 1),
            hours_freed=rounded((before - after) * hours, 1),
            value=rounded((before - after) * cents(given.yearly_cost)),
            hires_avoided=avoided,
            verdict=_verdict(given, before, after, avoided),
        ),
        years=years,
    )


def _needed(given: Team, year: int, hours: Decimal) -> tuple[Decimal, Decimal]:
    units = formulas.units_in(year, exact(given.units_per_month), part(given.volume_growth))
    minutes = exact(given.minutes_per_unit)
    lighter = formulas.workload(units, minutes, part(given.time_cut), part(given.share_affected))
    return formulas.needed(formulas.workload(units, minutes), hours), formulas.needed(lighter, hours)


def _year(given: Team, year: int, hours: Decimal, team: Decimal) -> FteYear:
    before, after = _needed(given, year, hours)
    return FteYear(
        year=year,
        units=rounded(formulas.units_in(year, exact(given.units_per_month), part(given.volume_growth))),
        needed_before=rounded(before),
        needed_after=rounded(after),
        freed=rounded(before - after),
        hires_before=formulas.hires(before, team),
        hires_after=formulas.hires(after, team),
        value=rounded((before - after) * cents(given.yearly_cost)),
    )


def _verdict(given: Team, before: Decimal, after: Decimal, avoided: int) -> str:
    freed = spoken(rounded(before - after))
    said = f"The change sets {freed} of {spoken(rounded(before))} full-time equivalents free"
    if avoided:
        when = "next year" if given.years == 1 else f"in {given.years} years"
        return f"{said}, and {avoided} fewer {'person' if avoided == 1 else 'people'} must be hired {when}."
    return f"{said}."
