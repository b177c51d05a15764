"""How the ROI Calculator is asked and shown."""

from __future__ import annotations

from handrail.ext import FormSpec, OutputSection, ViewSpec

FORM = FormSpec(
    {
        "initialCost": {"placeholder": "120000"},
        "yearlyBenefit": {"placeholder": "68000"},
        "years": {"label": "Years", "unit": "years"},
        "discountRate": {"unit": "% a year"},
        "benefitGrowth": {"unit": "% a year", "group": "Fine tuning"},
        "firstYearShare": {"unit": "%", "widget": "slider", "group": "Fine tuning"},
        "residualValue": {"group": "Fine tuning"},
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
                    {"key": "npv", "label": "Net present value", "decimals": 2},
                    {"key": "payback", "unit": "years", "decimals": 1},
                    {"key": "discountedPayback", "unit": "years", "decimals": 1},
                    {"key": "roi", "label": "Return", "unit": "%", "decimals": 1},
                    {"key": "irr", "label": "Internal rate of return", "unit": "%", "decimals": 1},
                    {"key": "netGain", "decimals": 2},
                    {"key": "totalBenefit", "decimals": 2},
                    {"key": "totalCost", "decimals": 2},
                    {"key": "verdict", "label": "In short"},
                ]
            },
        ),
        OutputSection(
            "yearlyResults",
            "Year-by-Year",
            "table",
            {
                "columns": [
                    {"key": "year", "format": "integer"},
                    {"key": "benefit", "decimals": 2},
                    {"key": "cost", "decimals": 2},
                    {"key": "net", "decimals": 2},
                    {"key": "cumulative", "decimals": 2},
                    {"key": "presentValue", "decimals": 2},
                    {"key": "cumulativePresentValue", "decimals": 2},
                    {"key": "roi", "label": "Return so far", "unit": "%", "decimals": 1},
                ]
            },
        ),
        OutputSection(
            "yearlyResults",
            "What has come in, year by year",
            "chart",
            {
                "kind": "line",
                "x": "year",
                "y": [
                    {"key": "cumulative", "label": "Cash", "decimals": 2},
                    {"key": "cumulativePresentValue", "label": "In today's money", "decimals": 2},
                ],
            },
        ),
    )
)
