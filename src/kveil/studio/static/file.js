// 1 File: which table shall be published?
import { html, useEffect, useState } from "./vendor/preact.js";
import { api, attempt, complain, drop, go, put, set, state, take, useStore, Refused } from "./store.js";
import { count, size, withRole } from "./words.js";
import { Settings } from "./settings.js";
import { Elsewhere } from "./elsewhere.js";

const ICONS = {
  folder: "M1.5 3.5h5l1.5 2h6.5v8h-13z", policy: "M3.5 1.5h6l3 3v10h-9zM6 7h4M6 9.5h4M6 12h2.5", table: "M1.5 2.5h13v11h-13zM1.5 6h13M1.5 9.8h13M6 6v7.5",
  database: "M2 4c0-2.7 12-2.7 12 0v8c0 2.7-12 2.7-12 0zM2 4c0 2.7 12 2.7 12 0M2 8c0 2.7 12 2.7 12 0",
};
const Icon = ({ kind }) => html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d=${ICONS[kind]} /></svg>`;

const BOOK = /\.(xlsx|xlsm|xlsb|xls|ods)$/i;
const LAID = /\.(csv|txt|tsv|xlsx|xlsm|xlsb|xls|ods)(\.gz|\.zst)?$/i; // tables that may have lines above their names

/** Open what a request asks for; where the table lacks something that a person can say, `ask` is told about it. */
async function opened(work, ask) {
  set({ working: "Looking at the columns…", wrong: null });
  let answer = null;
  try { answer = await work(); } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const path = error.answer.path ?? error.path;
    if (ask && path && error.answer.encoding) ask({ path, encoding: error.answer.encoding });
    else if (ask && path && /--columns|first line/.test(error.message)) ask({ path, names: true, told: error.message });
    else if (ask && path && ["DataError", "FileError"].includes(error.answer.kind) && LAID.test(path) && !/no text, but a file/.test(error.message)) ask({ path, told: error.message });
    else complain(error.message);
  }
  set({ working: null });
  if (answer) { take(answer); go(answer.table?.confirm ? "file" : "columns"); }
  return answer;
}

const open = (wish, ask) => opened(async () => {
  try { return await api("POST", "open", wish); } catch (error) { error.path = wish.path; throw error; }
}, ask);

function Entries({ list, look, ask }) {
  const [database, show] = useState(null);
  const choose = async (entry) => {
    if (entry.kind === "folder") look(entry.path);
    else if (entry.kind === "database") { const answer = await attempt(() => api("GET", `tables?path=${encodeURIComponent(entry.path)}`)); show(answer && { path: entry.path, tables: answer.tables }); }
    else open({ path: entry.path }, ask);
  };
  return html`<ul class="files" tabindex="0" aria-label="Files">${list.entries.length === 0 && html`<li class="soft small none">No tables, policies or folders here.</li>`}
    ${list.one_table && html`<li><button onClick=${() => open({ path: list.under || ".", parts: true }, ask)}><${Icon} kind="table" /><span>All Parquet files of this folder as one table</span><span class="n">${list.parts ? count(list.parts, "file") : ""}</span></button></li>`}
    ${list.entries.map((entry) => html`<li key=${entry.path}><button aria-expanded=${entry.kind === "database" ? database?.path === entry.path : null} onClick=${() => choose(entry)}>
      <${Icon} kind=${entry.kind} /><span>${entry.name}${["policy", "database"].includes(entry.kind) ? html` <span class="badge">${entry.kind}</span>` : ""}</span>
      <span class="n">${entry.size === null ? "" : size(entry.size)}</span></button>
      ${database?.path === entry.path && html`<ul class="inside" aria-label=${`Tables of ${entry.name}`}>${database.tables.length === 0 && html`<li class="soft small none">It has no tables.</li>`}${database.tables.map((table) => html`<li><button onClick=${() => open({ path: entry.path, table }, ask)}><${Icon} kind="table" />${table}</button></li>`)}</ul>`}</li>`)}</ul>`;
}

function Address({ ask }) {
  const [address, type] = useState("");
  return html`<details><summary class="small">A server's table, or a pattern of files</summary>
    <form class="row" onSubmit=${(e) => { e.preventDefault(); open({ address }, ask); }}><input class="grow" required aria-label="Address or pattern" placeholder="postgresql://user@host/database?table=visits" value=${address} onInput=${(e) => type(e.target.value)} /><button>Open it</button></form>
    <p class="small soft">Also <code>visits/*.parquet</code>. A password does not belong here: set PGPASSWORD before you start the studio, or use ~/.pgpass. The policy is written into the folder the studio was started in.</p></details>`;
}

function Chooser({ ask }) {
  const [list, show] = useState(null);
  const [over, setOver] = useState(false);
  const look = async (under) => { const answer = await attempt(() => api("GET", `files?under=${encodeURIComponent(under)}`)); if (answer) show(answer); };
  useEffect(() => { look(""); }, []);
  const upload = (file) => file && opened(async () => {
    const response = await fetch(`api/upload?name=${encodeURIComponent(file.name)}`, { method: "PUT", headers: { "content-type": "application/octet-stream", "kveil-opening": String(state.opening) }, body: file });
    const answer = await response.json();
    if (!response.ok) throw new Refused(answer, response.status);
    return answer;
  }, ask);
  return html`<div class="two">
    <section class="card"><h3>Bring a file</h3>
      <div class=${`drop ${over ? "over" : ""}`} onDragOver=${(e) => { e.preventDefault(); setOver(true); }} onDragLeave=${() => setOver(false)}
        onDrop=${(e) => { e.preventDefault(); setOver(false); upload(e.dataTransfer.files[0]); }}>
        <p>Drop a table here, or</p>
        <label class="button">choose a file…<input class="sr" type="file" onChange=${(e) => upload(e.target.files[0])} /></label>
        <p class="small soft">CSV, also packed; Excel, SPSS, Stata, SAS, Parquet, Arrow. It is copied into a folder of its own that only you can read. Nothing leaves this machine.</p>
      </div>
      <p class="small">Nothing at hand? <button class="link" onClick=${() => opened(() => api("POST", "demo"))}>Try it with the made-up hospital</button></p>
    </section>
    <section class="card stack"><h3>Or open one on this computer</h3>
      ${list && html`<div class="row end"><span class="soft">${list.under ? list.under : "the folder the studio was started in"}</span>
        <button class="tight" disabled=${list.up === null} onClick=${() => look(list.up)}>Up</button></div>
      <${Entries} key=${list.under} list=${list} look=${look} ask=${ask} />`}
      <${Address} ask=${ask} />
    </section></div>`;
}

/** The sheets of a workbook: of a file that is to be opened, or of the open table. */
function useSheets(path, wanted) {
  const [sheets, show] = useState([]);
  useEffect(() => {
    let on = true;
    show([]);
    if (wanted) api("GET", `sheets${path ? `?path=${encodeURIComponent(path)}` : ""}`).then((answer) => on && show(answer.sheets), () => {}); // what is wrong with the file is told already
    return () => { on = false; };
  }, [path, wanted]);
  return sheets;
}

