// OpenAI's own JavaScript client against a server: what it reads, as JSON. `node openai_client.mjs MODULES BASE TASK`
import { createRequire } from "node:module";

const [modules, base, task] = process.argv.slice(2);
const { OpenAI } = createRequire(`${modules}/`)("openai");
const client = (path) => new OpenAI({ baseURL: `${base}${path}`, apiKey: "any", maxRetries: 0 });
const ask = { model: "qwen3:8b", messages: [{ role: "user", content: "what does discount do?" }] };
const problem = async (work) => {
  try {
    await work();
    return "none";
  } catch (error) {
    return `${error.constructor.name} ${error.status} ${error.message}`;
  }
};

const seen = { models: [], streamed: "", progress: "", usage: 0 };
for await (const model of client("/v1/stream").models.list()) seen.models.push(model.id);
seen.whole = (await client("/v1").chat.completions.create(ask)).choices[0].message.content;
const stream = await client("/v1/stream").chat.completions.create({ ...ask, stream: true, stream_options: { include_usage: true } });
for await (const chunk of stream) {
  const delta = chunk.choices[0]?.delta;
  seen.streamed += delta?.content ?? "";
  seen.progress += delta?.reasoning_content ?? "";
  seen.usage += chunk.usage?.total_tokens ?? 0;
}
// Its helper puts the pieces together and checks them more strictly.
const helper = client("/v1/stream").chat.completions.stream(ask);
const final = await helper.finalChatCompletion();
seen.final = [final.choices[0].message.content, final.choices[0].finish_reason];
seen.refusedStream = await problem(() => client("/v1").chat.completions.create({ ...ask, stream: true }));
seen.task = await problem(async () => {
  const written = await client("/v1/stream").chat.completions.create({ ...ask, messages: [{ role: "user", content: task }], stream: true });
  seen.written = "";
  for await (const chunk of written) seen.written += chunk.choices[0]?.delta?.content ?? "";
});
console.log(JSON.stringify(seen));
