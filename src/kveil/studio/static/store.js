// The page's state: what the server holds, shown. One store, one queue of changes, one stream of events.
// What belongs to a table (its policy, jobs, releases, check) comes with the number of the opening it belongs to, and
// goes, all of it, when another table is opened; an answer that is about another opening is dropped.
import { useState, useEffect } from "./vendor/preact.js";

export const state = {
  ready: false, gone: false, root: "", catalogue: null, methods: null, toast: null, working: null, wrong: null, screen: "file",
  folded: false, elsewhere: [], told: 0,
  opening: 0, project: null, table: null, check: { state: "none" }, jobs: [], command: null, runs: null, wantedRun: null,
  broken: null, column: null, promise: null, // these belong to the open table
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
      headers: { "kveil-opening": String(state.opening), ...(method === "GET" ? {} : { "content-type": "application/json" }) },
      body: method === "GET" ? undefined : JSON.stringify(body ?? {}),
    });
  } catch {
    throw new Refused({ told: "The server does not answer." }, 0);
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refused(answer, response.status);
  return answer;
}

/** Say in passing what was done. */
export function say(told) {
  set({ toast: { told } });
}

/** Say above the screen what was refused, until something succeeds, another screen is opened, or it is closed. */
export function complain(told) {
  set({ wrong: { told, opening: state.opening } });
}

/** Take up what the server holds, unless it is older than what is shown. */
export function take(answer) {
  if (answer.told < state.told) return;
  const another = answer.opening !== state.opening;
  set({ told: answer.told, root: answer.root, opening: answer.opening, project: answer.project, table: answer.table, check: answer.check,
    command: answer.command, jobs: answer.jobs, elsewhere: answer.elsewhere,
    ...(another ? { runs: null, wantedRun: null, broken: null, column: null, promise: null, wrong: null } : {}) });
  if (another && answer.project) loadRuns();
}

/** Do something that may be refused; its sentence is shown. Returns the answer, or null. */
export async function attempt(work) {
  const { opening } = state;
  try {
    const answer = await work();
    if (opening !== state.opening && answer?.opening !== state.opening) return null; // it is about another table
    return answer;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const here = opening === state.opening;
    if (error.status === 409) take(await api("GET", "state"));
    if (error.status && (here || error.status === 409)) complain(error.message);
    return null;
  }
}

/** The last job of a kind; one that came to nothing counts no more once what it was about has changed. */
export function lastJob(jobs, kind, fits = () => true) {
  const job = jobs.filter((each) => each.kind === kind && fits(each)).at(-1);
  return job?.current === false && ["refused", "cancelled"].includes(job.state) ? undefined : job;
}

let queue = Promise.resolve();

/** Change the policy, one change after the other; `make` sees the content as it then is. */
export function change(make, path = "policy/edit") {
  const { opening } = state;
  const work = queue.then(() => attempt(async () => {
    if (opening !== state.opening) return null; // it was a change of another table's policy
    const wish = make(state.project.content);
    if (!wish) return null;
    const answer = await api("POST", path, { number: state.project.number, ...wish });
    set({ wrong: null });
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
  set({ wrong: null });
  take(answer);
  say(answer.words ? `${told}: ${answer.words}` : "There is nothing more.");
}
export const undo = () => again("undo", "Undone");
export const redo = () => again("redo", "Done again");

export function go(screen, column) {
  set({ screen, column: column ?? state.column, wrong: screen === state.screen ? state.wrong : null });
  location.hash = column ? `${screen}/${encodeURIComponent(column)}` : screen;
}

function fromHash() {
  const [screen, column] = location.hash.slice(1).split("/");
  const known = ["file", "columns", "steps", "promises", "check", "run", "result"];
  const next = known.includes(screen) ? screen : state.project ? "columns" : "file";
  set({ screen: next, column: column ? decodeURIComponent(column) : state.column, wrong: next === state.screen ? state.wrong : null });
}

function listen() {
  const events = new EventSource("api/events");
  let lost = null;
  const on = (kind, work) => events.addEventListener(kind, (event) => {
    state.told = Math.max(state.told, Number(event.lastEventId));
    work(JSON.parse(event.data));
  });
  events.onopen = () => {
    clearTimeout(lost);
    lost = null;
    if (state.gone) set({ gone: false });
  };
  events.onerror = () => {
    lost ??= setTimeout(() => set({ gone: true }), 2500);
  };
  on("hello", (answer) => { take({ ...answer, told: state.told }); set({ ready: true, working: null }); });
  on("project", ({ opening, command, jobs, ...project }) => opening === state.opening && set({ project, command, jobs, working: null }));
  on("elsewhere", (elsewhere) => set({ elsewhere }));
  on("table", (table) => set({ table, working: null }));
  on("check", (check) => set({ check }));
  on("working", ({ told }) => set({ working: told }));
  on("refused", ({ told }) => { set({ working: null }); complain(told); });
  on("job", (job) => {
    set({ jobs: [...state.jobs.filter((other) => other.number !== job.number), job].sort((a, b) => a.number - b.number) });
    if (job.kind === "run" && job.state === "done") loadRuns();
  });
}

export async function loadRuns() {
  const answer = await attempt(() => api("GET", "runs"));
  if (answer?.opening === state.opening) set({ runs: answer.runs });
}

export async function start() {
  take(await api("GET", "state"));
  set({ catalogue: await api("GET", "catalogue"), ready: true });
  fromHash();
  addEventListener("hashchange", fromHash);
  listen();
}
