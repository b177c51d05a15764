"""Security: what a request must carry, and the secrets of the tenant that it is made of."""

from __future__ import annotations

import base64
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from handrail.bridges.openapi.document import OpenAPIDocument, UnsupportedOperation

Form = Literal["plain", "bearer", "basic"]


@dataclass(frozen=True, slots=True)
class SecurityScheme:
    """One credential: in which header, query parameter or cookie it goes, and in what form."""

    name: str
    where: str
    carrier: str
    form: Form = "plain"

    def value(self, secret: str) -> str:
        """What the carrier holds; of `basic`, the secret is `user:password`."""
        if self.form == "bearer":
            return f"Bearer {secret}"
        if self.form == "basic":
            return f"Basic {base64.b64encode(secret.encode()).decode('ascii')}"
        return secret


def security_alternatives(
    document: OpenAPIDocument, spec: Mapping[str, Any]
) -> tuple[tuple[SecurityScheme, ...], ...]:
    """What an operation asks for: all of one alternative. An empty one lets everybody in."""
    listed = spec.get("security", document.data.get("security"))
    specs = _schemes(document)
    asked = [needed for needed in listed if isinstance(needed, Mapping)] if isinstance(listed, list) else []
    read = [[_scheme(name, document.part(specs.get(name))) for name in needed] for needed in asked]
    usable = tuple(tuple(filter(None, schemes)) for schemes in read if None not in schemes)
    if asked and not usable:
        names = ", ".join(sorted({name for needed in asked for name in needed}))
        raise UnsupportedOperation(f"it asks for credentials that cannot be given ({names})")
    return usable


def credential_locations(document: OpenAPIDocument) -> set[tuple[str, str]]:
    """Where the document says that credentials go: whoever calls a tool is not asked for them."""
    schemes = (_scheme(name, document.part(spec)) for name, spec in _schemes(document).items())
    return {(scheme.where, scheme.carrier.lower()) for scheme in schemes if scheme is not None}


def choose_alternative(
    offered: tuple[tuple[SecurityScheme, ...], ...], credentials: Collection[str]
) -> tuple[SecurityScheme, ...]:
    """The alternative to take: the first for which all credentials are named, else none, else the first."""
    for schemes in offered:
        if schemes and all(scheme.name in credentials for scheme in schemes):
            return schemes
    return () if not offered or () in offered else offered[0]


def _schemes(document: OpenAPIDocument) -> Mapping[str, Any]:
    return document.part(document.part(document.data.get("components")).get("securitySchemes"))


def _scheme(name: str, spec: Mapping[str, Any]) -> SecurityScheme | None:
    """One scheme of the document; None when we know no way to do what it asks for."""
    kind = spec.get("type")
    if kind == "apiKey" and spec.get("in") in ("header", "query", "cookie") and spec.get("name"):
        return SecurityScheme(name, str(spec["in"]), str(spec["name"]))
    if kind == "http" and str(spec.get("scheme", "")).lower() == "basic":
        return SecurityScheme(name, "header", "Authorization", "basic")
    if kind in ("http", "oauth2", "openIdConnect"):
        return SecurityScheme(name, "header", "Authorization", "bearer")
    return None
