// Makes src/protocol.ts from the relay's own models: `npm run types`; with --check it only says whether it is current.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const repository = fileURLToPath(new URL("../../", import.meta.url));
const target = fileURLToPath(new URL("../src/protocol.ts", import.meta.url));
const python = process.env.PYTHON ?? `${repository}.venv/bin/python`;

const PLAIN = { string: "string", integer: "number", number: "number", boolean: "boolean", null: "null" };

function type(schema) {
  if (schema.$ref) return schema.$ref.split("/").at(-1);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.anyOf) return schema.anyOf.map(type).join(" | ");
  if (schema.type === "array") return `readonly ${grouped(type(schema.items))}[]`;
  if (schema.type === "object") return "Readonly<Record<string, unknown>>";
  if (schema.type in PLAIN) return PLAIN[schema.type];
  throw new Error(`no TypeScript for ${JSON.stringify(schema)}`);
}

const grouped = (text) => (text.includes(" ") ? `(${text})` : text);

function comment(text, indent = "") {
  if (!text) return "";
  const lines = text.split("\n").map((line) => `${indent} * ${line.trim()}`.trimEnd());
  return lines.length === 1 ? `${indent}/** ${text} */\n` : `${indent}/**\n${lines.join("\n")}\n${indent} */\n`;
}

function model(name, { description, properties = {}, required = [] }, isResult) {
  const present = (field) => isResult || required.includes(field);
  const fields = Object.entries(properties).map(
    ([field, schema]) => `  readonly ${field}${present(field) ? "" : "?"}: ${type(schema)};\n`,
  );
  const body = fields.length > 0 ? `{\n${fields.join("")}}` : "Record<string, never>";
  const head = fields.length > 0 ? `export interface ${name} ${body}` : `export type ${name} = ${body};`;
  return comment(description) + head;
}

function table(name, what, rows) {
  return `/** ${what} */\nexport interface ${name} {\n${rows.map((row) => `  ${row};\n`).join("")}}`;
}

function render({ $defs, methods, notifications }) {
  const inputs = new Set(Object.values(methods).map(({ params }) => type(params)));
  const isInput = (name) => inputs.has(name) || reachable(inputs, $defs).has(name);
  const models = Object.keys($defs).sort().map((name) => model(name, $defs[name], !isInput(name)));
  const calls = Object.entries(methods).map(
    ([name, { params, result }]) => `readonly "${name}": { readonly params: ${type(params)}; readonly result: ${type(result)} }`,
  );
  const pushed = Object.entries(notifications).map(([name, schema]) => `readonly "${name}": ${type(schema)}`);
  return [
    "/** Made by `npm run types` from the relay's models (`bridge/relay/messages.py`); never edited by hand. */",
    table("Methods", "What a client may call.", calls),
    table("Notifications", "What the bridge sends by itself.", pushed),
    ...models,
  ].join("\n\n") + "\n";
}

function reachable(names, $defs) {
  const found = new Set();
  const visit = (schema) => {
    for (const [, name] of JSON.stringify(schema).matchAll(/"#\/\$defs\/(\w+)"/g)) {
      if (!found.has(name)) {
        found.add(name);
        visit($defs[name]);
      }
    }
  };
  for (const name of names) visit($defs[name]);
  return found;
}

const schema = execFileSync(python, ["-P", "-m", "bridge.relay.schema"], { encoding: "utf8", cwd: repository });
const text = render(JSON.parse(schema));
if (!process.argv.includes("--check")) {
  writeFileSync(target, text);
} else if (readFileSync(target, "utf8") !== text) {
  console.error("src/protocol.ts is not what the relay's models say: run npm run types, then commit it.");
  process.exit(1);
}
