"""How the FTE Impact Calculator is asked and shown."""

from __future__ import annotations

from handrail.ext import FormSpec, OutputSection, ViewSpec

FORM = FormSpec(
    {
        "teamSize": {"unit": "full-time equivalents", "placeholder": "6.5"},
        "unitsPerMonth": {"label": "Pieces of work a month", "placeholder": "3000"},
        "minutesPerUnit": {"label": "Time for one", "unit": "minutes", "placeholder": "20"},
        "timeCut": {"label": "Less time by", "unit": "%", "widget": "slider"},
        "shareAffected": {"label": "Of the work, this concerns", "unit": "%", "widget": "slider"},
        "volumeGrowth": {"label": "Work grows by", "unit": "% a year"},
        "weeklyHours": {"label": "Working week", "unit": "hours", "group": "Capacity and cost"},
        "absenceDays": {"label": "Absence", "unit": "days a year", "group": "Capacity and cost"},
        "utilisation": {"unit": "%", "widget": "slider", "group": "Capacity and cost"},
        "yearlyCost": {"label": "Cost of a person a year", "group": "Capacity and cost"},
        "years": {"label": "Look ahead", "unit": "years", "group": "Capacity and cost"},
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
                    {"key": "freed", "label": "Set free", "unit": "FTEs", "decimals": 2},
                    {"key": "neededBefore", "label": "Needed today", "unit": "FTEs", "decimals": 2},
                    {"key": "neededAfter", "label": "Needed after", "unit": "FTEs", "decimals": 2},
                    {"key": "hiresAvoided", "format": "integer"},
                    {"key": "loadBefore", "label": "Load today", "unit": "%", "decimals": 1},
                    {"key": "loadAfter", "label": "Load after", "unit": "%", "decimals": 1},
                    {"key": "value", "label": "Worth a year", "decimals": 2},
                    {"key": "hoursFreed", "unit": "hours a year", "decimals": 1},
                    {"key": "capacityHours", "label": "One FTE has", "unit": "hours a year", "decimals": 1},
                    {"key": "verdict", "label": "In short"},
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
                    {"key": "neededBefore", "label": "Without the change", "decimals": 2},
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
                    {"key": "neededBefore", "decimals": 2},
                    {"key": "neededAfter", "decimals": 2},
                    {"key": "freed", "label": "Set free", "decimals": 2},
                    {"key": "hiresBefore", "format": "integer"},
                    {"key": "hiresAfter", "format": "integer"},
                    {"key": "value", "label": "Worth", "decimals": 2},
                ]
            },
        ),
    )
)
