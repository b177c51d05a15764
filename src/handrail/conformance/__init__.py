"""Conformance: what makes a usable tool a good one, as rules that anybody can run over their own tools."""

from handrail.conformance.check import INTENTIONALLY_INPUT_LESS, RULES, check, check_ready
from handrail.conformance.rule import ConformanceRule, Finding

__all__ = ["INTENTIONALLY_INPUT_LESS", "RULES", "ConformanceRule", "Finding", "check", "check_ready"]
