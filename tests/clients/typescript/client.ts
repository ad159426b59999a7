// Lists and calls every tool with the official TypeScript SDK, and validates each result.
// Usage: client.ts BINARY PROJECT SCHEMAS ARGUMENTS
// ARGUMENTS is a JSON file of [tool, schema, arguments].

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Ajv2020 } from "ajv/dist/2020.js";

const [binary, project, schemas, file] = process.argv.slice(2) as [string, string, string, string];
const calls = JSON.parse(readFileSync(file, "utf8")) as [string, string, Record<string, unknown>][];

const client = new Client({ name: "test", version: "1.0.0" });
await client.connect(new StdioClientTransport({ command: binary, args: ["mcp", "--root", project] }));
const names = (await client.listTools()).tools.map((tool) => tool.name);
const expected = calls.map(([name]) => name);
if (JSON.stringify(names) !== JSON.stringify(expected)) throw new Error(`the tools are ${names}`);
const ajv = new Ajv2020({ strict: false, validateFormats: false });
for (const [name, schema, given] of calls) {
  const result = await client.callTool({ name, arguments: given });
  if (result.isError) throw new Error(`${name}: ${JSON.stringify(result)}`);
  const holds = ajv.compile(JSON.parse(readFileSync(join(schemas, `${schema}.json`), "utf8")));
  if (!holds(result.structuredContent)) throw new Error(`${name}: ${ajv.errorsText(holds.errors)}`);
}
await client.close();
console.log(`${calls.length} tools called`);
