"""How Quick Score is asked and shown."""

from __future__ import annotations

from handrail.ext import FormSpec, OutputSection, ViewSpec

FORM = FormSpec(
    {
        "subject": {"label": "What is rated", "placeholder": "Offer of Alder Works"},
        "criteria.*.name": {"label": "Criterion", "placeholder": "Price"},
        "criteria.*.score": {"help": "0 is not at all, 10 is as good as can be."},
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
                    {"key": "score", "unit": "of 100", "decimals": 1},
                    {"key": "band"},
                    {"key": "subject"},
                    {"key": "strongest"},
                    {"key": "weakest", "label": "Most to win in"},
                    {"key": "agreement", "unit": "%", "decimals": 1},
                    {"key": "verdict", "label": "In short"},
                ]
            },
        ),
        OutputSection(
            "criteria",
            "Criteria",
            "radar",
            {"axis": "name", "value": "score", "min": 0, "max": 10},
        ),
        OutputSection(
            "levers",
            "Where most is still to be won",
            "ranking",
            {"label": "name", "value": "score", "unit": "points", "decimals": 1},
        ),
        OutputSection(
            "criteria",
            "Criterion by criterion",
            "table",
            {
                "columns": [
                    {"key": "name"},
                    {"key": "score", "decimals": 1},
                    {"key": "weight", "unit": "%", "decimals": 1},
                    {"key": "contribution", "unit": "points", "decimals": 1},
                    {"key": "raters", "format": "integer"},
                    {"key": "low", "decimals": 1},
                    {"key": "high", "decimals": 1},
                    {"key": "agreement", "unit": "%", "decimals": 1},
                ]
            },
        ),
        OutputSection("participants", "Who said what", "table"),
    )
)
