"""OpenAPI: the operations of an HTTP service as tools, one each, through the same guard."""

from handrail.bridges.openapi.importer import ImportedTools, import_openapi

__all__ = ["ImportedTools", "import_openapi"]
