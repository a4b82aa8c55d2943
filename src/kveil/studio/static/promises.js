// 4 Promises: what may somebody know at once, what must not be learned, whose records, rules, how many may be left out.
import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { Refused, api, attempt, change, complain, go, lastJob, put, set, state, useStore } from "./store.js";
import { MODELS, SETTINGS, count, letter, listing, sentence, withRole } from "./words.js";
import { Settings } from "./settings.js";


/** A promise, or the nearest to it that the table's rows and values allow, and why not the promise itself. */
async function nearest(model) {
  try { return await api("POST", "proposal", { model }); } catch (error) {
    if (!(error instanceof Refused)) throw error;
    // the policy is not complete yet, so all that is known is how many values the column has
    const values = state.table?.columns?.find((column) => column.name === model.sensitive)?.values ?? Infinity;
    const key = ["l", "p"].find((each) => model[each] !== undefined);
    if (!key || Number(model[key]) <= values) return { model, why: null };
    const why = `${model.sensitive} has ${count(values, "value")}, fewer than ${key} = ${model[key]}.`;
    return { model: values < 2 ? null : { ...model, [key]: values }, why };
  }
}

/** What the check found wrong with a promise, and the nearest that the table allows, at a click. */
function Fault({ index, model, check }) {
  const found = check.state === "done" ? (check.impossible_promises ?? []).filter((each) => each.privacy === index) : [];
  if (!found.length) return null;
  const weaken = async () => {
    const fitting = await nearest(model);
    if (fitting.model && fitting.why) savePromises((list) => list.map((each, i) => (i === index ? fitting.model : each)), `promise ${letter(index)}: as far as the table allows`);
    else complain(fitting.why ?? "The table's values alone allow this promise; loosen a limit, ask for less, or allow more to be left out.");
  };
  return html`<div class="notice bad">${found.map((each) => html`<p>${each.why}</p>`)}<div class="row"><button onClick=${weaken}>Ask for as much as the table allows</button></div></div>`;
}

const savePromises = (make, words) => change((content) => ({ changes: [{ path: ["privacy"], value: make([...(content.privacy ?? [])]) }], words }));

function Setting({ index, name, model }) {
  const { label, choices } = SETTINGS[name];
  const [draft, type] = useState(null);
  const id = `p${index}-${name}`;
  const path = ["privacy", index, name];
  if (choices) {
    const pick = (value) => change((content) => {
      const now = { ...content.privacy[index] };
      if (Object.keys(choices)[0] === value) delete now[name]; else now[name] = value;
      if (name === "variant") { if (value === "recursive") now.c ??= "3"; else delete now.c; }
      return { changes: [{ path: ["privacy", index], value: now }], words: `promise ${letter(index)}: ${name} ${value}` };
    });
    return html`<label for=${id}>${label} <select id=${id} value=${model[name] ?? Object.keys(choices)[0]} onChange=${(e) => pick(e.target.value)}>${Object.entries(choices).map(([value, words]) => html`<option value=${value} selected=${(model[name] ?? Object.keys(choices)[0]) === value}>${words}</option>`)}</select></label>`;
  }
  const done = () => { if (draft !== null && draft !== "" && draft !== String(model[name])) put(path, draft, `promise ${letter(index)}: ${name} ${draft}`); type(null); };
  return html`<label for=${id}>${label} <input id=${id} type="number" step=${["alpha", "t", "c"].includes(name) ? "0.05" : "1"} min="0" value=${draft ?? model[name] ?? ""} onInput=${(e) => type(e.target.value)} onChange=${done} onBlur=${done} /></label>`;
}

function Over({ index, model, quasi }) {
  const named = Array.isArray(model.attributes) ? model.attributes : null;
  const toggle = (name, on) => savePromises((list) => {
    const now = { ...list[index] };
    const next = quasi.filter((q) => (q === name ? on : !named || named.includes(q)));
    if (next.length === quasi.length) delete now.attributes; else now.attributes = next;
    list[index] = now;
    return list;
  }, `promise ${letter(index)}: ${on ? "with" : "without"} ${name}`);
  const chosen = quasi.filter((name) => !named || named.includes(name));
  return html`<fieldset class="chips"><legend class="sr">Columns of promise ${letter(index)}</legend>${quasi.map((name) => html`<label class="chip"><input type="checkbox" checked=${chosen.includes(name)} disabled=${chosen.length === 1 && chosen[0] === name} onChange=${(e) => toggle(name, e.target.checked)} />${name}</label>`)}</fieldset>`;
}

