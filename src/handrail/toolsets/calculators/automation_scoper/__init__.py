"""Process Automation Scoper: whether a process is worth automating, and with what effort."""

from handrail.toolsets.calculators.automation_scoper.definition import scope_automation

__all__ = ["scope_automation"]
