"""Quick Score: one thing, rated by criteria of one's own."""

from handrail.toolsets.calculators.quick_score.definition import quick_score

__all__ = ["quick_score"]
