"""The page of a tool with eighty inputs, drawn on the server, and the same fields in a bare template."""

from collections.abc import Sequence
from typing import Any

from jinja2 import Environment

from benchmarks.subject_process import main
from benchmarks.timing import Subject
from handrail import Handrail, Principal, from_json_schema
from handrail.doors.web.app import build_web
from handrail.platform import platform_of

SOMEBODY = Principal(tenant="acme", user="u1", permissions=frozenset({"*"}))
FIELDS = 80
_KINDS: tuple[dict[str, Any], ...] = (
    {"type": "string"},
    {"type": "integer"},
    {"type": "number"},
    {"type": "boolean"},
    {"enum": ["low", "middle", "high"]},
    {"type": "array", "items": {"type": "string"}},
    {"type": ["string", "null"]},
    {"type": "string", "format": "date"},
)
PROPERTIES = {
    f"field_{at}": {**_KINDS[at % len(_KINDS)], "description": f"What field {at} is for"}
    for at in range(FIELDS)
}
_TEMPLATE = """<!doctype html><html lang="en"><head><title>{{ title }}</title></head>
<body><main><form method="post">
{% for item in fields %}<div class="field"><label for="f-{{ item.name }}">{{ item.title }}</label>
<p id="h-{{ item.name }}">{{ item.description }}</p>
{% if item.options %}<select id="f-{{ item.name }}" name="{{ item.name }}"
 aria-describedby="h-{{ item.name }}">
{% for option in item.options %}<option value="{{ option }}">{{ option }}</option>{% endfor %}</select>
{% else %}<input id="f-{{ item.name }}" name="{{ item.name }}" type="{{ item.type }}" value="{{ item.value }}"
 aria-describedby="h-{{ item.name }}">{% endif %}</div>
{% endfor %}<button class="btn">Run</button></form></main></body></html>"""


async def take(args: Any) -> str:
    return "done"


wide = from_json_schema(
    "wide.form",
    {"type": "object", "properties": PROPERTIES},
    take,
    description="Take eighty inputs.",
    level="read",
)


async def subjects() -> Sequence[Subject]:
    hr = Handrail(tools=[wide])
    web = build_web(platform_of(hr))
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/tools/wide-form",
        "raw_path": b"/tools/wide-form",
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1")],
        "server": ("127.0.0.1", 80),
        "scheme": "http",
        "root_path": "",
    }

    async def page(number: int) -> object:
        sent: list[bytes] = []

        async def send(message: Any) -> None:
            sent.append(message.get("body", b""))

        async def receive() -> Any:
            return {"type": "http.request", "body": b""}

        for _ in range(number):
            sent.clear()
            await web({**scope, "state": {"principal": SOMEBODY, "source": "web"}}, receive, send)
        return b"".join(sent)

    template = Environment(autoescape=True).from_string(_TEMPLATE)
    shown = [
        {
            "name": name,
            "title": name.replace("_", " "),
            "description": schema["description"],
            "options": schema.get("enum", ()),
            "type": "text",
            "value": "",
        }
        for name, schema in PROPERTIES.items()
    ]

    async def bare(number: int) -> object:
        for _ in range(number):
            drawn = template.render(title="Wide", fields=shown)
        return drawn.encode()

    def has_all(page: object) -> bool:
        return isinstance(page, bytes) and all(b"field_%d" % at in page for at in range(FIELDS))

    return Subject("the page of a tool with 80 inputs", page, has_all), Subject(
        "the same fields in Jinja2", bare, has_all
    )


if __name__ == "__main__":
    main(subjects)
