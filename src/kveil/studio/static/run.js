// 6 Run and compare: progress, loss falling as a curve, finish now, cancel.
import { html, useEffect, useState } from "./vendor/preact.js";
import { api, attempt, change, go, lastJob, put, set, useStore } from "./store.js";
import { count, number, seconds, share, stageInWords } from "./words.js";
import { Field, Settings } from "./settings.js";
import { Elsewhere } from "./elsewhere.js";

const isOver = (job) => !["running", "finishing"].includes(job.state);

/** What the best release found so far has lost, as time goes by. */
function bestSoFar(losses) {
  let best = Infinity;
  return losses.map(([when, loss]) => [when, (best = Math.min(best, loss))]);
}

function Curve({ losses: told }) {
  if (told.length < 2) return null;
  const losses = bestSoFar(told);
  const [w, h, left] = [640, 150, 52];
  const [last, top] = [losses.at(-1)[0], Math.max(...losses.map(([, l]) => l))];
  const low = Math.min(...losses.map(([, l]) => l));
  const first = losses[0][0];
  const x = (t) => left + ((t - first) / (last - first || 1)) * (w - left - 8);
  const y = (l) => 12 + (1 - (l - low * 0.95) / (top - low * 0.95 || 1)) * (h - 30);
  return html`<svg class="chart" viewBox=${`0 0 ${w} ${h}`} role="img" aria-label=${`Detail lost fell from ${share(losses[0][1])} to ${share(losses.at(-1)[1])}`}>
    <line class="axis" x1=${left} y1=${h - 16} x2=${w} y2=${h - 16} /><polyline class="line" points=${losses.map(([t, l]) => `${x(t)},${y(l)}`).join(" ")} />
    <text x="0" y=${y(losses[0][1]) + 4}>${share(losses[0][1])}</text><text x="0" y=${Math.max(y(losses.at(-1)[1]) + 4, y(losses[0][1]) + 18)}>${share(losses.at(-1)[1])}</text><text x=${w} y=${h - 2} text-anchor="end">${seconds(last)}</text></svg>`;
}

function Progress({ job }) {
  const [, tick] = useState(0);
  useEffect(() => { if (isOver(job)) return undefined; const timer = setInterval(() => tick((n) => n + 1), 500); return () => clearInterval(timer); }, [isOver(job)]);
  const [born] = useState(() => performance.now() - 1000 * job.seconds);
  const elapsed = isOver(job) ? job.seconds : (performance.now() - born) / 1000;
  const loss = job.losses.at(-1)?.[1];
  const finishing = job.state === "finishing";
  const searched = /^(verifying|writing|playing|drawing)/.test(job.stage);
  return html`<div role="group" aria-label="Progress"><div class="progress" role="progressbar" aria-label="How far it is" aria-valuenow=${Math.round(100 * job.done)} aria-valuemin="0" aria-valuemax="100"><i style=${{ width: `${Math.max(2, 100 * job.done)}%` }}></i></div>
    <div class="row end"><span>${finishing ? "finishing with the best so far" : stageInWords(job.stage)}${loss !== undefined ? `, ${share(loss)} of the detail lost so far` : ""} · ${seconds(elapsed)}</span>
    <span class="row">${job.kind === "run" && html`<button disabled=${finishing || searched} title=${searched ? "The search is over; its release is being finished" : "Take the best release found so far; it is verified like any other"} onClick=${() => attempt(() => api("POST", `jobs/${job.number}/finish`))}>Finish now with the best so far</button>`}
    <button onClick=${() => attempt(() => api("DELETE", `jobs/${job.number}`))}>Cancel</button></span></div>
    <${Curve} losses=${job.losses} /></div>`;
}

function Ended({ job }) {
  if (job.state === "done" && job.result) {
    const records = job.result.individuals ?? job.result.records;
    return html`<div class="notice"><p class="big">✓ Released and verified</p>${job.current === false && html`<p>The policy has been changed since; a new release would be made with what it says now.</p>`}<p>${number(records?.released)} of ${number(records?.input)} ${job.result.individuals ? "people" : "records"}, ${share(job.result.loss?.ncp ?? 0)} of the detail lost, in ${seconds(job.seconds)} with ${job.result.algorithm}.</p>
      <div class="row"><button class="main" onClick=${() => { set({ wantedRun: job.run }); go("result"); }}>See the result</button></div></div>`;
  }
  if (job.state === "cancelled") return html`<div class="notice"><p>${job.told}</p></div>`;
  return html`<div class="notice bad"><p class="big">No release was made</p><p>${job.told || "The answer is no; nothing was written."}</p><div class="row"><button onClick=${() => go("check")}>See the check</button><button onClick=${() => go("promises")}>Change the promises</button></div></div>`;
}

