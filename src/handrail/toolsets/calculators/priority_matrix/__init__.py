"""Priority Matrix: what to do first."""

from handrail.toolsets.calculators.priority_matrix.definition import rank_priorities

__all__ = ["rank_priorities"]
