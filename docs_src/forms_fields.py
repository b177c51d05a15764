"""forms.md: fields as data."""

import asyncio


async def main() -> None:
    # region fields
    from handrail.ext.forms import FieldDefinition, FieldOption, fields_of, fields_schema, fields_validator

    fields = [
        FieldDefinition(name="name", type="text", label="Name", required=True, max=80),
        FieldDefinition(name="site", type="url"),
        FieldDefinition(name="since", type="date"),
        FieldDefinition(
            name="state",
            type="enum",
            variant="badge",
            options=(FieldOption("on", "Active"), FieldOption("off")),
        ),
        FieldDefinition(name="owner", type="relation", target="customer"),
    ]
    schema = fields_schema(fields)
    assert fields_of(schema) == tuple(fields)
    assert fields_validator(fields)({"name": "Acme"}) == {"name": "Acme"}
    # endregion


if __name__ == "__main__":
    asyncio.run(main())
