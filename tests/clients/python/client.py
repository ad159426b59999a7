"""Lists and calls every tool with the official Python SDK, and validates each result.

Usage: client.py BINARY PROJECT SCHEMAS ARGUMENTS
ARGUMENTS is a JSON file of [tool, schema, arguments].
"""

import asyncio
import json
import pathlib
import sys

import jsonschema
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(binary, project, schemas, calls):
    calls = json.loads(pathlib.Path(calls).read_text())
    server = StdioServerParameters(command=binary, args=["mcp", "--root", project])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        names = [tool.name for tool in (await session.list_tools()).tools]
        assert names == [name for name, _, _ in calls], names
        for name, schema, arguments in calls:
            result = await session.call_tool(name, arguments)
            found = result.model_dump(by_alias=True, mode="json")
            assert not found["isError"], (name, found)
            published = json.loads((pathlib.Path(schemas) / f"{schema}.json").read_text())
            jsonschema.validate(found["structuredContent"], published)
    print(f"{len(calls)} tools called")


asyncio.run(main(*sys.argv[1:]))