const SheetChoice = ({ sheets, value, choose }) => html`<label>Sheet <select aria-label="Sheet" value=${value} onChange=${(e) => choose(e.target.value)}>${sheets.map((name) => html`<option value=${name} selected=${name === value}>${name}</option>`)}</select></label>`;

/** Where a table stands in its file, for one that could not be opened: on which sheet, below how many lines. */
function Laid({ path, told, encoding, ask, close }) {
  const sheets = useSheets(path, BOOK.test(path));
  const [sheet, setSheet] = useState("");
  const [above, setAbove] = useState(0);
  const again = (wish) => ask({ encoding, ...wish });
  return html`<form class="card stack" aria-label="Where the table stands" onSubmit=${(e) => { e.preventDefault(); open({ path, encoding, above, ...(sheet ? { sheet } : {}) }, again).then((ok) => ok && close()); }}>
    <h3>${path} cannot be read as it is</h3>
    <div class="notice bad"><p>${told}</p></div>
    <p>Where do the names of its columns stand? A title or remarks above them are left out; the file itself stays as it is.</p>
    <div class="row">${sheets.length > 1 && html`<${SheetChoice} sheets=${sheets} value=${sheet || sheets[0]} choose=${setSheet} />`}
    <label>Lines above the names <input type="number" min="0" value=${above} onInput=${(e) => setAbove(Number(e.target.value))} /></label>
    <button class="main">Open it</button><button type="button" onClick=${close}>Never mind</button></div></form>`;
}

/** The same for the open table, written into its policy. */
function Layout() {
  const { project, table } = useStore();
  const data = project.content.data ?? {};
  const path = String(data.path ?? "");
  const sheets = useSheets("", BOOK.test(path));
  if (!LAID.test(path) || path.includes("://")) return null;
  const now = sheets.includes(data.sheet) ? data.sheet : sheets[Number(data.sheet ?? 1) - 1] ?? "";
  const skip = (text) => text !== String(data.skip ?? 0) && (Number(text) > 0 ? put(["data", "skip"], text, `data: ${text} lines above the names`) : drop(["data", "skip"], "data: no lines above the names"));
  return html`<div class="row">${sheets.length > 1 && html`<${SheetChoice} sheets=${sheets} value=${now} choose=${(name) => put(["data", "sheet"], name, `data: sheet ${name}`)} />`}
    ${sheets.length > 1 && !data.sheet && html`<span class="badge warn">one of ${sheets.length} sheets</span>`}
    <label>Lines above the names of columns <input type="number" min="0" key=${`${data.skip} ${table?.rows}`} defaultValue=${data.skip ?? 0} onBlur=${(e) => skip(e.target.value)} onKeyDown=${(e) => e.key === "Enter" && skip(e.target.value)} /></label></div>`;
}

