"""How the Process Automation Scoper is asked and shown."""

from __future__ import annotations

from handrail.ext import FormGroup, FormSpec, OutputSection, ViewSpec

FORM = FormSpec(
    {
        "process": {"placeholder": "Checking of invoices"},
        "runsPerMonth": {"label": "Times a month", "placeholder": "400"},
        "minutesPerRun": {"label": "Time for one", "unit": "minutes", "placeholder": "15"},
        "steps": {"placeholder": "8"},
        "systems": {"placeholder": "2"},
        "exceptionRate": {"label": "Exceptions", "unit": "%", "widget": "slider"},
        "ruleClarity": {"label": "Clear rules", "widget": "radio", "class": "form-scale"},
        "structuredInput": {"label": "Readable input", "widget": "radio", "class": "form-scale"},
        "stability": {"widget": "radio", "class": "form-scale"},
        "hourlyCost": {"label": "Cost of an hour"},
        "dayRate": {"label": "Cost of a day of building"},
        "upkeep": {"unit": "% a year"},
        "years": {"label": "Must pay back within", "unit": "years"},
    },
    groups=(FormGroup("Cost and time", ("hourlyCost", "dayRate", "upkeep", "years"), closed=True),),
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
                    {"key": "hoursSaved", "label": "Saved a month", "unit": "hours", "decimals": 1},
                    {"key": "coverage", "label": "Done by itself", "unit": "%", "decimals": 1},
                    {"key": "effortDays", "label": "Effort", "unit": "days", "decimals": 1},
                    {"key": "buildCost", "label": "Cost of building", "decimals": 2},
                    {"key": "yearlySaving", "label": "Saved a year", "decimals": 2},
                    {"key": "netGain", "label": "Net gain", "decimals": 2},
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
