"""Kinds of files by the ends of their names, for searches that want one language."""

from __future__ import annotations

from handrail.ext import ToolError

KINDS: dict[str, tuple[str, ...]] = {
    "c": ("c", "h"),
    "cpp": ("cpp", "cc", "cxx", "hpp", "hh", "hxx", "h"),
    "csharp": ("cs",),
    "css": ("css", "scss", "sass", "less"),
    "docs": ("md", "rst", "txt", "adoc"),
    "go": ("go",),
    "html": ("html", "htm"),
    "java": ("java",),
    "js": ("js", "jsx", "mjs", "cjs"),
    "json": ("json", "jsonl", "json5"),
    "kotlin": ("kt", "kts"),
    "php": ("php",),
    "py": ("py", "pyi"),
    "ruby": ("rb",),
    "rust": ("rs",),
    "shell": ("sh", "bash", "zsh"),
    "sql": ("sql",),
    "swift": ("swift",),
    "toml": ("toml",),
    "ts": ("ts", "tsx", "mts", "cts"),
    "xml": ("xml", "xsd", "svg"),
    "yaml": ("yaml", "yml"),
}


def pattern_for(kind: str) -> str:
    """The pattern of names of a kind."""
    ends = KINDS.get(kind)
    if ends is None:
        raise ToolError(
            f"There is no kind {kind!r}. There are {', '.join(KINDS)}. Or give a glob such as *.txt.",
            code="INVALID_PATTERN",
        )
    return f"*.{{{','.join(ends)}}}"
