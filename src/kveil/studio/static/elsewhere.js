// What is under way for other tables than the open one, and the way there.
import { html } from "./vendor/preact.js";
import { api, attempt, go, take, useStore } from "./store.js";

const DOES = { run: "A release is being made", compare: "Methods are being compared", attack: "The attacker is being played", rules: "Rules are being looked for", risk: "The risk is being looked at" };

export function Elsewhere() {
  const { elsewhere } = useStore();
  const visit = async ({ path, kind }) => {
    const answer = await attempt(() => api("POST", "open", { path }));
    if (answer) { take(answer); go({ run: "run", compare: "run", attack: "result", rules: "promises" }[kind] ?? "check"); }
  };
  return elsewhere.map((job) => html`<p class="small soft">${DOES[job.kind] ?? "Something is under way"} for another table, ${job.shown}.${job.path && html` <button class="link" onClick=${() => visit(job)}>Go there</button>`}</p>`);
}
