"""How the ROI Calculator is asked and shown."""

from __future__ import annotations

from handrail.ext import FormGroup, FormSpec, OutputSection, ViewSpec

FORM = FormSpec(
    {
        "initialCost": {"placeholder": "120000"},
        "yearlyBenefit": {"placeholder": "68000"},
        "discountRate": {"unit": "% a year"},
        "benefitGrowth": {"unit": "% a year"},
        "firstYearShare": {"unit": "%", "widget": "slider"},
    },
    groups=(FormGroup("Fine tuning", ("benefitGrowth", "firstYearShare", "residualValue"), closed=True),),
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
                    {
                        "key": "discountedPayback",
                        "label": "Discounted payback",
                        "unit": "years",
                        "decimals": 1,
                    },
                    {"key": "roi", "label": "Return", "unit": "%", "decimals": 1},
                    {"key": "irr", "label": "Internal rate of return", "unit": "%", "decimals": 1},
                    {"key": "netGain", "label": "Net gain", "decimals": 2},
                    {"key": "totalBenefit", "label": "All benefits", "decimals": 2},
                    {"key": "totalCost", "label": "All costs", "decimals": 2},
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
                    {"key": "cumulative", "label": "So far", "decimals": 2},
                    {"key": "presentValue", "label": "Present value", "decimals": 2},
                    {"key": "roi", "label": "Return", "unit": "%", "decimals": 1},
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
                    {"key": "cumulativePresentValue", "label": "Discounted", "decimals": 2},
                ],
            },
        ),
    )
)
