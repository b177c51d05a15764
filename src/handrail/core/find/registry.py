"""Registry: tools by name, and the ways into it. Thread-safe; readers see frozen snapshots."""

from __future__ import annotations

import importlib
import pkgutil
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeGuard

from handrail.core.define.build import capabilities_of
from handrail.core.define.check import check
from handrail.core.define.constructors import BaseTool
from handrail.core.define.description_files import description_in_folder, split_description
from handrail.core.define.introspection import location_of, outside_location
from handrail.core.define.levels import Capability
from handrail.core.define.names import wire_name
from handrail.core.define.tool import RegistryEvent, Tool, ToolMeta, redefine, to_tool_meta
from handrail.core.errors import DefinitionError, DuplicateName
from handrail.core.listeners import Listeners


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The registry at one moment."""

    tools: tuple[Tool, ...]
    """Sorted by id."""
    find: Callable[[str], Tool | None]
    """The tool of that id, alias, slug or wire name, or nothing."""


class Registry:
    """Tools by id, alias, slug and wire name. Several may exist side by side; they share nothing."""

    def __init__(self, tools: Iterable[Any] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        self._names: dict[str, Tool] = {}
        self.newest: Snapshot | None = None
        """The last snapshot, as long as nothing changed; ask `snapshot()` when there is none."""
        self._lock = threading.RLock()
        self._load_lock = threading.RLock()
        self._loaders: list[Callable[[Registry], None]] = []
        self._current_loader: Callable[[Registry], None] | None = None
        self.listeners = Listeners()
        for tool in tools:
            self.register(tool)

    def register(
        self,
        tool: Tool | BaseTool | type[BaseTool],
        *,
        replace: bool = False,
        permissions: Mapping[str, Iterable[Capability]] | None = None,
    ) -> Tool:
        """Add a tool; a name that is taken is refused unless `replace` is given. Listeners are told.

        `permissions` are the capabilities it needs here: `{"required": [...], "optional": [...]}`.
        """
        added = as_tool(tool)
        if permissions is not None:
            added = _with_permissions(added, permissions)
        check(added)
        with self._lock:
            old = self._tools.get(added.id)
            if old is not None and not replace:
                raise _duplicate(added, added.id, old, "register it with replace=True to take its place")
            self._put(added, old, "choose another id, alias or slug")
        self.listeners.hear(RegistryEvent("register", added.id, added, old))
        return added

    def _put(self, tool: Tool, old: Tool | None, remedy: str) -> None:
        """Let a tool have its names, which nobody else may hold, and be there instead of an old one."""
        names = every_name(tool)
        for name in names:
            holder = self._names.get(name)
            if holder is not None and holder is not old:
                raise _duplicate(tool, name, holder, remedy)
        if old is not None:
            self._drop(old)
        self._tools[tool.id] = tool
        self._names.update(dict.fromkeys(names, tool))
        self.newest = None

    def unregister(self, name: str) -> bool:
        """Remove a tool; False when there was none of that name."""
        with self._lock:
            tool = self._names.get(name)
            if tool is None:
                return False
            self._drop(tool)
            self.newest = None
        self.listeners.hear(RegistryEvent("unregister", tool.id, tool))
        return True

    def _drop(self, tool: Tool) -> None:
        del self._tools[tool.id]
        for name in every_name(tool):
            self._names.pop(name, None)

    def settle(self, waiting: Tool, ready: Tool) -> Tool:
        """Put an initialised tool in the place of the one that waited; the first to come stays."""
        with self._lock:
            tool = self._tools.get(waiting.id)
            if tool is not waiting:
                return tool if tool is not None and tool.ready else ready
            self._put(ready, waiting, "choose another alias or slug")
        return ready

    def get(self, name: str) -> Tool | None:
        """The tool of that id, alias, slug or wire name, or nothing."""
        return self.snapshot().find(name)

    def list(self) -> list[Tool]:
        """All tools, sorted by id."""
        return list(self.snapshot().tools)

    def all_meta(self) -> Sequence[ToolMeta]:
        """The metadata of all tools."""
        return [to_tool_meta(tool) for tool in self.snapshot().tools]

    def enabled(self, capabilities: Iterable[Capability]) -> Sequence[Tool]:
        """The tools whose required capabilities are all among these."""
        granted = frozenset(capabilities)
        return [tool for tool in self.snapshot().tools if tool.capabilities <= granted]

    def snapshot(self) -> Snapshot:
        """The registry as it is now, and stays in the reader's hands."""
        while (snapshot := self.newest) is None:
            self.ensure_loaded()
            with self._lock:
                if self._loaders:  # one more came meanwhile
                    continue
                tools = tuple(tool for _, tool in sorted(self._tools.items()))
                snapshot = Snapshot(tools, dict(self._names).get)
                if self._current_loader:
                    return snapshot  # half of what the loader will give; nobody else should see that
                self.newest = snapshot
        return snapshot

    def add_loader(self, loader: Callable[[Registry], None]) -> None:
        """Have a function register its tools when the registry is first read."""
        with self._lock:
            self._loaders.append(loader)
            self.newest = None

    def ensure_loaded(self) -> None:
        """Run the loaders that have not run yet; each runs once, and whoever reads meanwhile waits for it."""
        with self._load_lock:
            outer = self._current_loader
            while self._loaders:
                loader = self._current_loader = self._loaders.pop(0)
                try:
                    loader(self)
                except BaseException:
                    self._loaders.insert(0, loader)
                    raise
                finally:
                    self._current_loader = outer


