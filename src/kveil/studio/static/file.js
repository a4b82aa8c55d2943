// 1 File: which table shall be published?
import { html, useEffect, useState } from "/static/vendor/preact.js";
import { api, attempt, go, put, set, take, useStore, say, Refused } from "/static/store.js";
import { count, size, withRole } from "/static/words.js";
import { Settings } from "/static/settings.js";

const ICONS = {
  folder: "M1.5 3.5h5l1.5 2h6.5v8h-13z", policy: "M3.5 1.5h6l3 3v10h-9zM6 7h4M6 9.5h4M6 12h2.5", table: "M1.5 2.5h13v11h-13zM1.5 6h13M1.5 9.8h13M6 6v7.5",
};
const Icon = ({ kind }) => html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d=${ICONS[kind]} /></svg>`;

async function opened(work) {
  set({ working: "Looking at the columns…" });
  const answer = await attempt(work);
  set({ working: null });
  if (answer) { take(answer); set({ runs: null }); go("columns"); }
  return answer;
}

function Chooser({ onNameless }) {
  const [list, show] = useState(null);
  const [over, setOver] = useState(false);
  const look = async (under) => { const answer = await attempt(() => api("GET", `files?under=${encodeURIComponent(under)}`)); if (answer) show(answer); };
  useEffect(() => { look(""); }, []);
  const open = async (path) => {
    set({ working: "Looking at the columns…" });
    try { take(await api("POST", "open", { path })); set({ runs: null }); go("columns"); }
    catch (error) {
      if (!(error instanceof Refused)) throw error;
      say(error.message, { bad: true });
      if (/--columns|first line/.test(error.message)) onNameless(path);
    }
    set({ working: null });
  };
  const upload = async (file) => {
    if (!file) return;
    await opened(async () => {
      const response = await fetch(`/api/upload?name=${encodeURIComponent(file.name)}`, { method: "PUT", headers: { "content-type": "application/octet-stream" }, body: file });
      const answer = await response.json();
      if (!response.ok) { if (answer.path && /--columns|first line/.test(answer.told)) onNameless(answer.path); throw new Refused(answer, response.status); }
      return answer;
    });
  };
  return html`<div class="two">
    <section class="card"><h3>Bring a file</h3>
      <div class=${`drop ${over ? "over" : ""}`} onDragOver=${(e) => { e.preventDefault(); setOver(true); }} onDragLeave=${() => setOver(false)}
        onDrop=${(e) => { e.preventDefault(); setOver(false); upload(e.dataTransfer.files[0]); }}>
        <p>Drop a table here, or</p>
        <label class="button">choose a file…<input class="sr" type="file" onChange=${(e) => upload(e.target.files[0])} /></label>
        <p class="small soft">CSV, TSV, Parquet, Arrow. It is copied into a folder of its own that only you can read. Nothing leaves this machine.</p>
      </div>
      <p class="small">Nothing at hand? <button class="link" onClick=${() => opened(() => api("POST", "demo"))}>Try it with the made-up hospital</button></p>
    </section>
    <section class="card"><h3>Or open one on this computer</h3>
      ${list && html`<div class="row end"><span class="soft">${list.under ? list.under : "the folder the studio was started in"}</span>
        <button class="tight" disabled=${list.up === null} onClick=${() => look(list.up)}>Up</button></div>
      <ul class="files" tabindex="0" aria-label="Files">${list.entries.length === 0 && html`<li class="soft small" style=${{ padding: ".6rem" }}>No tables, policies or folders here.</li>`}
        ${list.entries.map((entry) => html`<li><button onClick=${() => (entry.kind === "folder" ? look(entry.path) : open(entry.path))}>
          <${Icon} kind=${entry.kind} /><span>${entry.name}${entry.kind === "policy" ? html` <span class="badge">policy</span>` : ""}</span>
          <span class="n">${entry.size === null ? "" : size(entry.size)}</span></button></li>`)}</ul>`}
    </section></div>`;
}

function Nameless({ path, close }) {
  const [names, type] = useState("");
  const [skip, setSkip] = useState(0);
  return html`<form class="card" onSubmit=${(e) => { e.preventDefault(); opened(() => api("POST", "open", { path, columns: names.split(",").map((n) => n.trim()), skip })).then((ok) => ok && close()); }}>
    <h3>The first line of ${path} has no names</h3>
    <p>Name every column, separated by commas. A copy with these names is written beside the table; the table itself stays as it is.</p>
    <label>Names<br /><textarea rows="2" value=${names} onInput=${(e) => type(e.target.value)} placeholder="age, sex, zip, diagnosis" required></textarea></label>
    <p><label>Lines to leave out at the top <input type="number" min="0" value=${skip} onInput=${(e) => setSkip(Number(e.target.value))} /></label></p>
    <div class="row"><button class="main">Open it with these names</button><button type="button" onClick=${close}>Never mind</button></div></form>`;
}

function Missing() {
  const { project, table } = useStore();
  const missing = project.content.data?.missing ?? [""];
  const [text, type] = useState("");
  const save = (list, words) => put(["data", "missing"], list, words);
  return html`<div class="row"><span>Means “not recorded”:</span><span class="chips">
    ${missing.map((entry, i) => html`<span class="chip">${entry === "" || entry === null ? "(empty)" : entry}
      <button aria-label=${`${entry || "empty"} is a value, not missing`} disabled=${missing.length < 2} onClick=${() => save(missing.filter((_, j) => j !== i), `missing: without ${entry || "(empty)"}`)}>✕</button></span>`)}</span>
    <form class="row" onSubmit=${(e) => { e.preventDefault(); if (text && !missing.includes(text)) save([...missing, text], `missing: ${text}`); type(""); }}>
      <input size="6" aria-label="Another text that means not recorded" value=${text} onInput=${(e) => type(e.target.value)} placeholder="such as ?" /><button class="tight">Add</button></form>
    ${table?.columns?.length ? html`<span class="soft small">${count(table.columns.reduce((n, c) => n + c.missing, 0), "cell")} so far</span>` : ""}</div>`;
}

function Sample() {
  const { project } = useStore();
  const [sample, show] = useState(null);
  const [all, showAll] = useState(false);
  const look = async (every) => { const answer = await attempt(() => api("GET", `sample${every ? "?show=1" : ""}`)); if (answer) { show(answer); showAll(every); } };
  const hidden = [...withRole(project.content, "identifier"), ...withRole(project.content, "individual")];
  if (!sample) return html`<p><button onClick=${() => look(false)}>Show five records as they are</button> <span class="soft small">columns that name people stay hidden</span></p>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Five records"><table><caption>Five records as they are${hidden.length && !all ? html`; columns that name people are hidden. <button class="link" onClick=${() => look(true)}>Show them</button>` : ""}</caption>
    <thead><tr>${sample.columns.map((c) => html`<th scope="col">${c}</th>`)}</tr></thead>
    <tbody>${sample.rows.map((row) => html`<tr>${row.map((cell) => html`<td class=${cell === null ? "soft" : ""}>${cell === null ? "hidden" : cell}</td>`)}</tr>`)}</tbody></table></div>`;
}

export function FileScreen() {
  const { project, table } = useStore();
  const [nameless, setNameless] = useState(null);
  return html`<h2>Which table shall be published?</h2>
    <p class="lead">The table stays on this machine. kveil makes a second one from it that is safe to publish, and you see every step.</p>
    ${nameless && html`<${Nameless} path=${nameless} close=${() => setNameless(null)} />`}
    ${project && html`<section class="card"><h3>${table?.name || "The table"}</h3>
      ${table?.error ? html`<div class="notice bad"><p>${table.error}</p></div>` : table ? html`<p class="big">${count(table.rows, "record")}, ${count(table.columns.length, "column")}</p>` : html`<p class="soft">Reading the table…</p>`}
      <div class="stack"><${Missing} /><${Sample} />
      <details><summary>How the file is read</summary><${Settings} under=${["data"]} without=${["missing"]} words="data" /></details></div>
      <p><button class="main" onClick=${() => go("columns")}>Go on to the columns</button></p>
    </section>`}
    <${Chooser} onNameless=${setNameless} />`;
}