function Method({ content, check }) {
  const { methods, catalogue } = useStore();
  useEffect(() => { if (!methods) attempt(() => api("GET", "methods")).then((answer) => answer && set({ methods: answer })); }, []);
  const chosen = typeof content.algorithm === "string" ? content.algorithm : content.algorithm?.name ?? "auto";
  const method = methods?.find((m) => m.name === chosen);
  const options = content.algorithm && typeof content.algorithm === "object" ? content.algorithm : {};
  const able = check.state === "done" ? check.algorithms : null;
  const option = (name, value) => change(() => {
    const next = { ...options, name: chosen };
    if (value === undefined) delete next[name]; else next[name] = value;
    return { changes: [{ path: ["algorithm"], value: Object.keys(next).length > 1 ? next : chosen }], words: `${chosen}: ${name} ${value ?? "as usual"}` };
  });
  return html`<div class="stack"><label>Method <select aria-label="Method" value=${chosen} onChange=${(e) => put(["algorithm"], e.target.value, `method ${e.target.value}`)}>${(catalogue?.algorithms ?? []).map((name) => html`<option value=${name} selected=${name === chosen} disabled=${able && name !== "auto" && !able.includes(name) && name !== chosen}>${name === "auto" ? "try all, take the smallest loss" : name}${able && name !== "auto" && !able.includes(name) ? " (cannot keep these promises)" : ""}</option>`)}</select></label>
    ${method && html`<p class="small soft">${method.summary}${method.paper ? ` (${method.paper})` : ""}</p>`}
    ${method && Object.keys(method.options.properties ?? {}).length > 0 && html`<details><summary>Options of ${chosen}</summary><div class="form">${Object.entries(method.options.properties).map(([name, schema]) => html`<label for=${`option-${name}`}>${name.replaceAll("_", " ")}</label><${Field} key=${`${chosen}-${name}`} id=${`option-${name}`} schema=${schema} whole=${method.options} value=${options[name]} save=${(value) => option(name, value)} />${schema.description && html`<span class="hint">${schema.description}</span>`}`)}</div></details>`}</div>`;
}

/** A curve without words, beside the numbers that say the same. */
function SmallCurve({ losses }) {
  if (!losses || losses.length < 2) return null;
  const [w, h] = [72, 20];
  const [first, last] = [losses[0][0], losses.at(-1)[0]];
  const [low, top] = [Math.min(...losses.map(([, l]) => l)), Math.max(...losses.map(([, l]) => l))];
  const told = `fell from ${share(losses[0][1])} to ${share(losses.at(-1)[1])} in ${seconds(last - first)}`;
  return html`<svg class="small-curve" viewBox=${`0 0 ${w} ${h}`} role="img" aria-label=${told}><title>${told}</title>
    <polyline points=${losses.map(([t, l]) => `${2 + ((t - first) / (last - first || 1)) * (w - 4)},${2 + (1 - (l - low) / (top - low || 1)) * (h - 4)}`).join(" ")} /></svg>`;
}

/** What each method lost by the policy's own measure: as a number to sort by, and in words. */
const lost = (row, measure) => (measure === "il" ? row.loss.il : measure === "precision" ? 1 - row.loss.precision : row.loss.ncp);
const lostInWords = (row, measure) => (measure === "il" ? number(Math.round(row.loss.il)) : share(lost(row, measure)));

