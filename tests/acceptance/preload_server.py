"""Everything that a server loads, so that a fork of this process need not."""

from __future__ import annotations

import importlib
import pkgutil

import handrail.doors
import handrail.toolsets

for package in (handrail.doors, handrail.toolsets):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
for name in (
    "tests.harness.preload_database",
    "alembic.command",
    "alembic.context",
    "mako.template",
    "pygments.formatters.html",
    "sqlite3",
    "uvloop",
):
    importlib.import_module(name)
