// Keys of the policy as fields, straight from its schema: whatever a policy may say can be set here too.
import { html, useState } from "./vendor/preact.js";
import { change, useStore } from "./store.js";

const WORDS = {
  path: ["The table", "from the policy's folder, or absolute"], separator: ["Sign between the fields", "found by itself where it is empty"],
  encoding: ["How the file writes letters", "UTF-8 unless it says otherwise"], decimal: ["Sign before the decimals", "found by itself where it is empty"],
  sheet: ["Sheet of the workbook", "by name, or by number from 1; the first one where it is empty"], skip: ["Lines above the names of columns", "such as a title; 0 where it is empty"],
  engine: ["Where the table is held", "chosen by itself where it is empty; on the disk, or on a cluster, for tables larger than memory"], local: "in memory", stream: "on the disk (Parquet)", spark: "on a cluster (Apache Spark)",
  key: ["Who somebody is in another table", "an identifier; archives keep a keyed hash of it"],
  previous: ["Earlier releases", "archives, from the policy's folder; the release holds together with them"],
  order: ["Order of the rows", "the table's own order can tell who somebody is"], shape: ["People with several records", "one row each, or one row for each item"],
  conflicts: ["Where a person's records disagree", ""], limit: ["How many may be left out", "0.05 is 5 in 100"], show: ["Records left out", ""],
  loss: ["What counts as loss", ""], seed: ["Seed", "the same seed gives the same release"],
  sorted: "sorted, tells nothing", shuffle: "shuffled, different every time", keep: "as in the table", sets: "one row for each person", long: "one row for each item",
  error: "stop and say so", generalize: "show what covers all of them", drop: "leave their rows out", star: "show * in them",
  ncp: "share of detail (NCP)", il: "information loss (IL)", precision: "steps climbed (precision)",
};

/** Follow references, and of alternatives take the first that is more than nothing. */
export function resolved(schema, whole) {
  let here = schema;
  for (let i = 0; i < 8 && here; i += 1) {
    if (here.$ref) here = { ...here.$ref.replace("#/", "").split("/").reduce((at, step) => at?.[step], whole), ...(here.default !== undefined ? { default: here.default } : {}) };
    else if (here.anyOf && here.anyOf.some((one) => one.type === "null")) here = { ...here.anyOf.find((one) => one.type !== "null"), default: here.default };
    else if (here.allOf?.length === 1) here = { ...here.allOf[0], default: here.default };
    else break;
  }
  return here ?? {};
}

export function Field({ id, schema, value, save, whole }) {
  const here = resolved(schema, whole);
  const [draft, type] = useState(null);
  const choices = here.enum ?? (here.const !== undefined ? [here.const] : null);
  const type_ = Array.isArray(here.type) ? here.type[0] : here.type;
  const done = (text) => { type(null); save(text === "" ? undefined : type_ === "array" ? text.split(",").map((t) => t.trim()).filter(Boolean) : text); };
  if (choices) {
    return html`<select id=${id} value=${value ?? ""} onChange=${(e) => save(e.target.value || undefined)}>
      <option value="">${here.default !== undefined && here.default !== null ? `as usual: ${WORDS[here.default] ?? here.default}` : "as usual"}</option>
      ${choices.map((c) => html`<option value=${c} selected=${value === c}>${typeof WORDS[c] === "string" ? WORDS[c] : c}</option>`)}</select>`;
  }
  if (type_ === "boolean") {
    return html`<select id=${id} value=${value ?? ""} onChange=${(e) => save(e.target.value || undefined)}><option value="">as usual</option><option value="true">yes</option><option value="false">no</option></select>`;
  }
  const shown = Array.isArray(value) ? value.join(", ") : value ?? "";
  const usual = here.default === undefined || here.default === null ? "" : Array.isArray(here.default) ? here.default.join(", ") : String(here.default);
  return html`<input id=${id} value=${draft ?? shown} placeholder=${usual} inputmode=${["number", "integer"].includes(type_) ? "decimal" : null} onInput=${(e) => type(e.target.value)}
    onBlur=${(e) => draft !== null && draft !== shown && done(e.target.value)} onKeyDown=${(e) => e.key === "Enter" && done(e.target.value)} />`;
}

/** The keys under a mapping of the policy as fields. `only` or `without` choose among them. */
export function Settings({ under, only, without = [], words }) {
  const { project, catalogue } = useStore();
  const whole = catalogue?.schema;
  if (!whole) return null;
  let schema = whole;
  for (const step of under) schema = resolved(schema.properties?.[step] ?? {}, whole);
  const content = under.reduce((at, step) => at?.[step], project.content) ?? {};
  const names = Object.keys(schema.properties ?? {}).filter((name) => (only ? only.includes(name) : !without.includes(name)));
  return html`<div class="form">${names.map((name) => {
    const [label, hint] = Array.isArray(WORDS[name]) ? WORDS[name] : [name, ""];
    const id = ["field", ...under, name].join("-");
    return html`<label for=${id}>${label} <code class="soft">${name}</code></label>
      <${Field} key=${name} id=${id} schema=${schema.properties[name]} whole=${whole} value=${content[name]}
        save=${(value) => change(() => ({ changes: [value === undefined ? { path: [...under, name] } : { path: [...under, name], value }], words: `${words ? `${words}: ` : ""}${name}${value === undefined ? " as usual" : ` ${value}`}` }))} />
      ${hint && html`<span class="hint">${hint}</span>`}`;
  })}</div>`;
}
