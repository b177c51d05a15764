"""Tools that several people fill in together: begun, shared by link, joined, submitted to, closed."""

from __future__ import annotations

from handrail.doors.web.pages.shared import joining, launching, managing, session

PAGES = (launching.pages, joining.pages, session.pages, managing.pages)
