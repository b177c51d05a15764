"""Time Savings Calculator: hours that a quicker way of working sets free, month by month."""

from handrail.toolsets.calculators.time_savings.definition import calculate_time_savings

__all__ = ["calculate_time_savings"]