function Promise_({ index, model, quasi, secrets, noun, only }) {
  const { check, promise } = useStore();
  const here = useRef(null);
  useEffect(() => { if (promise === index) { here.current.scrollIntoView({ block: "center" }); here.current.focus({ preventScroll: true }); set({ promise: null }); } }, [promise]);
  const kinds = MODELS[model.model]?.keys ?? Object.keys(model).filter((key) => !["model", "attributes"].includes(key));
  const many = ["kl-diversity", "k-km-anonymity"].includes(model.model);
  const chosen = [model.sensitive ?? []].flat();
  return html`<div class="promise" ref=${here} tabindex="-1" role="group" aria-label=${`Promise ${letter(index)}`}><span class="letter" aria-hidden="true">${letter(index)}</span>
    <div class="stack"><${Over} index=${index} model=${model} quasi=${quasi} />
      ${kinds.includes("sensitive") && html`<div class="row"><span>must not be learned:</span>${many ? html`<span class="chips">${secrets.map((s) => html`<label class="chip"><input type="checkbox" checked=${chosen.includes(s)} disabled=${chosen.length === 1 && chosen[0] === s} onChange=${(e) => { const next = secrets.filter((o) => (o === s ? e.target.checked : chosen.includes(o))); put(["privacy", index, "sensitive"], next.length === 1 ? next[0] : next, `promise ${letter(index)}: ${next.join(", ")}`); }} />${s}</label>`)}</span>`
        : html`<select aria-label=${`Protected column of promise ${letter(index)}`} value=${chosen[0] ?? ""} onChange=${(e) => put(["privacy", index, "sensitive"], e.target.value, `promise ${letter(index)}: ${e.target.value}`)}>${secrets.map((s) => html`<option value=${s} selected=${s === chosen[0]}>${s}</option>`)}</select>`}</div>`}
      <div class="row">${kinds.filter((name) => name !== "sensitive" && (name !== "c" || model.variant === "recursive") && SETTINGS[name]).map((name) => html`<${Setting} key=${name} index=${index} name=${name} model=${model} />`)}</div>
      <p class="reads">${sentence(model, quasi, noun)} <code class="soft">${model.model}</code></p>
      <${Fault} index=${index} model=${model} check=${check} /></div>
    <button class="quiet" disabled=${only} title=${only ? "A policy needs one promise at least" : "Take this promise away"} aria-label=${`Take promise ${letter(index)} away`} onClick=${() => savePromises((list) => list.filter((_, i) => i !== index), `took promise ${letter(index)} away`)}>✕</button></div>`;
}

function Rules({ content }) {
  const { jobs } = useStore();
  const job = lastJob(jobs, "rules");
  const rules = content.dependencies ?? [];
  const [text, type] = useState("");
  const save = (next, words) => change(() => ({ changes: [next.length ? { path: ["dependencies"], value: next } : { path: ["dependencies"] }], words }));
  const released = Object.entries(content.attributes ?? {}).filter(([, a]) => !["identifier", "individual"].includes(a?.role)).map(([n]) => n);
  const found = (job?.result?.functional ?? job?.result?.found ?? []).map((rule) => (typeof rule === "string" ? rule : rule.rule)).filter((rule) => rule && rule.split(/->>?|,/).every((name) => released.includes(name.trim())) && !rules.includes(rule));
  return html`<section class="card stack"><h3>Rules that must still be true in the release</h3>
    <p class="small soft">Such as “every zip has one city”. Readers may rely on them, so kveil keeps both sides in step.</p>
    ${rules.length ? html`<span class="chips">${rules.map((rule) => html`<span class="chip">${rule}<button aria-label=${`Without the rule ${rule}`} onClick=${() => save(rules.filter((r) => r !== rule), `without the rule ${rule}`)}>✕</button></span>`)}</span>` : html`<p class="soft">None.</p>`}
    <div class="row"><button disabled=${job?.state === "running"} onClick=${() => attempt(() => api("POST", "jobs", { do: "rules" }))}>${job?.state === "running" ? "Looking…" : "Look for rules in the table"}</button>
      <form class="row" onSubmit=${(e) => { e.preventDefault(); if (text && !rules.includes(text)) save([...rules, text], `rule ${text}`); type(""); }}><input aria-label="Another rule" placeholder="zip -> city" value=${text} onInput=${(e) => type(e.target.value)} /><button class="tight">Add</button></form></div>
    ${job?.state === "refused" && html`<p class="bad small">${job.told}</p>`}
    ${job?.state === "done" && html`<fieldset><legend class="small">Found in the table; they may be chance:</legend>${found.length ? found.slice(0, 30).map((rule) => html`<label class="choice"><input type="checkbox" onChange=${() => save([...rules, rule], `rule ${rule}`)} />${rule}</label>`) : html`<p class="soft small">No others between the columns that are released.</p>`}</fieldset>`}</section>`;
}

