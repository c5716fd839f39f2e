// Runs the page's own script against a real server, with a stand-in for the few parts of a document that it uses.
// Words: the server's address and the steps as JSON, such as [["type", "fix it"], ["click", "run"]]; prints the state
// after each step, as JSON. A test with a real browser is in test_server_browser.py.
import vm from "node:vm";

const [base, steps] = [process.argv[2], JSON.parse(process.argv[3])];
const html = await (await fetch(`${base}/`)).text();
const origin = new URL(base).origin;

class Element {
  constructor(tag, attributes) {
    Object.assign(this, { tag, value: "", textContent: "", disabled: false, listeners: {} });
    this.hidden = /(^|\s)hidden(\s|$)/.test(attributes.replace(/"[^"]*"/g, ""));
    this.attributes = Object.fromEntries([...attributes.matchAll(/([\w-]+)="([^"]*)"/g)].map((found) => [found[1], found[2]]));
    this.dataset = Object.fromEntries(Object.entries(this.attributes).filter(([name]) => name.startsWith("data-")).map(([name, value]) => [name.slice(5), value]));
  }
  addEventListener(kind, listener) { (this.listeners[kind] ??= []).push(listener); }
  setAttribute(name, value) { this.attributes[name] = value; }
  focus() {}
  send(kind, event = {}) {
    if (this.hidden || this.disabled) throw new Error(`${this.attributes.id} cannot be used now`);
    for (const listener of this.listeners[kind] ?? []) listener({ preventDefault() {}, ...event });
  }
}

const elements = [...html.replace(/<(script|style)>[^]*?<\/\1>/g, "").matchAll(/<(\w+)((?:\s[^<>]*)?)>/g)].map((found) => new Element(found[1], found[2]));
const byId = (id) => elements.find((element) => element.attributes.id === id) ?? null;
const document = {
  getElementById: byId,
  querySelectorAll: (selector) => elements.filter((element) => element.tag === "button" && (selector === "button" || element.dataset.run)),
};
// A browser names the origin of every request that a page makes.
const asBrowser = (path, options) => fetch(new URL(path, base), { ...options, headers: { ...options.headers, origin, "sec-fetch-site": "same-origin" } });
const globals = { document, fetch: asBrowser, AbortController, TextDecoder, setInterval, clearInterval, Date, Error, JSON, Math, String };
vm.runInNewContext(/<script>([^]*?)<\/script>/.exec(html)[1], globals);

const states = [];
for (const [what, which] of steps) {
  if (what === "type") byId("task").value = which;
  else if (what === "submit") byId("talk").send("submit");
  else if (what === "enter") byId("task").send("keydown", { key: "Enter", ctrlKey: true });
  else if (what === "undo the last") elements.find((element) => element.dataset.run).send("click");
  else if (what === "stop after") { await new Promise((done) => setTimeout(done, which)); byId("stop").send("click"); }
  else byId(which).send("click");
  const busy = () => byId("answer").attributes["aria-busy"] === "true";
  if (what !== "type" && steps[states.length + 1]?.[0] !== "stop after") while (busy()) await new Promise((done) => setTimeout(done, 10));
  const usable = elements.filter((element) => element.tag === "button" && element.attributes.id && !element.hidden && !element.disabled);
  const [status, answer, diff] = ["status", "answer", "diff"].map((id) => byId(id).textContent);
  states.push({ status, answer, diff: byId("diff").hidden ? "" : diff, usable: usable.map((element) => element.attributes.id) });
}
console.log(JSON.stringify(states));
