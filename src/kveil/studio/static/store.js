// The page's state: what the server holds, shown. One store, one queue of changes, one stream of events.
import { useState, useEffect } from "./vendor/preact.js";

export const state = {
  ready: false, gone: false, root: "", project: null, table: null, check: { state: "none" }, jobs: [], command: null,
  catalogue: null, methods: null, toast: null, working: null, broken: null, screen: "file", column: null, runs: null, folded: false,
};
const listeners = new Set();

export function set(change) {
  Object.assign(state, change);
  for (const listener of listeners) listener();
}

/** Draw a component again whenever something changes. */
export function useStore() {
  const [, draw] = useState(0);
  useEffect(() => {
    const listener = () => draw((n) => n + 1);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, []);
  return state;
}

export class Refused extends Error {
  constructor(answer, status) {
    super(answer.told || "The server did not answer as expected; load the page again.");
    this.answer = answer;
    this.status = status;
  }
}

export async function api(method, path, body) {
  let response;
  try {
    response = await fetch(`api/${path}`, {
      method,
      headers: method === "GET" ? {} : { "content-type": "application/json" },
      body: method === "GET" ? undefined : JSON.stringify(body ?? {}),
    });
  } catch {
    throw new Refused({ told: "The server does not answer." }, 0);
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refused(answer, response.status);
  return answer;
}

export function say(told, more = {}) {
  set({ toast: { told, ...more } });
}

export function take(answer) {
  set({ root: answer.root, project: answer.project, table: answer.table, check: answer.check, command: answer.command,
    jobs: answer.jobs });
}

/** Do something that may be refused; its sentence is shown. Returns the answer, or null. */
export async function attempt(work) {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (error.status === 409) take(await api("GET", "state"));
    if (error.status) say(error.message, { bad: true });
    return null;
  }
}

let queue = Promise.resolve();

/** Change the policy, one change after the other; `make` sees the content as it then is. */
export function change(make, path = "policy/edit") {
  const work = queue.then(() => attempt(async () => {
    const wish = make(state.project.content);
    if (!wish) return null;
    const answer = await api("POST", path, { number: state.project.number, ...wish });
    take(answer);
    return answer;
  }));
  queue = work.then(() => undefined, () => undefined);
  return work;
}

export const put = (path, value, words) => change(() => ({ changes: [{ path, value }], words }));
export const drop = (path, words) => change(() => ({ changes: [{ path }], words }));

async function again(path, told) {
  const answer = await attempt(() => api("POST", `policy/${path}`));
  if (!answer) return;
  take(answer);
  say(answer.words ? `${told}: ${answer.words}` : "There is nothing more.");
}
export const undo = () => again("undo", "Undone");
export const redo = () => again("redo", "Done again");

export function go(screen, column) {
  set({ screen, column: column ?? state.column });
  location.hash = column ? `${screen}/${encodeURIComponent(column)}` : screen;
}

function fromHash() {
  const [screen, column] = location.hash.slice(1).split("/");
  const known = ["file", "columns", "steps", "promises", "check", "run", "result"];
  set({ screen: known.includes(screen) ? screen : state.project ? "columns" : "file",
    column: column ? decodeURIComponent(column) : state.column });
}

function listen() {
  const events = new EventSource("api/events");
  let lost = null;
  const on = (kind, work) => events.addEventListener(kind, (event) => work(JSON.parse(event.data)));
  events.onopen = () => {
    clearTimeout(lost);
    lost = null;
    if (state.gone) set({ gone: false });
  };
  events.onerror = () => {
    lost ??= setTimeout(() => set({ gone: true }), 2500);
  };
  on("hello", (answer) => { take(answer); set({ ready: true, working: null }); });
  on("project", (project) => set({ project, command: project.command, working: null }));
  on("table", (table) => set({ table, working: null }));
  on("check", (check) => set({ check }));
  on("working", ({ told }) => set({ working: told }));
  on("refused", ({ told }) => { set({ working: null }); say(told, { bad: true }); });
  on("job", (job) => {
    set({ jobs: [...state.jobs.filter((other) => other.number !== job.number), job].sort((a, b) => a.number - b.number) });
    if (job.kind === "run" && job.state === "done") loadRuns();
  });
}

export async function loadRuns() {
  const answer = await attempt(() => api("GET", "runs"));
  if (answer) set({ runs: answer.runs });
}

export async function start() {
  take(await api("GET", "state"));
  set({ catalogue: await api("GET", "catalogue"), ready: true });
  fromHash();
  addEventListener("hashchange", fromHash);
  listen();
}
