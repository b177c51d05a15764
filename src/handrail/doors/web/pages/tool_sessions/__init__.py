"""Tools that several people fill in together: begun, shared by link, joined, submitted to, closed."""

from __future__ import annotations

from handrail.doors.web.pages.tool_sessions import access, manage, page

PAGES = (manage.router, access.router, page.router)
