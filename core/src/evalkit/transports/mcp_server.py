"""One episode as an MCP server: its tools are the client's tools, `get_task` tells what is to be done.

Tools are listed without an executor or a kernel being loaded, since clients wait ten seconds at most; the
episode begins with the first call. Mistakes are results marked as errors, never errors of the protocol.
"""

from __future__ import annotations

import asyncio
import base64
import functools
import socket
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import mcp_types as types
from anyio import to_thread
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from evalkit.errors import EvalkitError, UsageError
from evalkit.transports._desk import Desk
from evalkit.transports._present import Answer, observation_text
from evalkit.types import Observation, Tool

#: Clients refuse results of more than 25,000 tokens; this many characters of text stay below.
MAX_RESULT_CHARACTERS = 80_000
GET_TASK = types.Tool(
    name="get_task",
    description="Says what is to be done, with pictures: call this first. It costs nothing.",
    input_schema={"type": "object", "properties": {}, "additionalProperties": False},
)
INSTRUCTIONS = "Call get_task first. The other tools act on the task; every call of them counts."


def make_server(desk: Desk, tools: Callable[[], Sequence[Tool]]) -> Server[Any]:
    """A server for the episode of `desk`; `tools` gives its tools without beginning it."""

    async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
        offered = await to_thread.run_sync(tools)
        return types.ListToolsResult(tools=[GET_TASK, *map(listed, offered)])

    async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        client = _client_name(ctx.session.client_params)
        call = functools.partial(_result, desk, params.name, params.arguments or {}, client)
        return await to_thread.run_sync(call)

    return Server(
        "evalkit",
        version=version("evalkit-core"),
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def serve_stdio(server: Server[Any]) -> None:
    """Serve on standard input and output until the client closes them; strays go to stderr meanwhile."""

    async def serve() -> None:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    asyncio.run(serve())


def http_server(server: Server[Any], host: str, port: int) -> tuple[Any, socket.socket]:
    """A uvicorn server for `http://HOST:PORT/mcp` and the socket for its `run(sockets=[…])`.

    Port 0 takes a free one. Clients can connect from here on; it serves until its `should_exit` is set.
    UsageError if the address can't be had.
    """
    import uvicorn

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        raise UsageError(f"can't listen at {host}:{port}: {error.strerror or error}") from error
    app = server.streamable_http_app(host=host)
    return uvicorn.Server(uvicorn.Config(app, log_level="warning")), listener


def listed(tool: Tool) -> types.Tool:
    """A tool as MCP lists it."""
    return types.Tool(name=tool.name, description=tool.description, input_schema=tool.parameters())


def text_result(text: str, *, ok: bool) -> types.CallToolResult:
    """A result in words; one that isn't `ok` is marked as an error."""
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=not ok)


def with_pictures(result: types.CallToolResult, observation: Observation) -> types.CallToolResult:
    """The result with the pictures of an observation added."""
    result.content += [
        types.ImageContent(
            type="image",
            data=base64.b64encode(image.data()).decode("ascii"),
            mime_type=image.media_type,
        )
        for image in observation.images
    ]
    return result


def _result(desk: Desk, name: str, arguments: Mapping[str, Any], client: str) -> types.CallToolResult:
    """Carry out a call; whatever goes wrong is told in the result."""
    try:
        if name == GET_TASK.name:
            answer, ok = desk.first(client), True
        else:
            answer = desk.call(name, arguments, client)
            ok = answer.ok
    except EvalkitError as error:
        return text_result(str(error), ok=False)
    except Exception as error:  # noqa: BLE001 - the desk keeps it and its server says it; clients need words
        return text_result(f"the episode broke off: {type(error).__name__}", ok=False)
    return with_pictures(text_result(_shortened(answer, desk), ok=ok), answer.observation)


def _shortened(answer: Answer, desk: Desk) -> str:
    """An answer's text, cut to what clients take; the cut says where the whole text is."""
    whole = answer.text()
    if len(whole) <= MAX_RESULT_CHARACTERS:
        return whole
    footer = answer.footer()
    path = desk.pictures.write_text(whole)
    note = f"[cut here: {len(whole):,} characters in all; the whole text is in {path}]"
    room = MAX_RESULT_CHARACTERS - len(note) - len(footer) - 4
    return f"{observation_text(answer.observation)[:room]}\n\n{note}\n\n{footer}"


def _client_name(params: types.InitializeRequestParams | None) -> str:
    """How the client calls itself, for the manifest."""
    if params is None:
        return ""
    return f"{params.client_info.name} {params.client_info.version}".strip()
