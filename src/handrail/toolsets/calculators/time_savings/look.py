"""How the Time Savings Calculator is asked and shown."""

from __future__ import annotations

from handrail.ext import FormGroup, FormSpec, OutputSection, ViewSpec

FORM = FormSpec(
    {
        "minutesBefore": {"label": "Time today", "unit": "minutes", "placeholder": "30"},
        "minutesAfter": {"label": "Time in the new way", "unit": "minutes", "placeholder": "10"},
        "tasksPerWeek": {"label": "Times a week, each", "placeholder": "12"},
        "people": {"placeholder": "8"},
        "adoption": {"label": "Taken up in the end", "unit": "%", "widget": "slider"},
        "rampMonths": {"label": "Time until then", "unit": "months"},
        "reworkRate": {"label": "To be corrected", "unit": "%", "widget": "slider"},
        "reworkMinutes": {"label": "Time for a correction", "unit": "minutes"},
        "trainingHours": {"label": "Training, each", "unit": "hours"},
        "hourlyCost": {"label": "Cost of an hour"},
        "workingWeeks": {"unit": "weeks a year"},
        "months": {"label": "Look ahead", "unit": "months"},
    },
    groups=(
        FormGroup("Corrections", ("reworkRate", "reworkMinutes"), closed=True),
        FormGroup("Cost and time", ("trainingHours", "hourlyCost", "workingWeeks", "months"), closed=True),
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
                    {"key": "hoursSaved", "label": "Hours saved", "unit": "hours", "decimals": 1},
                    {"key": "value", "label": "Worth", "decimals": 2},
                    {"key": "hoursPerWeek", "label": "In a week", "unit": "hours", "decimals": 1},
                    {"key": "hoursPerPerson", "label": "Each in a week", "unit": "hours", "decimals": 1},
                    {"key": "minutesPerTask", "label": "Each time", "unit": "minutes", "decimals": 1},
                    {"key": "timeCut", "label": "Less time", "unit": "%", "decimals": 1},
                    {"key": "breakEven", "label": "Training is back in month"},
                ]
            },
        ),
        OutputSection(
            "months",
            "Hours set free",
            "chart",
            {
                "kind": "area",
                "x": "month",
                "y": [{"key": "cumulativeHours", "label": "Hours so far", "decimals": 1}],
            },
        ),
        OutputSection(
            "months",
            "Month by month",
            "table",
            {
                "columns": [
                    {"key": "month", "format": "integer"},
                    {"key": "adoption", "unit": "%", "decimals": 1},
                    {"key": "hours", "decimals": 1},
                    {"key": "cumulativeHours", "label": "Hours so far", "decimals": 1},
                    {"key": "value", "decimals": 2},
                    {"key": "cumulativeValue", "label": "Value so far", "decimals": 2},
                ]
            },
        ),
    )
)
