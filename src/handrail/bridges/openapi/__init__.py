"""OpenAPI: the operations of an HTTP service as tools, one each, through the same guard."""

from handrail.bridges.openapi.importing import Imported, import_openapi

__all__ = ["Imported", "import_openapi"]
