// The window: steps on top, work at the left, the policy's text at the right.
import { html, render, useEffect, useLayoutEffect, useRef, useState } from "./vendor/preact.js";
import { start, useStore, undo, redo, set, state, go } from "./store.js";
import { Text } from "./yaml.js";
import { FileScreen } from "./file.js";
import { ColumnsScreen } from "./columns.js";
import { StepsScreen } from "./steps.js";
import { PromisesScreen } from "./promises.js";
import { CheckScreen } from "./check.js";
import { RunScreen } from "./run.js";
import { ResultScreen } from "./result.js";

const SCREENS = [
  ["file", "File", FileScreen], ["columns", "Columns", ColumnsScreen], ["steps", "Steps and limits", StepsScreen],
  ["promises", "Promises", PromisesScreen], ["check", "Check", CheckScreen], ["run", "Run", RunScreen],
  ["result", "Result", ResultScreen],
];

function badge(screen) {
  const { project, check, jobs, runs } = state;
  if (!project) return null;
  if (screen === "columns" && project.deciding.length) return html`<span class="badge warn" title="columns to decide">${project.deciding.length}<span class="sr"> to decide</span></span>`;
  if (screen === "check") {
    if (check.state === "refused") return html`<span class="badge bad">!<span class="sr"> something is wrong</span></span>`;
    if (check.state === "done" && !check.possible) return html`<span class="badge bad">✗<span class="sr"> cannot be kept</span></span>`;
    if (check.state === "done") return html`<span class="badge good">✓<span class="sr"> nothing impossible</span></span>`;
  }
  if (screen === "run" && jobs.some((job) => job.kind === "run" && ["running", "finishing"].includes(job.state))) return html`<span class="badge good">…<span class="sr"> running</span></span>`;
  if (screen === "result" && runs?.length) return html`<span class="badge">${runs.length}</span>`;
  return null;
}

function History({ close }) {
  const { project } = useStore();
  const button = useRef(null);
  useLayoutEffect(() => {  // before it is painted: whoever sees the list can close it
    const key = (event) => event.key === "Escape" && close();
    button.current?.focus();
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, []);
  return html`<div class="history" role="dialog" aria-label="What was done">
    <div class="row end"><h3>What was done</h3><button class="quiet tight" onClick=${close} ref=${button}>Close</button></div>
    ${project.steps.length === 0 ? html`<p class="soft">Nothing yet since the studio was started.</p>` : html`<ol>
      ${project.steps.map((step, i) => html`<li class=${i < project.done ? "" : "undone"}>${step.words}
        ${step.lost.map((note) => html`<div class="small soft">took the note “${note}” with it</div>`)}</li>`)}</ol>`}
  </div>`;
}

function Toast() {
  const { toast } = useStore();
  useEffect(() => {
    if (!toast) return undefined;
    const timer = setTimeout(() => set({ toast: null }), 4000);
    return () => clearTimeout(timer);
  }, [toast]);
  return html`<div aria-live="polite">${toast && html`<div class="toast"><span>${toast.told}</span>
    <button class="tight" onClick=${() => set({ toast: null })}>Close</button></div>`}</div>`;
}

function App() {
  const { ready, gone, project, opening, screen, working, wrong, broken, folded } = useStore();
  const [history, showHistory] = useState(false);
  useEffect(() => {
    const keys = (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.target.closest?.("input, textarea, .cm-editor")) return;
      const key = event.key.toLowerCase();
      if (key === "z" && !event.shiftKey) { event.preventDefault(); undo(); }
      if (key === "y" || (key === "z" && event.shiftKey)) { event.preventDefault(); redo(); }
    };
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  }, []);
  useEffect(() => {
    scrollTo(0, 0);
    showHistory(false);
    document.title = `${SCREENS.find(([id]) => id === screen)?.[1] ?? ""} · kveil studio`;
  }, [screen]);
  if (!ready) return html`<p class="loading">Opening the studio…</p>`;
  const Screen = SCREENS.find(([id]) => id === screen)[2];
  return html`
    ${gone && html`<div class="gone" role="alert">The server has stopped. ${project ? html`Your policy is saved in ${project.path}. Start again: <code>kveil studio ${project.path}</code>` : "Start it again: kveil studio"}</div>`}
    <header class="top">
      <div class="bar">
        <h1><img src="static/icon.svg" alt="" />kveil studio</h1>
        <span class="where" title=${project?.path}>${project ? project.shown : "no table is open"}</span>
        ${project && html`<span class="saved">${broken ? html`<span class="bad">text not saved</span>` : "✓ saved"}</span>
        <span class="row"><button onClick=${undo} disabled=${!project.undo} title=${project.undo ? `Undo: ${project.undo} (Ctrl+Z)` : "Nothing to undo"}>↶ Undo</button>
        <button onClick=${redo} disabled=${!project.redo} title=${project.redo ? `Redo: ${project.redo} (Ctrl+Y)` : "Nothing to do again"}>↷ Redo</button>
        <button class="quiet" aria-expanded=${history} onClick=${() => showHistory(!history)}>History</button></span>`}
      </div>
      ${history && project && html`<${History} close=${() => showHistory(false)} />`}
      <nav class="steps" aria-label="Steps"><ol>${SCREENS.map(([id, name], i) => html`<li key=${id}><a href=${`#${id}`} aria-current=${screen === id ? "page" : null}><span class="n">${i + 1}</span>${name}${badge(id)}</a></li>`)}</ol></nav>
    </header>
    <div class=${`desk ${project ? (folded ? "folded" : "") : "alone"}`}>
      <main class="work" data-screen=${screen} inert=${broken && screen !== "file"}>
        ${wrong && html`<div class="notice bad wrong" role="alert"><p>${wrong.told}</p><button class="quiet tight" onClick=${() => set({ wrong: null })}>Close</button></div>`}
        ${working && html`<div class="notice" role="status"><p>${working}</p></div>`}
        ${broken && html`<div class="notice warn"><p>The text at the side is not YAML at the moment, so the form shows what was last saved.</p></div>`}
        ${!project && screen !== "file" ? html`<h2>${SCREENS.find(([id]) => id === screen)[1]}</h2><p class="lead">No table is open yet. <button class="link" onClick=${() => go("file")}>Choose one first</button>.</p>` : html`<${Screen} key=${`${screen} ${opening}`} />`}
      </main>
      ${project && html`<${Text} key=${opening} />`}
    </div>
    <${Toast} />`;
}

const root = document.getElementById("app");
start().then(() => { root.textContent = ""; render(html`<${App} />`, root); }, (error) => { root.textContent = error.message; });
