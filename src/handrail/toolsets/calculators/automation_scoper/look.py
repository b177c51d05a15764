"""How the Process Automation Scoper is asked and shown."""

from __future__ import annotations

from handrail.ext import FormSpec, OutputSection, ViewSpec

FORM = FormSpec(
    {
        "process": {"placeholder": "Checking of invoices"},
        "runsPerMonth": {"label": "Times a month", "placeholder": "400"},
        "minutesPerRun": {"label": "Time for one", "unit": "minutes", "placeholder": "15"},
        "steps": {"placeholder": "8"},
        "systems": {"placeholder": "2"},
        "exceptionRate": {"label": "Exceptions", "unit": "%", "widget": "slider"},
        "ruleClarity": {"label": "Clear rules", "widget": "slider"},
        "structuredInput": {"label": "Readable input", "widget": "slider"},
        "stability": {"widget": "slider"},
        "hourlyCost": {"label": "Cost of an hour", "group": "Cost and time"},
        "dayRate": {"label": "Cost of a day of building", "group": "Cost and time"},
        "upkeep": {"unit": "% a year", "group": "Cost and time"},
        "years": {"label": "Must pay back within", "unit": "years", "group": "Cost and time"},
    }
)
VIEW = ViewSpec(
    (
        OutputSection(
            "summary",
            "Summary",
            "summary",
            {
                "figures": [
                    {"key": "decision"},
                    {"key": "suitability", "unit": "of 100", "decimals": 1},
                    {"key": "payback", "unit": "months", "decimals": 1},
                    {"key": "hoursSaved", "unit": "hours a month", "decimals": 1},
                    {"key": "coverage", "label": "Done by itself", "unit": "%", "decimals": 1},
                    {"key": "effortDays", "label": "Effort", "unit": "days", "decimals": 1},
                    {"key": "buildCost", "decimals": 2},
                    {"key": "yearlySaving", "decimals": 2},
                    {"key": "netGain", "decimals": 2},
                    {"key": "verdict", "label": "In short"},
                ]
            },
        ),
        OutputSection(
            "checks", "Why", "table", {"columns": [{"key": "check"}, {"key": "holds"}, {"key": "reason"}]}
        ),
        OutputSection(
            "factors",
            "What the suitability is made of",
            "radar",
            {"axis": "factor", "value": "score", "min": 0, "max": 100},
        ),
        OutputSection(
            "years",
            "What has come in, year by year",
            "chart",
            {"kind": "bar", "x": "year", "y": [{"key": "cumulative", "label": "Savings less costs"}]},
        ),
    )
)
