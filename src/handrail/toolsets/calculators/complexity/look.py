"""How the Complexity Estimator is asked and shown."""

from __future__ import annotations

from handrail.ext import FormGroup, FormSpec, OutputSection, ViewSpec

_DRIVER = {"widget": "radio", "class": "form-scale"}

FORM = FormSpec(
    {
        "items": {"label": "Parts of the work"},
        "items.*.name": {"placeholder": "Import of old data"},
        "items.*.optimistic": {"label": "At best", "unit": "days"},
        "items.*.likely": {"label": "Most likely", "unit": "days"},
        "items.*.pessimistic": {"label": "At worst", "unit": "days"},
        "novelty": {**_DRIVER, "label": "New to the team"},
        "integration": {**_DRIVER, "label": "Tied to other systems"},
        "compliance": {**_DRIVER, "label": "To be proved to others"},
        "coordination": {**_DRIVER, "label": "People who must agree"},
        "correlation": {"label": "Goes wrong together", "unit": "%", "widget": "slider"},
        "certainty": {"label": "Holds in", "unit": "of 100 cases", "widget": "radio", "class": "form-scale"},
        "teamSize": {"unit": "people"},
    },
    groups=(
        FormGroup(
            "What makes it harder", ("novelty", "integration", "compliance", "coordination"), closed=False
        ),
        FormGroup("Range", ("correlation", "certainty", "teamSize"), closed=True),
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
                    {"key": "expectedDays", "label": "To expect", "unit": "days", "decimals": 1},
                    {"key": "lowDays", "label": "From", "unit": "days", "decimals": 1},
                    {"key": "highDays", "label": "To", "unit": "days", "decimals": 1},
                    {"key": "calendarWeeks", "label": "For the team", "unit": "weeks", "decimals": 1},
                    {"key": "size"},
                    {"key": "uncertainty", "unit": "%", "decimals": 1},
                    {"key": "factor", "label": "Drivers multiply by"},
                ]
            },
        ),
        OutputSection(
            "risks",
            "Where the uncertainty comes from",
            "ranking",
            {"label": "name", "value": "score", "unit": "%", "decimals": 1, "max": 100},
        ),
        OutputSection(
            "items",
            "Part by part",
            "table",
            {
                "columns": [
                    {"key": "name"},
                    {"key": "expected", "unit": "days", "decimals": 1},
                    {"key": "low", "label": "From", "decimals": 1},
                    {"key": "high", "label": "To", "decimals": 1},
                    {"key": "deviation", "decimals": 2},
                ]
            },
        ),
    )
)
