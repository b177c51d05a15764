"""Tools for the web: what stands at an address, and where something is to be found."""

from __future__ import annotations

from handrail import Tool
from handrail.toolsets.web.options import WebOptions
from handrail.toolsets.web.search_providers import SearchHit, SearchProvider
from handrail.toolsets.web.web_search import web_search
from handrail.toolsets.web.webfetch import webfetch

__all__ = ["SearchHit", "SearchProvider", "WebOptions", "web_search", "web_tools", "webfetch"]


def web_tools(options: WebOptions | None = None) -> list[Tool]:
    """Both tools with the same options."""
    return [webfetch(options), web_search(options)]
