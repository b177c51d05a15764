"""AI Readiness Assessment: how far an organisation is, and what holds it back."""

from handrail.toolsets.calculators.ai_readiness.definition import assess_ai_readiness

__all__ = ["assess_ai_readiness"]
