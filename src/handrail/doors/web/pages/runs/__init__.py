"""Runs and sessions: what happened, listed, and each as a timeline."""

from handrail.doors.web.pages.runs import details, page, result, run_list, sessions

PAGES = (run_list.router, page.router, result.router, details.router, sessions.router)
