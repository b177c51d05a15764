"""How the ROI Calculator is asked and shown."""

from __future__ import annotations

from handrail.ext import FormSpec, OutputSection, ViewSpec

FORM = FormSpec({})
VIEW = ViewSpec(
    (
        OutputSection("summary", "Summary", "summary"),
        OutputSection("yearlyResults", "Year-by-Year", "table"),
    )
)
