// Calls the server through the client that `openapi-typescript` and `openapi-fetch` make of its description.
import createClient from "openapi-fetch";
import type { paths } from "./schema";

const [address, task] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl: address });
const health = await client.GET("/health");
const brief = await client.POST("/v1/brief", { body: {} });
const run = await client.POST("/v1/run", { body: { task } });
const vague = await client.POST("/v1/run", { body: { task: " " } });
console.log(
  JSON.stringify({
    version: health.data?.version,
    files: brief.data?.data.files,
    writes: run.data?.writes,
    stopped: run.data?.stopped,
    problem: vague.error?.error.param,
  }),
);
