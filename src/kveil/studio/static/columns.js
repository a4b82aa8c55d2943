// 2 Columns: what is each column? Many at once, with the reason for every suggestion.
import { html, useEffect, useMemo, useRef, useState } from "./vendor/preact.js";
import { api, attempt, change, go, useStore } from "./store.js";
import { ROLES, count, limitInWords, number, stepsInWords } from "./words.js";

const setRole = (names, role) => change(() => ({ names, role }), "policy/roles");
const looksRight = (names) => change(() => ({ names }), "policy/looks-right");

function Values({ column, hidden }) {
  const [answer, show] = useState(null);
  const [find, type] = useState("");
  const [asked, ask] = useState(false);
  const visible = asked || !hidden;  // the role may change while the values are open
  useEffect(() => {
    if (!visible) return undefined;
    const timer = setTimeout(async () => {
      show(await attempt(() => api("GET", `values?column=${encodeURIComponent(column)}&find=${encodeURIComponent(find)}${hidden ? "&show=1" : ""}`)));
    }, find ? 250 : 0);
    return () => clearTimeout(timer);
  }, [visible, find]);
  if (!visible) return html`<p class="soft">The values of this column name people, so they are not shown. <button class="link" onClick=${() => ask(true)}>Show them</button></p>`;
  if (!answer) return html`<p class="soft">Counting…</p>`;
  const most = answer.values[0]?.[1] ?? 1;
  return html`<div class="stack"><input aria-label=${`Find a value of ${column}`} placeholder="find a value…" value=${find} onInput=${(e) => type(e.target.value)} />
    <table><caption>${count(answer.of, "value")}${answer.of > 10 ? ", the 10 most frequent" : ""}</caption><tbody>
    ${answer.values.slice(0, 10).map(([text, n]) => html`<tr><th scope="row">${text}</th><td><span class="meter track"><i style=${{ width: `${(100 * n) / most}%` }}></i></span></td><td class="n">${number(n)}</td></tr>`)}</tbody></table></div>`;
}

function Row({ name, attribute, facts, note, ticked, tick, decide }) {
  const [open, toggle] = useState(false);
  const role = attribute?.role ?? "";
  const hidden = ["identifier", "individual"].includes(role);
  const hasSteps = role === "quasi-identifier" || (role === "sensitive" && attribute.hierarchy);
  return html`<tr class=${ticked ? "on" : ""}>
    <td class="tick"><input type="checkbox" aria-label=${`Tick ${name}`} checked=${ticked} onClick=${(e) => tick(name, e.shiftKey)} /></td>
    <th scope="row"><button class="link" aria-expanded=${open} title="Show its values" onClick=${() => toggle(!open)}>${name}</button></th>
    <td><select aria-label=${`What is ${name}?`} value=${role} onChange=${(e) => setRole([name], e.target.value)}>
      ${!ROLES[role] && html`<option value="">not decided</option>`}
      ${Object.entries(ROLES).map(([id, words]) => html`<option value=${id} selected=${id === role}>${words.name}</option>`)}</select>
      <div class="how">${hasSteps ? html`<button class="link" aria-label=${`Steps of ${name}: ${stepsInWords(attribute)}`} onClick=${() => go("steps", name)}>${stepsInWords(attribute)}</button>${role === "quasi-identifier" && attribute.boundary ? ` · limit ${limitInWords(attribute)}` : ""}` : ROLES[role]?.does ?? "every column needs a decision"}</div></td>
    <td class="why">${decide && html`<span class="badge warn">decide</span> `}<span class="why">${note}</span>
      ${decide && html` <button class="tight" onClick=${() => looksRight([name])}>Looks right</button>`}</td>
    <td class="n" data-label="values">${number(facts?.values)}</td><td class="n" data-label="missing">${number(facts?.missing)}</td></tr>
    ${open && html`<tr><td colspan="6"><${Values} column=${name} hidden=${hidden} /></td></tr>`}`;
}


