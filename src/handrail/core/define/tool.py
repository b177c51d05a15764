"""Tool: the one frozen definition behind every form, agent tool, MCP tool and REST call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NoReturn, TypedDict

from handrail.core.define.levels import Capability, Concurrency, Danger, Level, PermissionPolicy
from handrail.core.define.result import Result
from handrail.core.define.retry import Retry
from handrail.core.define.schema import JsonSchema, digest_of
from handrail.core.define.ui_specs import FormSpec, OutputSection, ViewSpec
from handrail.core.define.validation import FlatCheck, Validator
from handrail.core.errors import SourceLocation

Origin = Literal["system", "custom", "tenant_custom", "bundle", "mcp"]
Isolation = Literal["process"]

OfArgs = Callable[[Any], Any]
"""A function of the validated arguments, given as an object with attributes."""

Compensation = Callable[[Any, Any], tuple[str, Mapping[str, Any]] | None]
"""(validated arguments, data of the result) -> the call that takes its effect back, or None. Pure."""

Preview = Callable[[Any, Any], Any]
"""(validated arguments, context) -> words or a diff, or None; or an awaitable of it."""


@dataclass(frozen=True, slots=True)
class InitContext:
    """What an initialiser is told about the place where its tool will run."""

    working_dir: str


Initialiser = Callable[[InitContext], Any | Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Body:
    """The function that does the work, and how to call it."""

    fn: Callable[..., Any]
    call: Callable[[Any, Any], Any]
    """(validated arguments, context) -> value or awaitable."""
    is_async: bool
    by_name: bool = False
    """The function takes its arguments by name, so that a dict of them will do."""
    bare: bool = False
    """An async function of its arguments alone: given a dict of them, `fn` is called in place of `call`."""


def _not_initialised(args: Any) -> NoReturn:
    raise LookupError("A tool is initialised before its arguments are validated.")


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True, eq=False)
class Tool:
    """What a tool is. Made by `tool`, `define`, `from_params`, `from_json_schema` or a `BaseTool`."""

    id: str
    description: str = ""
    """One or two sentences, at most 40 tokens."""
    guidance: str = ""
    """When to use it and when not; goes with the full schema."""
    aliases: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Other names; each may call parameters by names of its own: `{"read": {"file": "path"}}`."""
    param_aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    slug: str = ""
    name: str = ""
    category: str | None = None
    icon: str | None = None
    input_schema: JsonSchema = field(default_factory=dict)
    output_schema: JsonSchema | None = None
    level: Level = "write"
    """The ceiling that listings show; `level_of_call` may say less for given arguments."""
    danger: Danger = "moderate"
    level_of_call: OfArgs | None = None
    danger_of_call: OfArgs | None = None
    capabilities: frozenset[Capability] = frozenset()
    optional_capabilities: frozenset[Capability] = frozenset()
    requires: str | None = None
    """The RBAC permission a caller must hold."""
    policy: PermissionPolicy = "auto"
    approvals: int = 1
    """How many persons must approve a call that asks, each for the same arguments."""
    four_eyes: bool = False
    """Whether whoever is behind a call that asks cannot be among those who approve it."""
    tenants: frozenset[str] = frozenset()
    """Slugs of the tenants that may see it; empty means all."""
    reads: OfArgs | None = None
    writes: OfArgs | None = None
    """Resource keys from the arguments."""
    concurrency: Concurrency | None = None
    """Which calls of a batch it may overlap with; follows from `reads`, `writes` and the level when None."""
    timeout: float | None = None
    retry: Retry | None = None
    idempotent: bool = False
    repeatable: bool = False
    """Whether an agent's same call again is no repetition: it keeps or reads what no level tells of."""
    isolation: Isolation | None = None
    """`process`: the body runs in a process of its own and can be stopped by force."""
    undo: Compensation | None = None
    """What takes the effect of a completed call back."""
    preview: Preview | None = None
    """What a call would change as things are, told to whoever must approve it. It changes nothing itself."""
    collaborative: bool = False
    aggregate: Callable[[list[Any]], Any] | None = None
    sections: tuple[OutputSection, ...] = ()
    form: FormSpec | None = None
    view: ViewSpec | None = None
    origin: Origin = "custom"
    secrets: frozenset[str] = frozenset()
    """Dotted paths of arguments that no log or card may show."""
    body: Body | None = None
    validate: Validator = _not_initialised
    flat_validate: FlatCheck | None = None
    """The short way for tools whose arguments are all plain scalars."""
    flat_converts: bool = False
    """Whether that way converts values, so that they are not the arguments to record."""
    check_output: Validator | None = None
    plain_outputs: frozenset[type] = frozenset()
    """Classes whose instances are a valid output as they are."""
    any_object: bool = False
    """Whether every object that is JSON is a valid output."""
    quiet: bool = False
    """Whether no call of it can change anything, whatever its arguments."""
    init: Initialiser | None = None
    """Set while the tool is not yet initialised: called once, at first use, for the whole definition."""
    location: SourceLocation | None = None
    digest: str = ""
    """Fingerprint of everything a model sees."""

    class Metadata(TypedDict, total=False):
        """What a result tells beside its data. A tool with more to tell extends it: `path`, `bytes`."""

        title: str

    @property
    def ready(self) -> bool:
        return self.init is None

    @property
    def names(self) -> tuple[str, ...]:
        """The id and every alias."""
        return (self.id, *self.aliases)

    def to_meta(self) -> ToolMeta:
        return to_tool_meta(self)


CallSpec = Tool
"""A tool among the shapes of interaction, beside `FormSpec` and `ViewSpec`."""


@dataclass(frozen=True, slots=True)
class ToolMeta:
    """What a library page needs to know of a tool: no schema, no function."""

    slug: str
    name: str
    description: str
    category: str | None
    icon: str | None
    collaborative: bool
    output_sections: tuple[OutputSection, ...]
    required_permission: str | None
    tenant_slugs: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "slug": self.slug,
            "name": self.name,
            "description": self.description,
            "category": self.category,
            "icon": self.icon,
            "collaborative": self.collaborative,
            "outputSections": [section.to_dict() for section in self.output_sections],
            "requiredPermission": self.required_permission,
            "tenantSlugs": list(self.tenant_slugs),
        }


def to_tool_meta(tool: Tool) -> ToolMeta:
    """The serialisable projection of a tool for listings."""
    return ToolMeta(
        slug=tool.slug,
        name=tool.name,
        description=tool.description,
        category=tool.category,
        icon=tool.icon,
        collaborative=tool.collaborative,
        output_sections=tool.sections,
        required_permission=tool.requires,
        tenant_slugs=tuple(sorted(tool.tenants)),
    )


def redefine(tool: Tool, **changes: Any) -> Tool:
    """The tool with changes, and with the fingerprint of what a model sees then."""
    changed = replace(tool, **changes)
    return replace(changed, digest=digest(changed)) if changed.ready else changed


def digest(tool: Tool) -> str:
    """The fingerprint of what a model sees of a tool."""
    texts = (tool.id, tool.name, tool.category, tool.description, tool.guidance)
    hints = (
        tool.level,
        tool.danger,
        tool.idempotent,
        *sorted(tool.capabilities | tool.optional_capabilities),
    )
    return digest_of([texts, hints, tool.input_schema, tool.output_schema])[:32]


@dataclass(frozen=True, slots=True)
class RegistryEvent:
    """What registry listeners hear: a tool came, went, ran or failed."""

    type: Literal["register", "unregister", "execute", "error"]
    tool: str
    definition: Tool | None = None
    replaced: Tool | None = None
    result: Result | None = None