function Individuals({ content }) {
  const names = Object.keys(content.attributes ?? {});
  const who = withRole(content, "individual")[0];
  const [asked, ask] = useState(Boolean(who));
  useEffect(() => ask(Boolean(who)), [who]);
  const choose = (name) => change(() => ({ changes: [...(who ? [{ path: ["attributes", who, "role"], value: "identifier" }] : []), ...(name ? [{ path: ["attributes", name, "role"], value: "individual" }, ...["hierarchy", "boundary", "weight"].filter((key) => key in (content.attributes[name] ?? {})).map((key) => ({ path: ["attributes", name, key] }))] : []), ...(name ? [] : [{ path: ["individual"] }])], words: name ? `${name} says whose record it is` : "one record for each person" }));
  return html`<section class="card stack"><h3>Do people have several records?</h3>
    <div class="row"><label class="choice"><input type="radio" name="several" checked=${!asked} onChange=${() => { ask(false); if (who) choose(null); }} />no, one each</label>
      <label class="choice"><input type="radio" name="several" checked=${asked} onChange=${() => ask(true)} />yes</label>
      ${asked && html`<label>the column that says whose <select value=${who ?? ""} onChange=${(e) => choose(e.target.value)}><option value="">choose…</option>${names.map((name) => html`<option value=${name} selected=${name === who}>${name}</option>`)}</select></label>`}</div>
    ${who && html`<${Settings} under=${["individual"]} words="people" /><${Settings} under=${["release"]} only=${["shape"]} words="release" />`}</section>`;
}

function LeftOut({ content }) {
  const limit = Number(content.suppression?.limit ?? 0);
  const [draft, type] = useState(null);
  const done = () => { if (draft !== null && draft !== "") { const value = Number((Number(draft) / 100).toFixed(6)); if (value !== limit) put(["suppression", "limit"], value, `up to ${draft} % left out`); } type(null); };
  const show = content.suppression?.show ?? "drop";
  return html`<section class="card stack"><h3>How many may be left out?</h3>
    <p class="small soft">Unusual records would make everybody's values coarser. A few may be left out instead.</p>
    <div class="row"><label>up to <input type="number" min="0" max="100" step="0.5" value=${draft ?? Number((100 * limit).toFixed(4))} onInput=${(e) => type(e.target.value)} onChange=${done} onBlur=${done} /> %</label>
      <fieldset class="row"><legend class="sr">How they show</legend>${[["drop", "leave their rows out"], ["star", "show * in them"]].map(([id, words]) => html`<label class="choice"><input type="radio" name="show" checked=${show === id} onChange=${() => put(["suppression", "show"], id, words)} />${words}</label>`)}</fieldset></div></section>`;
}

