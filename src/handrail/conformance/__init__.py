"""Conformance: what makes a usable tool a good one, as rules that anybody can run over their own tools."""

from handrail.conformance.check import INTENTIONALLY_INPUT_LESS, check, check_ready
from handrail.conformance.finding import Finding
from handrail.conformance.rule import ConformanceRule
from handrail.conformance.rules import RULES

__all__ = ["INTENTIONALLY_INPUT_LESS", "RULES", "ConformanceRule", "Finding", "check", "check_ready"]
