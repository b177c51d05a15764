"""ROI Calculator: is an investment worth it, and when."""

from handrail.toolsets.calculators.roi.definition import calculate_roi

__all__ = ["calculate_roi"]
