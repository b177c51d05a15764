"""openapi.md: a service as tools."""

import asyncio

import httpx2

from handrail import Handrail, Policy, Principal

DOCUMENT = """
openapi: 3.1.0
info: {title: Pets, version: "1"}
servers: [{url: https://pets.example.com/v1}]
security: [{token: []}]
paths:
  /pets/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    get: {operationId: getPet, summary: Get a pet.}
    delete: {operationId: dropPet, summary: Forget a pet.}
  /pets:
    post:
      summary: Add a pet.
      requestBody:
        required: true
        content:
          application/json:
            schema: {type: object, properties: {name: {type: string}}, required: [name]}
components: {securitySchemes: {token: {type: http, scheme: bearer}}}
"""


def answer(request: httpx2.Request) -> httpx2.Response:
    assert request.headers["authorization"] == "Bearer t-0k3n"
    if request.url.path != "/v1/pets/7":
        return httpx2.Response(404, json={"detail": "no such pet"})
    return httpx2.Response(200, json={"name": "Rex"})


def transport() -> httpx2.AsyncBaseTransport:
    return httpx2.MockTransport(answer)


async def main() -> None:
    # region use
    from handrail.bridges.openapi import import_openapi

    imported = import_openapi(
        DOCUMENT,  # a Path, the text, or the data
        "pets",
        base_url="https://pets.example.com/v1",
        credentials={"token": "PETS_TOKEN"},
        transport=transport,  # leave it out: it stands for the service here
    )
    for tool in imported.tools:
        print(f"{tool.id:<15} {tool.level:<12} {imported.operations[tool.id]:<17} {tool.description}")

    network = Policy(capabilities=["read", "write", "network"])
    async with Handrail(imported.tools, policy=network, secrets={"PETS_TOKEN": "t-0k3n"}) as hr:
        ana = Principal(tenant="acme", user="ana", agent="ops")
        out = await hr.call("pets.getPet", {"id": "9"}, principal=ana)
        assert out.code == "HTTP_ERROR"
        assert out.result.data == {"status": 404, "body": {"detail": "no such pet"}}
        assert (await hr.call("pets.dropPet", {"id": "7"}, principal=ana)).status == "pending"
    # endregion


if __name__ == "__main__":
    asyncio.run(main())
