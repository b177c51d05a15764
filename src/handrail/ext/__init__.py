"""Documented names for authors, by what they extend; this package itself has none and loads nothing.

In its modules, `import Name as Name` tells type checkers that the name is exported.

| module | what is in it |
|---|---|
| `compat` | Names that the tools, workers and interfaces that Handrail replaces already call. |
| `data_files` | Strict readers of JSON and YAML that people and programs wrote. |
| `errors` | Errors beside `HandrailError` and `ToolError`, which are in `handrail` itself. |
| `events` | What a call tells: events, and what can be read from them afterwards. |
| `forms` | Forms for arguments and views of results. |
| `guard` | Decisions about calls: levels, safety checks, and the answers of approvers. |
| `net` | Outgoing HTTP to addresses that are checked and pinned first. |
| `ports` | What `Handrail` can be given in place of its parts in memory, and those parts. |
| `tools` | What the bodies of tools, and code that calls tools, make use of. |
| `toolsets` | Sources of tools, and pins for definitions that come from outside. |
"""
