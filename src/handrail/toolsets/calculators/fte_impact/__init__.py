"""FTE Impact Calculator: what a change in work means for the size of a team."""

from handrail.toolsets.calculators.fte_impact.definition import calculate_fte_impact

__all__ = ["calculate_fte_impact"]
