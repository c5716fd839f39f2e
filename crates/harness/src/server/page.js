// The page's own script: it asks, runs, shows what would change or did change, and keeps or takes it back, through the
// same routes as any program. Everything is shown as text, never as markup.
"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  const [form, task, status, answer, diff] = ["talk", "task", "status", "answer", "diff"].map(at);
  const [run, preview, stop, keep, undo] = ["run", "preview", "stop", "keep", "undo"].map(at);
  const token = form.dataset.token;
  // The conversation: what a later message is read in the light of.
  const said = [];
  // The request that is under way, and the run that the buttons below the diff are about.
  let leaving = null;
  let shown = "";

  const tell = (text) => { status.textContent = text; };

  async function post(path, body) {
    const headers = { "content-type": "application/json", "x-page-token": token };
    const response = await fetch(path, { method: "POST", headers, body: JSON.stringify(body), signal: leaving.signal });
    if (!response.ok) throw problem(await response.json());
    return response;
  }

  function problem(told) {
    const { message, hint } = told.error;
    return new Error(hint ? `${message} (${hint})` : message);
  }

  // Shows a result: its words, its diff, and what can be done about it.
  function show(result, words) {
    answer.textContent = words;
    diff.textContent = result.diff;
    diff.hidden = !result.diff;
    shown = result.run_id;
    if (keep) keep.hidden = !(result.diff && !result.writes.length && result.ok);
    if (undo) undo.hidden = !result.writes.length;
    tell(result.stopped === "question" ? "A question is open: answer it above." : result.ok ? "Done." : `Ended: ${result.stopped}.`);
  }

  async function whole(path, body) {
    const result = await (await post(path, body)).json();
    show(result, result.summary);
    return result.summary;
  }

  // The words of the reply as they are written, what is going on in between.
  async function streamed() {
    const response = await post("/v1/stream/chat/completions", { messages: said, stream: true });
    const decoder = new TextDecoder();
    let [words, rest, result] = ["", "", null];
    for await (const bytes of pieces(response.body)) {
      const events = (rest + decoder.decode(bytes, { stream: true })).split("\n\n");
      rest = events.pop();
      for (const event of events.filter((text) => text.startsWith("data: {"))) {
        const chunk = JSON.parse(event.slice(6));
        if (chunk.error) throw problem(chunk);
        const delta = chunk.choices[0]?.delta ?? {};
        if (delta.reasoning_content) tell(delta.reasoning_content.trim());
        if (delta.content) answer.textContent = words += delta.content;
        result = chunk.harness ?? result;
      }
    }
    if (!result) throw new Error("the server went away");
    // The diff stands in a place of its own.
    show(result, result.writes.length ? result.summary : words);
    return words;
  }

  async function* pieces(stream) {
    const reader = stream.getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  }

  // Does one thing at a time; the reply becomes part of the conversation.
  async function talk(name, work, words) {
    if (leaving) return;
    leaving = new AbortController();
    const began = Date.now();
    const beat = setInterval(() => { stop.textContent = `Stop (${Math.round((Date.now() - began) / 1000)} s)`; }, 1000);
    busy(true);
    tell(`${name} …`);
    if (words) said.push({ role: "user", content: words });
    try {
      const reply = await work();
      if (words) said.push({ role: "assistant", content: reply });
    } catch (error) {
      if (words) said.pop();
      tell(error.name === "AbortError" ? "Stopped; nothing was kept." : error.message);
    } finally {
      clearInterval(beat);
      leaving = null;
      busy(false);
    }
  }

  function busy(now) {
    answer.setAttribute("aria-busy", String(now));
    stop.hidden = !now;
    stop.textContent = "Stop";
    for (const button of document.querySelectorAll("button")) if (button !== stop) button.disabled = now;
    if (!now) return;
    answer.textContent = "";
    diff.hidden = true;
    if (keep) keep.hidden = true;
    if (undo) undo.hidden = true;
  }

  const typed = (name, work) => () => {
    const words = task.value.trim();
    if (words) talk(name, () => work(words), words);
    else { tell("Say what you want first."); task.focus(); }
  };
  // On a server that may write only `/v1/ask` is sure to change nothing; elsewhere nothing does, and words can stream.
  const ask = typed("Asking", run ? (words) => whole("/v1/ask", { task: words }) : streamed);
  form.addEventListener("submit", (event) => { event.preventDefault(); ask(); });
  task.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); ask(); }
  });
  stop.addEventListener("click", () => leaving?.abort());
  run?.addEventListener("click", typed("Running", streamed));
  preview?.addEventListener("click", typed("Looking", (words) => whole("/v1/run", { task: words, dry_run: true })));
  keep?.addEventListener("click", () => talk("Writing", () => whole("/v1/apply", { run: shown })));
  const takeBack = (run) => () => talk("Undoing", () => whole("/v1/undo", { run: run ?? shown }));
  undo?.addEventListener("click", takeBack());
  for (const button of document.querySelectorAll("button[data-run]")) button.addEventListener("click", takeBack(button.dataset.run));
})();
