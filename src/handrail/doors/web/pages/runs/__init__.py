"""Runs and sessions: what happened, listed, and each as a story."""

from handrail.doors.web.pages.runs import around, list, result, run, sessions, why

PAGES = (list.pages, run.pages, result.pages, around.pages, why.pages, sessions.pages)
