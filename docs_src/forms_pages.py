"""forms.md: a form on a page of one's own, drawn and read."""

import asyncio

from handrail.ext.data_files import parse_json


async def main() -> None:
    schema = parse_json('{"type": "object", "properties": {"cost": {"type": "number"}}}', "schema")
    # region page
    from handrail.doors.web.forms.form import compile_form

    form = compile_form(schema)  # or form_of(tool), which remembers it
    fields = form.render()  # htpy: the fields, for a <form> of your own

    read = form.read([("#/cost", "68k")])  # what a server got
    assert read.value == {"cost": "68k"}
    assert read.errors[0].reason == "must be a number. You typed 68k; try 68000."
    again = form.render(read.value, read.errors)
    # endregion
    assert "Cost must be a number. You typed 68k; try 68000." in str(again)
    assert 'name="#/cost"' in str(fields)


if __name__ == "__main__":
    asyncio.run(main())
