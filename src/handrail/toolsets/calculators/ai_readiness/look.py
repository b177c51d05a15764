"""How the AI Readiness Assessment is asked and shown."""

from __future__ import annotations

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from handrail.ext import FormGroup, FormSpec, OutputSection, ViewSpec
from handrail.toolsets.calculators.ai_readiness.models import (
    Data,
    Governance,
    People,
    Processes,
    Strategy,
    Technology,
)

_DIMENSIONS = {
    "strategy": ("Strategy", "What it is for."),
    "data": ("Data", "What it would work with."),
    "technology": ("Technology", "What it would run on."),
    "people": ("People", "Who would work with it."),
    "processes": ("Processes", "Where it would be used."),
    "governance": ("Governance", "What keeps it in bounds."),
}
_RATED: dict[str, type[BaseModel]] = {
    "strategy": Strategy,
    "data": Data,
    "technology": Technology,
    "people": People,
    "processes": Processes,
    "governance": Governance,
}
_SCALE = "1 is not at all, 5 is entirely."

FORM = FormSpec(
    {
        **{
            name: {"label": label, "help": f"{words} {_SCALE}"}
            for name, (label, words) in _DIMENSIONS.items()
        },
        **{
            f"{name}.{to_camel(field)}": {"widget": "radio", "class": "form-scale"}
            for name, model in _RATED.items()
            for field in model.model_fields
        },
        "weights": {"label": "What counts how much"},
        "target": {"label": "Score to reach", "widget": "slider"},
    },
    groups=(FormGroup("Fine tuning", ("weights", "target"), closed=True),),
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
                    {"key": "weakest"},
                    {"key": "strongest"},
                    {"key": "agreement", "unit": "%", "decimals": 1},
                    {"key": "verdict", "label": "In short"},
                ]
            },
        ),
        OutputSection(
            "dimensions",
            "Dimensions",
            "radar",
            {
                "axis": "dimension",
                "value": [{"key": "score", "label": "Today"}, {"key": "target"}],
                "min": 0,
                "max": 100,
            },
        ),
        OutputSection(
            "gaps",
            "What to close first",
            "ranking",
            {"label": "name", "value": "score", "note": "advice", "unit": "points", "decimals": 1},
        ),
        OutputSection(
            "dimensions",
            "Dimension by dimension",
            "table",
            {
                "columns": [
                    {"key": "dimension"},
                    {"key": "score", "decimals": 1},
                    {"key": "band"},
                    {"key": "gap", "decimals": 1},
                    {"key": "weight", "unit": "%", "decimals": 1},
                    {"key": "low", "decimals": 1},
                    {"key": "high", "decimals": 1},
                    {"key": "agreement", "unit": "%", "decimals": 1},
                ]
            },
        ),
        OutputSection("participants", "Who said what", "table"),
    )
)
