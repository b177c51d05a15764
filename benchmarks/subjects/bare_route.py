"""A bare FastAPI route: a model validates, the function runs. Nobody is asked, nothing is told."""

import asyncio

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

from benchmarks.sample_tool import NAME, add_numbers
from benchmarks.server_process import announce_port, free_port


class Numbers(BaseModel):
    a: int
    b: int


class Sum(BaseModel):
    result: int


app = FastAPI()


@app.post(f"/{NAME}")
async def add(numbers: Numbers) -> Sum:
    return Sum(result=await add_numbers(numbers.a, numbers.b))


async def main() -> None:
    sock = free_port()
    config = uvicorn.Config(app, http="httptools", lifespan="off", log_level="warning", access_log=False)
    announce_port(sock.getsockname()[1])
    sock.listen(128)
    await uvicorn.Server(config).serve(sockets=[sock])


if __name__ == "__main__":
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())