export function ColumnsScreen() {
  const { project, table } = useStore();
  const [filter, type] = useState("");
  const [only, setOnly] = useState(false);
  const [ticked, setTicked] = useState(new Set());
  const [shown, more] = useState(60);
  const last = useRef(null);
  const attributes = project.content.attributes ?? {};
  const deciding = project.deciding;
  const facts = useMemo(() => new Map((table?.columns ?? []).map((c) => [c.name, c])), [table]);
  const all = [...new Set([...(table?.columns ?? []).map((c) => c.name), ...Object.keys(attributes)])];
  const names = all.filter((name) => name.toLowerCase().includes(filter.toLowerCase()) && (!only || deciding.includes(name) || !attributes[name]));
  const unlisted = (table?.columns ?? []).map((c) => c.name).filter((name) => !(name in attributes));
  const absent = table?.columns?.length ? Object.keys(attributes).filter((name) => !facts.has(name)) : [];
  const tick = (name, range) => {
    const next = new Set(ticked);
    if (range && last.current !== null) {
      const [a, b] = [names.indexOf(last.current), names.indexOf(name)].sort((x, y) => x - y);
      for (const each of names.slice(a, b + 1)) next.add(each);
    } else if (next.has(name)) next.delete(name); else next.add(name);
    last.current = name;
    setTicked(next);
  };
  const chosen = names.filter((name) => ticked.has(name));
  const keys = (e) => {
    if ((e.ctrlKey || e.metaKey) && e.key === "a" && !e.target.closest("input:not([type=checkbox])")) { e.preventDefault(); setTicked(new Set(names)); }
  };
  return html`<div onKeyDown=${keys}><h2>What is each column?</h2>
    <p class="lead">Every column needs an answer, so that nothing is released by accident. What kveil suggests comes with its reason; you decide.</p>
    ${table?.error && html`<div class="notice bad"><p>${table.error}</p></div>`}
    ${unlisted.length > 0 && html`<div class="notice warn"><p>${count(unlisted.length, "column")} of the table ${unlisted.length === 1 ? "has" : "have"} no answer yet.</p>
      <div class="row"><button onClick=${() => setRole(unlisted, "identifier")}>Never release ${unlisted.length === 1 ? "it" : "them"}</button></div></div>`}
    ${absent.length > 0 && html`<div class="notice warn"><p>The policy speaks of ${count(absent.length, "column")} that the table does not have: ${absent.slice(0, 5).join(", ")}.</p>
      <div class="row"><button onClick=${() => change(() => ({ changes: absent.map((name) => ({ path: ["attributes", name] })), words: "took out columns that are not in the table" }))}>Take ${absent.length === 1 ? "it" : "them"} out</button></div></div>`}
    <div class="card"><div class="row">
      <input aria-label="Filter columns" placeholder="filter…" value=${filter} onInput=${(e) => type(e.target.value)} />
      <label class="choice"><input type="checkbox" checked=${only} onChange=${(e) => setOnly(e.target.checked)} />only those to decide (${deciding.length})</label>
      <button class="tight" onClick=${() => setTicked(new Set(chosen.length === names.length ? [] : names))}>${chosen.length === names.length && names.length ? "Tick none" : `Tick all ${names.length}`}</button>
      <span class="grow"></span>
      <span class="row"><label>${chosen.length ? `${count(chosen.length, "column")} ticked:` : "Ticked columns:"} <select disabled=${!chosen.length} aria-label="Role of the ticked columns" value="" onChange=${(e) => { setRole(chosen, e.target.value); e.target.value = ""; }}>
        <option value="">what are they?</option>${Object.entries(ROLES).map(([id, words]) => html`<option value=${id}>${words.name}</option>`)}</select></label>
      <button disabled=${!chosen.some((name) => deciding.includes(name))} onClick=${() => looksRight(chosen)}>Looks right</button></span>
    </div>
    <div class="scroll" tabindex="0" role="region" aria-label="Columns"><table class="columns"><thead><tr><th><span class="sr">tick</span></th><th scope="col">column</th><th scope="col">what is it?</th><th scope="col">why</th><th scope="col" class="n">values</th><th scope="col" class="n">missing</th></tr></thead>
      <tbody>${names.slice(0, shown).map((name) => html`<${Row} key=${name} name=${name} attribute=${attributes[name]} facts=${facts.get(name)} note=${project.notes[name]} ticked=${ticked.has(name)} tick=${tick} decide=${deciding.includes(name) || !attributes[name]} />`)}</tbody></table></div>
    ${names.length > shown && html`<p><button onClick=${() => more(shown + 200)}>Show ${number(Math.min(200, names.length - shown))} more of ${number(names.length)}</button></p>`}
    </div>
    <p><button class="main" onClick=${() => go("steps")}>Go on to steps and limits</button></p></div>`;
}