function Nameless({ path, encoding, close }) {
  const [names, type] = useState("");
  const [skip, setSkip] = useState(0);
  return html`<form class="card" onSubmit=${(e) => { e.preventDefault(); open({ path, encoding, columns: names.split(",").map((n) => n.trim()), skip }).then((ok) => ok && close()); }}>
    <h3>The first line of ${path} has no names</h3>
    <p>Name every column, separated by commas. A copy with these names is written beside the table; the table itself stays as it is.</p>
    <label>Names<br /><textarea rows="2" value=${names} onInput=${(e) => type(e.target.value)} placeholder="age, sex, zip, diagnosis" required></textarea></label>
    <p><label>Lines to leave out at the top <input type="number" min="0" value=${skip} onInput=${(e) => setSkip(Number(e.target.value))} /></label></p>
    <div class="row"><button class="main">Open it with these names</button><button type="button" onClick=${close}>Never mind</button></div></form>`;
}

function Encoded({ path, encoding, ask, close }) {
  const [name, type] = useState(encoding);
  return html`<form class="card stack" onSubmit=${(e) => { e.preventDefault(); open({ path, encoding: name }, (wish) => ask({ ...wish, encoding: wish.encoding ?? name })).then((ok) => ok && close()); }}>
    <h3>${path} is not in UTF-8</h3>
    <p>It looks like ${encoding}, in which many programs of Windows write letters such as ä and é. The release will be in UTF-8.</p>
    <div class="row"><label>Read it as <input required aria-label="Encoding" value=${name} onInput=${(e) => type(e.target.value)} /></label>
    <button class="main">Open it</button><button type="button" onClick=${close}>Never mind</button></div></form>`;
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

/** What a policy reads that is more than a file, shown before it first runs. */
function Confirm({ database, query }) {
  const agree = async () => { const answer = await attempt(() => api("POST", "confirm", { database, query })); if (answer) take(answer); };
  return html`<div class="notice stack" role="group" aria-label="To be confirmed">
    <p>${query === null ? html`This policy reads a table of the server <code>${database}</code>. Nothing has been sent to it. Once you agree, it is asked for the table, and gets your password (PGPASSWORD or ~/.pgpass) if it wants one.`
      : html`This policy reads its table by a query of <code>${database}</code>. It has not run yet. Run it if it is what you expect.`}</p>
    ${query !== null && html`<pre>${query}</pre>`}
    <div class="row"><button class="main" onClick=${agree}>${query === null ? "Read from this server" : "Run this query"}</button></div></div>`;
}

export function FileScreen() {
  const { project, table } = useStore();
  const [asked, ask] = useState(null); // what a table that was to be opened does not say of itself
  const close = () => ask(null);
  const likely = table?.error && table.encoding;
  return html`<h2>Which table shall be published?</h2>
    <p class="lead">The table stays on this machine. kveil makes a second one from it that is safe to publish, and you see every step.</p>
    ${asked?.told && html`<${Laid} key=${asked.path} ...${asked} ask=${ask} close=${close} />`}
    ${asked && !(asked.told && !asked.names) && (asked.names ? html`<${Nameless} ...${asked} close=${close} />` : html`<${Encoded} key=${asked.encoding} ...${asked} ask=${ask} close=${close} />`)}
    ${project && html`<section class="card"><h3>${table?.name || "The table"}</h3>
      ${table?.confirm ? html`<${Confirm} ...${table.confirm} />` : table?.error ? html`<div class="notice bad"><p>${table.error}</p>${likely && html`<div class="row"><button onClick=${() => put(["data", "encoding"], likely, `read as ${likely}`)}>Read it as ${likely}</button></div>`}</div>` : table ? html`<p class="big">${count(table.rows, "record")}, ${count(table.columns.length, "column")}</p>` : html`<p class="soft">Reading the table…</p>`}
      <div class="stack"><${Layout} /><${Missing} />${!table?.error && html`<${Sample} />`}
      <details><summary>How the file is read</summary><${Settings} under=${["data"]} without=${["missing", "sheet", "skip"]} words="data" /></details></div>
      <p><button class="main" onClick=${() => go("columns")}>Go on to the columns</button></p>
    </section>`}
    <${Elsewhere} /><${Chooser} ask=${ask} />`;
}
