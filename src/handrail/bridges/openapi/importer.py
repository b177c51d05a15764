"""import_openapi: the operations of a document as tools, each under an id of its own."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from handrail import Context, Result, Tool, from_json_schema
from handrail.bridges.openapi import client
from handrail.bridges.openapi.document import OpenAPIDocument, OpenAPIError, load_document
from handrail.bridges.openapi.operations import ApiOperation, read_operations
from handrail.bridges.openapi.request import build_request
from handrail.bridges.openapi.security import SecurityScheme, choose_alternative
from handrail.ext.errors import DefinitionError
from handrail.ext.tools import slug_of

if TYPE_CHECKING:
    import httpx2

OperationKey = tuple[str, str, str | None]
"""Method, path, operationId."""
_NOT_NAME_CHARS = re.compile(r"[^A-Za-z0-9_]+")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_LONGEST = 60


def tool_ids(prefix: str, operations: Sequence[OperationKey]) -> list[str]:
    """An id for each operation, whatever stands around it: `petstore.listPets`, `petstore.get_pets_by_id`."""
    plain = [f"{prefix}.{_name(*operation)}" for operation in operations]
    times = Counter(map(slug_of, plain))
    return [
        name if times[slug_of(name)] == 1 else f"{name}_{_digest(method, path)}"
        for name, (method, path, _) in zip(plain, operations, strict=True)
    ]


def _name(method: str, path: str, operation_id: str | None) -> str:
    words = operation_id or f"{method} {_PLACEHOLDER.sub(lambda hole: f'by {hole[1]}', path)}"
    name = _NOT_NAME_CHARS.sub("_", words).strip("_")
    if not name or not slug_of(name):
        return f"{method}_{_digest(method, path)}"
    return name if len(name) <= _LONGEST else f"{name[:_LONGEST].rstrip('_')}_{_digest(method, path)}"


def _digest(method: str, path: str) -> str:
    return hashlib.sha256(f"{method} {path}".encode()).hexdigest()[:8]


_LEVELS = {"get": "read", "head": "read", "delete": "destructive"}
_WORDS = 30


@dataclass(frozen=True, slots=True)
class ImportedTools:
    """The tools of a document, and what could not be made one."""

    tools: tuple[Tool, ...]
    operations: Mapping[str, str]
    """By the id of each tool: its method and path."""
    skipped: Mapping[str, str]
    """By method and path: why."""


def import_openapi(
    document: Mapping[str, Any] | str | Path,
    name: str,
    *,
    base_url: str | None = None,
    credentials: Mapping[str, str] | None = None,
    outputs: bool = True,
    timeout: float = 30.0,
    most_bytes: int = 1_000_000,
    transport: Callable[[], httpx2.AsyncBaseTransport] | None = None,
    **options: Any,
) -> ImportedTools:
    """One operation, one tool `name.operationId`; GET and HEAD read, DELETE destroys, the others write.

    Requests go to `base_url`, which you give: the servers of a document are only suggestions. `credentials`
    are the names of secrets by security scheme, `name.scheme` where none is given. `outputs=False` promises
    nothing about answers, for a service that does not keep to its document. `options` are for every tool.
    """
    client.check_httpx_installed()
    read = load_document(document)
    service = client.HttpService(
        client.check_base_url(base_url, _servers(read)), timeout, most_bytes, transport
    )
    operations: list[ApiOperation] = []
    skipped: dict[str, str] = {}
    for operation in read_operations(read):
        if isinstance(operation, ApiOperation):
            operations.append(operation)
        else:
            spelled, why = operation
            skipped[spelled] = why
    ids = tool_ids(
        name, [(operation.method, operation.path, operation.operation_id) for operation in operations]
    )
    secret_names = credentials or {}
    tools: dict[str, Tool] = {}
    methods_and_paths: dict[str, str] = {}
    for tool_id, operation in sorted(zip(ids, operations, strict=True), key=lambda pair: pair[0]):
        schemes = choose_alternative(operation.security, secret_names)
        secrets = {scheme: secret_names.get(scheme.name, f"{name}.{scheme.name}") for scheme in schemes}
        try:
            tools[tool_id] = _tool(tool_id, operation, service, secrets, outputs, options)
            methods_and_paths[tool_id] = operation.spelled
        except DefinitionError as error:
            skipped[operation.spelled] = error.problem
    if skipped and not tools:
        first, why = next(iter(skipped.items()))
        raise OpenAPIError(f"no operation can be imported; {first}: {why}", remedy="correct the document")
    return ImportedTools(tuple(tools.values()), methods_and_paths, skipped)


def _tool(
    tool_id: str,
    operation: ApiOperation,
    service: client.HttpService,
    secrets: Mapping[SecurityScheme, str],
    outputs: bool,
    options: Mapping[str, Any],
) -> Tool:
    async def execute(args: Mapping[str, Any], ctx: Context) -> Result:
        request = build_request(operation, args)
        if operation.key_header is not None:
            request.headers[operation.key_header] = ctx.idempotency_key
        return await client.send(service, request, _credentials(secrets, ctx))

    description, guidance = _texts(operation)
    definition: dict[str, Any] = {
        "description": description,
        "guidance": guidance,
        "category": operation.tags[0] if operation.tags else None,
        "level": _LEVELS.get(operation.method, "write"),
        "capabilities": ["network"],
        # One that is silent is left before, when it is still known what was sent.
        "timeout": 2 * service.timeout,
        "output": operation.output_schema if outputs else None,
        **options,
    }
    tool: Tool = from_json_schema(tool_id, operation.input_schema, execute=execute, **definition)
    return tool


def _credentials(secrets: Mapping[SecurityScheme, str], ctx: Context) -> client.RequestCredentials:
    headers: dict[str, str] = {}
    cookies: dict[str, str] = {}
    query: list[str] = []
    hidden: list[str] = []
    for scheme, name in secrets.items():
        value = scheme.value(ctx.secret(name))
        hidden += [value, value.partition(" ")[2] or value]
        if scheme.where == "query":
            query.append(f"{quote(scheme.carrier, safe='')}={quote(value, safe='')}")
            hidden.append(quote(value, safe=""))
        elif scheme.where == "cookie":
            cookies[scheme.carrier] = value
        else:
            headers[scheme.carrier] = value
    return client.RequestCredentials(headers, cookies, tuple(query), tuple(hidden))


def _texts(operation: ApiOperation) -> tuple[str, str]:
    """A short description, and the rest of what the document says as guidance."""
    text = operation.summary or operation.description or f"Call {operation.spelled}."
    words = text.split()
    is_long = len(words) > _WORDS
    short = " ".join(words[:_WORDS]) + (" …" if is_long else "")
    rest = operation.description if operation.description != text else ""
    return short, "\n\n".join(filter(None, [text if is_long else "", rest]))


def _servers(document: OpenAPIDocument) -> list[str]:
    servers = document.data.get("servers")
    urls = [document.part(server).get("url") for server in servers] if isinstance(servers, list) else []
    return [str(url) for url in urls if url]
