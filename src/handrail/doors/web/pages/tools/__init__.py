"""The library of tools, and the page of one: its form, its runs, its results."""

from __future__ import annotations

from handrail.doors.web.pages.tools import history, library, picking, running, saved, star, tool

PAGES = (library.pages, tool.pages, running.pages, history.pages, saved.pages, star.pages, picking.pages)
