"""The library of tools, and the page of one: its form, its runs, its results."""

from __future__ import annotations

from handrail.doors.web.pages.tools import history, input_panel, library, page, preferences, saved_inputs

PAGES = (
    library.router,
    page.router,
    history.router,
    saved_inputs.router,
    preferences.router,
    input_panel.router,
)
