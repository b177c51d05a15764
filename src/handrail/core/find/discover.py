"""discover: the tools of a module or package, found by importing it."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType
from typing import Any, TypeGuard

from handrail.core.define.styles import BaseTool
from handrail.core.define.tool import Tool


def discover(package: ModuleType | str) -> list[Tool]:
    """Every tool defined at the top of a module, or of any module below a package."""
    module = importlib.import_module(package) if isinstance(package, str) else package
    modules = [module]
    if path := getattr(module, "__path__", None):
        below = pkgutil.walk_packages(path, f"{module.__name__}.")
        modules += [importlib.import_module(info.name) for info in below]
    found: dict[int, Tool] = {}
    for one in modules:
        for value in list(vars(one).values()):
            if isinstance(value, Tool):
                found[id(value)] = value
            elif _is_tool_class(value) and value.__module__ == one.__name__:
                found[id(value)] = value.tool()
    return list(found.values())


def _is_tool_class(value: Any) -> TypeGuard[type[BaseTool]]:
    """Whether this is a tool written as a class; one without `execute` is a base for others."""
    return isinstance(value, type) and issubclass(value, BaseTool) and value.execute is not BaseTool.execute
