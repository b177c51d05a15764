"""Complexity Estimator: how long a piece of work will take, as a range."""

from handrail.toolsets.calculators.complexity.definition import estimate_complexity

__all__ = ["estimate_complexity"]
