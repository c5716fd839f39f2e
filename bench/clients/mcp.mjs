// Says every line of a JSON list to `run` with the official TypeScript client: mcp.mjs PROGRAM PROJECT < LIST
import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [command, project] = process.argv.slice(2);
const transport = new StdioClientTransport({ command, args: ["mcp", project, "--allow-writes"], env: process.env });
const client = new Client({ name: "bench", version: "1.0.0" });
await client.connect(transport);
// The client checks every result against the tool's own schema once it has listed them.
await client.listTools();
const results = [];
for (const task of JSON.parse(readFileSync(0, "utf8"))) {
  const result = await client.callTool({ name: "run", arguments: { task } }, undefined, { timeout: 120_000 });
  results.push(result.structuredContent);
}
await client.close();
console.log(JSON.stringify(results));