function Compare({ content }) {
  const { jobs } = useStore();
  const job = lastJob(jobs, "compare");
  const running = job && !isOver(job);
  const measure = job?.result?.loss ?? content.loss ?? "ncp";
  const curves = new Map((job?.compared ?? []).map((row) => [row.algorithm, row.losses]));
  const rows = job?.result?.algorithms ?? [...(job?.compared ?? [])].sort((a, b) => Number(b.solved) - Number(a.solved) || (a.solved ? lost(a, measure) - lost(b, measure) : 0));
  const chosen = typeof content.algorithm === "string" ? content.algorithm : content.algorithm?.name;
  return html`<section class="card stack"><div class="row end"><h3>Compare methods</h3><button disabled=${running} onClick=${() => attempt(() => api("POST", "jobs", { do: "compare" }))}>${job ? "Compare again" : "Compare all that can do it"}</button></div>
    <p class="small soft">Every method makes a release with these promises, each is verified, nothing is written. At most two minutes.</p>
    ${running && html`<${Progress} key=${job.number} job=${job} />`}
    ${job?.state === "refused" && html`<div class="notice bad"><p>${job.told}</p></div>`}
    ${job && isOver(job) && job.current === false && html`<p class="small soft">This was before the policy was changed; compare again for how it is now.</p>`}
    ${job?.state === "cancelled" && html`<p class="soft">Cancelled${rows.length ? "; these were done" : ""}.</p>`}
    ${rows.length > 0 && html`<div class="scroll" tabindex="0" role="region" aria-label="Comparison"><table><caption aria-live="polite">${running ? `${count(rows.length, "method")} so far, the smallest loss first` : "The smallest loss first"}</caption><thead><tr><th scope="col">method</th><th scope="col" class="n">detail lost</th><th scope="col"><span class="sr">how it fell</span></th><th scope="col" class="n">left out</th><th scope="col" class="n">groups</th><th scope="col" class="n">time</th><th scope="col"><span class="sr">choose</span></th></tr></thead>
      <tbody>${rows.map((row) => html`<tr key=${row.algorithm}><th scope="row">${row.algorithm}</th>${row.solved ? html`<td class="n">${lostInWords(row, measure)}</td><td><${SmallCurve} losses=${curves.get(row.algorithm)} /></td><td class="n">${share(row.suppressed_share, 2)}</td><td class="n">${number(row.groups)}</td><td class="n">${seconds(row.seconds)}</td><td>${row.algorithm === chosen ? html`<span class="badge good">chosen</span>` : html`<button class="tight" onClick=${() => put(["algorithm"], row.algorithm, `method ${row.algorithm}`)}>Use this<span class="sr"> method: ${row.algorithm}</span></button>`}</td>`
        : html`<td colspan="6" class="soft">${row.reason}</td>`}</tr>`)}</tbody></table></div>`}</section>`;
}

export function RunScreen() {
  const { project, check, jobs, command, table } = useStore();
  const job = lastJob(jobs, "run");
  const busy = job && !isOver(job);
  const [wanted, want] = useState(false);
  const earlier = [].concat(project.content.previous ?? []).length > 0;
  const weaker = earlier && wanted;
  const blocked = project.error ? project.error.told : table?.error ?? null;
  return html`<h2>Make the release</h2><p class="lead">kveil looks for the release that loses the least detail, verifies it from outside, and only then writes it.</p>
    <section class="card stack"><${Method} content=${project.content} check=${check} />
      <details><summary>What counts as loss, the seed, and where the table is held</summary><${Settings} under=${[]} only=${["loss", "seed", "engine"]} /></details>
      ${blocked && html`<div class="notice bad"><p>${blocked}</p></div>`}
      ${check.state === "done" && !check.possible && html`<div class="notice warn"><p>The check says that the promises cannot be kept as they are. <button class="link" onClick=${() => go("check")}>See why</button></p></div>`}
      ${earlier && html`<label class="small"><input type="checkbox" checked=${weaker} onChange=${(e) => want(e.target.checked)} /> Allow less than the earlier releases promised; the result says for how many people</label>`}
      <div class="row"><button class="main" disabled=${busy || Boolean(blocked)} onClick=${() => attempt(() => api("POST", "jobs", weaker ? { do: "run", weaker } : { do: "run" }))}>Make the release</button><span class="small soft">the same on the command line: <code>${command}${weaker ? " --weaker" : ""}</code></span></div>
      <${Elsewhere} />
      <div aria-live="polite">${job && (busy ? html`<${Progress} key=${job.number} job=${job} />` : html`<${Ended} job=${job} />`)}</div></section>
    <${Compare} content=${project.content} />`;
}
