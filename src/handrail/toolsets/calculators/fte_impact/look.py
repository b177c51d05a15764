"""How the FTE Impact Calculator is asked and shown."""

from __future__ import annotations

from handrail.ext import FormGroup, FormSpec, OutputSection, ViewSpec

FORM = FormSpec(
    {
        "teamSize": {"unit": "full-time equivalents", "placeholder": "6.5"},
        "unitsPerMonth": {"label": "Pieces of work a month", "placeholder": "3000"},
        "minutesPerUnit": {"label": "Time for one", "unit": "minutes", "placeholder": "20"},
        "timeCut": {"label": "Less time by", "unit": "%", "widget": "slider"},
        "shareAffected": {"label": "Of the work, this concerns", "unit": "%", "widget": "slider"},
        "volumeGrowth": {"label": "Work grows by", "unit": "% a year"},
        "weeklyHours": {"label": "Working week", "unit": "hours"},
        "absenceDays": {"label": "Absence", "unit": "days a year"},
        "utilisation": {"unit": "%", "widget": "slider"},
        "yearlyCost": {"label": "Cost of a person a year"},
        "years": {"label": "Look ahead", "unit": "years"},
    },
    groups=(
        FormGroup(
            "Capacity and cost",
            ("weeklyHours", "absenceDays", "utilisation", "yearlyCost", "years"),
            closed=True,
        ),
    ),
)
VIEW = ViewSpec(
    (
        OutputSection(
            "summary",
            "Summary",
            "summary",
            {
                "figures": [
                    {"key": "freed", "label": "Set free", "unit": "FTEs", "decimals": 2},
                    {"key": "neededBefore", "label": "Needed today", "unit": "FTEs", "decimals": 2},
                    {"key": "neededAfter", "label": "Needed after", "unit": "FTEs", "decimals": 2},
                    {"key": "hiresAvoided", "label": "Hires avoided", "format": "integer"},
                    {"key": "loadBefore", "label": "Load today", "unit": "%", "decimals": 1},
                    {"key": "loadAfter", "label": "Load after", "unit": "%", "decimals": 1},
                    {"key": "value", "label": "Worth a year", "decimals": 2},
                    {"key": "hoursFreed", "label": "Set free a year", "unit": "hours", "decimals": 1},
                    {"key": "capacityHours", "label": "One FTE has a year", "unit": "hours", "decimals": 1},
                ]
            },
        ),
        OutputSection(
            "years",
            "Full-time equivalents needed",
            "chart",
            {
                "kind": "line",
                "x": "year",
                "y": [
                    {"key": "neededBefore", "label": "Without it", "decimals": 2},
                    {"key": "neededAfter", "label": "With it", "decimals": 2},
                ],
            },
        ),
        OutputSection(
            "years",
            "Year by year",
            "table",
            {
                "columns": [
                    {"key": "year", "format": "integer"},
                    {"key": "units", "label": "Pieces of work", "decimals": 0},
                    {"key": "neededBefore", "label": "Needed without", "decimals": 2},
                    {"key": "neededAfter", "label": "Needed with", "decimals": 2},
                    {"key": "freed", "label": "Set free", "decimals": 2},
                    {"key": "hiresBefore", "label": "Hires without", "format": "integer"},
                    {"key": "hiresAfter", "label": "Hires with", "format": "integer"},
                    {"key": "value", "label": "Worth", "decimals": 2},
                ]
            },
        ),
    )
)