def as_tool(source: Any) -> Tool:
    """The Tool behind what a user hands over."""
    if isinstance(source, Tool):
        return source
    if isinstance(source, BaseTool):
        return source.as_tool()
    if isinstance(source, type) and issubclass(source, BaseTool):
        return source.tool()
    raise DefinitionError(
        f"{source!r} is not a tool",
        location=location_of(source) or outside_location(),
        remedy="decorate the function with @tool, or use define, from_params, from_json_schema or BaseTool",
    )


def _with_permissions(tool: Tool, permissions: Mapping[str, Iterable[Capability]]) -> Tool:
    try:
        required, optional = capabilities_of(permissions)
    except (TypeError, ValueError, AttributeError) as error:
        raise DefinitionError(
            f"the permissions it is registered with cannot be read: {error}",
            tool=tool.id,
            location=tool.location,
            remedy='write {"required": ["read"], "optional": ["network"]}',
        ) from error
    return redefine(tool, capabilities=required, optional_capabilities=optional)


def every_name(tool: Tool) -> list[str]:
    """Every name a tool answers to: id, aliases, their wire names, and the slug."""
    names = [spelling for name in tool.names for spelling in (name, wire_name(name))]
    if tool.slug:
        names.append(tool.slug)
    return list(dict.fromkeys(names))


def _duplicate(tool: Tool, name: str, holder: Tool, remedy: str) -> DuplicateName:
    where = f" at {holder.location}" if holder.location else ""
    return DuplicateName(
        f"the name {name!r} belongs to {holder.id!r}{where}",
        tool=tool.id,
        location=tool.location,
        remedy=remedy,
    )


default_registry = Registry()
"""The registry of tools that register themselves when their module is imported."""


def register_tool(tool: Any, **options: Any) -> Tool:
    """Register a tool in the default registry."""
    return default_registry.register(tool, **options)


def ensure_system_tools_registered(registry: Registry = default_registry) -> None:
    """Load the tools that ship with the engine; as often as you like, they load once."""
    registry.ensure_loaded()


def discover(package: ModuleType | str) -> list[Tool]:
    """Every tool defined at the top of a module, or of any module below a package."""
    module = importlib.import_module(package) if isinstance(package, str) else package
    modules = [module]
    if path := getattr(module, "__path__", None):
        below = pkgutil.walk_packages(path, f"{module.__name__}.")
        modules += [importlib.import_module(info.name) for info in below]
    tools: dict[int, Tool] = {}
    for module in modules:
        for value in list(vars(module).values()):
            if isinstance(value, Tool):
                tools[id(value)] = value
            elif _is_tool_class(value) and value.__module__ == module.__name__:
                tools[id(value)] = value.tool()
    return list(tools.values())


def _is_tool_class(value: Any) -> TypeGuard[type[BaseTool]]:
    """Whether this is a tool written as a class; one without `execute` is a base for others."""
    return isinstance(value, type) and issubclass(value, BaseTool) and value.execute is not BaseTool.execute


def register_builtin_tools(
    folder: str | Path,
    entries: Iterable[Any],
    registry: Registry = default_registry,
    *,
    replace: bool = False,
) -> list[Tool]:
    """Register tools, or `{"tool": ..., "permissions": {...}}`; `<tool>.txt` in the folder describes one.

    All or none: where one cannot be registered, the registry is left as it was.
    """
    texts = Path(folder)
    if not texts.is_dir():
        raise DefinitionError(
            f"there is no folder {str(folder)!r} to find descriptions in",
            location=outside_location(),
            remedy="give the folder of the tools' modules, such as Path(__file__).parent",
        )
    read = [_read_entry(entry, texts) for entry in entries]
    before = registry.snapshot()
    registered: list[Tool] = []
    try:
        for tool, needed in read:
            registered.append(registry.register(tool, replace=replace, permissions=needed))
    except DefinitionError:
        for tool in reversed(registered):
            _undo_registration(tool, before.find(tool.id), registry)
        raise
    return registered


def _undo_registration(tool: Tool, old: Tool | None, registry: Registry) -> None:
    if old is None:
        registry.unregister(tool.id)
    else:
        registry.register(old, replace=True)


def _read_entry(entry: Any, folder: Path) -> tuple[Tool, Mapping[str, Any] | None]:
    if not isinstance(entry, Mapping):
        return _with_description_file(as_tool(entry), folder), None
    if "tool" not in entry or not entry.keys() <= {"tool", "permissions"}:
        raise DefinitionError(
            f"an entry has {', '.join(map(repr, entry)) or 'nothing'} where 'tool' and 'permissions' belong",
            location=outside_location(),
            remedy='write {"tool": read, "permissions": {"required": ["read"]}}',
        )
    return _with_description_file(as_tool(entry["tool"]), folder), entry.get("permissions")


def _with_description_file(tool: Tool, folder: Path) -> Tool:
    text = description_in_folder(tool.id, folder)
    if text is None or not text.strip():
        return tool
    first, rest = split_description(text)
    return redefine(tool, description=first, guidance=rest or tool.guidance)
