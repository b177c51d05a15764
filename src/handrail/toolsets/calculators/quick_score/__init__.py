"""Quick Score: one thing, rated by criteria of one's own."""

from handrail.toolsets.calculators.quick_score.definition import score_quickly

__all__ = ["score_quickly"]
