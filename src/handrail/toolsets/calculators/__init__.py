"""Eight calculators, the first content of the library: each a module with its formulas, form and view.

Named in `handrail.toml` like any toolset: `tools = ["handrail.toolsets.calculators"]`.
"""

from handrail.toolsets.calculators.ai_readiness import assess_ai_readiness
from handrail.toolsets.calculators.automation_scoper import scope_automation
from handrail.toolsets.calculators.complexity import estimate_complexity
from handrail.toolsets.calculators.fte_impact import calculate_fte_impact
from handrail.toolsets.calculators.priority_matrix import rank_priorities
from handrail.toolsets.calculators.quick_score import score_quickly
from handrail.toolsets.calculators.roi import calculate_roi
from handrail.toolsets.calculators.time_savings import calculate_time_savings

__all__ = [
    "assess_ai_readiness",
    "calculate_fte_impact",
    "calculate_roi",
    "calculate_time_savings",
    "estimate_complexity",
    "score_quickly",
    "rank_priorities",
    "scope_automation",
]
