"""How the Priority Matrix is asked and shown."""

from __future__ import annotations

from handrail.ext import FormGroup, FormSpec, OutputSection, ViewSpec

FORM = FormSpec(
    {
        "items": {"label": "What could be done"},
        "items.*.name": {"placeholder": "Answer invoices by mail"},
        "items.*.impact": {"help": "What it would bring: 1 is hardly anything, 10 is a great deal."},
        "items.*.effort": {"help": "What it would take: 1 is an hour or so, 10 is a year or more."},
        "items.*.confidence": {"widget": "slider", "unit": "%"},
        "midpoint": {"label": "High begins at"},
    },
    groups=(FormGroup("Fine tuning", ("midpoint",), closed=True),),
)
VIEW = ViewSpec(
    (
        OutputSection(
            "summary",
            "Summary",
            "summary",
            {
                "figures": [
                    {"key": "first", "label": "Begin with"},
                    {"key": "quickWins", "label": "Quick wins", "format": "integer"},
                    {"key": "items", "format": "integer"},
                    {"key": "agreement", "unit": "%", "decimals": 1},
                    {"key": "midpoint", "label": "High begins at"},
                    {"key": "verdict", "label": "In short"},
                ]
            },
        ),
        OutputSection(
            "ranking",
            "Ranking",
            "ranking",
            {"label": "name", "value": "score", "note": "quadrant", "decimals": 2, "order": "given"},
        ),
        OutputSection(
            "quadrants",
            "Matrix",
            "table",
            {"columns": [{"key": "quadrant"}, {"key": "items"}, {"key": "count"}, {"key": "advice"}]},
        ),
        OutputSection(
            "ranking",
            "All ratings",
            "table",
            {
                "columns": [
                    {"key": "rank", "format": "integer"},
                    {"key": "name"},
                    {"key": "score", "decimals": 2},
                    {"key": "quadrant"},
                    {"key": "impact", "decimals": 1},
                    {"key": "effort", "decimals": 1},
                    {"key": "confidence", "unit": "%", "decimals": 0},
                    {"key": "reach"},
                    {"key": "raters", "format": "integer"},
                    {"key": "agreement", "unit": "%", "decimals": 1},
                ]
            },
        ),
        OutputSection("participants", "Who said what", "table"),
    )
)