export function PromisesScreen() {
  const { project } = useStore();
  const content = project.content;
  const privacy = Array.isArray(content.privacy) ? content.privacy : [];
  const quasi = withRole(content, "quasi-identifier");
  const secrets = withRole(content, "sensitive");
  const people = withRole(content, "individual").length > 0;
  const noun = people ? "people" : "records";
  const covered = new Set(privacy.flatMap((m) => m.attributes ?? quasi));
  const bare = quasi.filter((name) => !covered.has(name));
  const all = privacy.some((m) => !m.attributes || quasi.every((q) => m.attributes.includes(q)));
  const [kind, setKind] = useState("l-diversity");
  const add = (model, words) => savePromises((list) => [...list, model], words);
  const addSecret = async () => {
    const model = { model: kind, sensitive: secrets[0] };
    for (const key of MODELS[kind].keys) if (SETTINGS[key]?.start !== undefined && key !== "c") model[key] = SETTINGS[key].start;
    const fitting = await nearest(model);
    if (fitting.model) add(fitting.model, `promise of ${kind}`); else complain(fitting.why);
  };
  const indexed = privacy.map((model, index) => ({ model, index }));
  const known = indexed.filter(({ model }) => model?.model === "k-anonymity");
  const others = indexed.filter(({ model }) => model?.model !== "k-anonymity");
  const row = ({ model, index }) => html`<${Promise_} key=${index} index=${index} model=${model ?? {}} quasi=${quasi} secrets=${secrets} noun=${noun} only=${privacy.length === 1} />`;
  return html`<h2>What do you promise?</h2><p class="lead">All promises hold in the release, or nothing is released.</p>
    <section class="card"><div class="row end"><h3>What may somebody know about one person at the same time?</h3>
      <button onClick=${() => add({ model: "k-anonymity", k: Number(known[0]?.model.k ?? 5), ...(known.length && quasi.length > 1 ? { attributes: quasi.slice(0, -1) } : {}) }, "another promise")} disabled=${!quasi.length}>+ another</button></div>
      ${known.length ? known.map(row) : html`<p class="soft">No such promise yet.</p>`}
      ${bare.length > 0 && html`<div class="notice warn"><p>${listing(bare)} ${bare.length === 1 ? "is" : "are"} in no promise: ${bare.length === 1 ? "it" : "they"} would be released as ${bare.length === 1 ? "it is" : "they are"}, and kveil refuses that.</p>
        <div class="row"><button onClick=${() => add({ model: "k-anonymity", k: 5, attributes: bare }, `promise over ${listing(bare)}`)}>Promise something about ${bare.length === 1 ? "it" : "them"}</button></div></div>`}
      ${!all && !bare.length && quasi.length > 1 && html`<div class="notice warn"><p>Nobody who knows all ${count(quasi.length, "column")} at once is stopped.</p><div class="row"><button onClick=${() => add({ model: "k-anonymity", k: Math.min(...known.map(({ model }) => Number(model.k) || 5), 5) }, "promise over all columns")}>+ a promise over all of them</button></div></div>`}
    </section>
    <section class="card"><div class="row end"><h3>What must not be learned?</h3>
      <span class="row"><select aria-label="Kind of promise" value=${kind} onChange=${(e) => setKind(e.target.value)}>${Object.entries(MODELS).filter(([id]) => id !== "k-anonymity" && (people || !["kl-diversity", "k-km-anonymity"].includes(id))).map(([id, words]) => html`<option value=${id}>${words.name} (${id})</option>`)}</select>
      <button onClick=${addSecret} disabled=${!secrets.length} title=${secrets.length ? "" : "No column is to be protected; say so on Columns"}>+ add</button></span></div>
      <p class="small soft">Look-alikes protect nobody if all of them have the same ${secrets[0] ?? "diagnosis"}.</p>
      ${others.map(row)}${!others.length && html`<p class="soft">No such promise yet.</p>`}</section>
    <div class="two"><${LeftOut} content=${content} /><${Individuals} content=${content} /></div>
    <${Rules} content=${content} />
    <section class="card"><details><summary>The rest of what a policy can say</summary>
      <${Settings} under=${["release"]} without=${people ? ["shape"] : []} words="release" /><${Settings} under=${[]} without=${["kveil", "data", "attributes", "privacy", "dependencies", "suppression", "individual", "release", "algorithm", "engine", "loss", "seed"]} /></details></section>
    <p><button class="main" onClick=${() => go("check")}>Go on to the check</button></p>`;
}
