// 7 Result: what holds, before and after, what was lost, earlier runs, downloads to publish and for you alone.
import { html, useEffect, useState } from "./vendor/preact.js";
import { api, attempt, lastJob, loadRuns, go, state, useStore } from "./store.js";
import { Copy } from "./copy.js";
import { count, number, sentence, share, size, withRole } from "./words.js";

const WHAT = { "receipt.json": "what holds, for everybody", "report-public.html": "the report for everybody", "owner.json": "which released row is whose", "account.json": "the whole story of the run", "report.html": "the report for your eyes", "policy.yaml": "the policy it was made with" };

function Before({ run }) {
  const [sample, show] = useState(null);
  useEffect(() => { show(null); }, [run]);
  if (!sample) return html`<p><button onClick=${() => attempt(() => api("GET", `runs/${encodeURIComponent(run)}/sample`)).then((a) => a && show(a))}>Show eight records before and after</button></p>`;
  if (!sample.rows.length) return html`<p class="soft">Here a released row is a person with several records; the report shows what became of the columns.</p>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Before and after"><table><caption>Eight records, as they were and as they are released</caption><thead><tr>${sample.columns.map((c) => html`<th scope="col">${c}</th>`)}</tr></thead>
    <tbody>${sample.rows.map((row) => html`<tr>${row.map(([before, after]) => html`<td>${before === after ? before : html`<span class="soft">${before}</span> → <strong>${after}</strong>`}</td>`)}</tr>`)}</tbody></table></div>`;
}

function Losses({ account }) {
  const by = account.loss_by_attribute;
  if (!by) return null;
  const value = (v) => (typeof v === "number" ? v : v?.ncp ?? 0);
  const rows = Object.entries(by).sort((a, b) => value(b[1]) - value(a[1]));
  return html`<section class="card"><h3>Detail lost, by column</h3><table><tbody>${rows.map(([name, v]) => html`<tr><th scope="row">${name}</th><td><span class="meter track"><i style=${{ width: `${100 * value(v)}%` }}></i></span></td><td class="n">${share(value(v))}</td></tr>`)}</tbody></table></section>`;
}

function Files({ run, files }) {
  const link = (name) => `api/runs/${encodeURIComponent(run)}/${encodeURIComponent(name)}`;
  const known = new Map(files.map((file) => [file.name, file]));
  const item = (name) => html`<li><a download href=${link(name)}>${name}</a> <span class="soft small">${WHAT[name] ?? "the released table"}${known.has(name) ? `, ${size(known.get(name).size)}` : ""}</span></li>`;
  const named = (publish) => files.filter((file) => file.publish === publish).map((file) => file.name);
  const published = [...new Set([...named(true), "report-public.html"])];
  return html`<div class="two"><section class="card"><h3>To publish</h3><ul>${published.map(item)}</ul><p><a class="button main" download href=${link("bundle.zip")}>All as a zip</a></p></section>
    <section class="card"><h3>For you alone</h3><ul>${named(false).map(item)}</ul><p class="small soft">Whoever has owner.json and the table can identify everybody in the release. Keep it to yourself.</p></section></div>`;
}

function Earlier({ runs, chosen, choose, other, compareWith }) {
  if (runs.length < 2) return null;
  const one = runs.find((r) => r.run === chosen)?.account;
  const two = runs.find((r) => r.run === other)?.account;
  const facts = [["detail lost", (a) => share(a.loss?.ncp ?? 0, 2)], ["released", (a) => number((a.individuals ?? a.records)?.released)], ["left out", (a) => number((a.individuals ?? a.records)?.suppressed)], ["method", (a) => a.algorithm], ["promises", (a) => a.guarantees.length], ["smallest group", (a) => number(Math.min(...a.guarantees.filter((g) => g.model === "k-anonymity").map((g) => g.worst)))]];
  return html`<section class="card stack"><h3>Earlier runs</h3><div class="scroll" tabindex="0" role="region" aria-label="Earlier runs"><table><thead><tr><th scope="col">made</th><th scope="col">method</th><th scope="col" class="n">detail lost</th><th scope="col" class="n">released</th><th></th></tr></thead>
    <tbody>${runs.map(({ run, account }) => html`<tr class=${run === chosen ? "on" : ""}><th scope="row"><button class="link" onClick=${() => choose(run)}>${run}</button></th><td>${account.algorithm}</td><td class="n">${share(account.loss?.ncp ?? 0, 2)}</td><td class="n">${number((account.individuals ?? account.records)?.released)}</td><td>${run !== chosen && html`<button class="tight" onClick=${() => compareWith(run === other ? null : run)}>${run === other ? "Not beside it" : "Put beside it"}</button>`}</td></tr>`)}</tbody></table></div>
    ${two && one && html`<div class="scroll" tabindex="0" role="region" aria-label="Side by side"><table><caption>Side by side</caption><thead><tr><th></th><th scope="col">${chosen}</th><th scope="col">${other}</th></tr></thead><tbody>${facts.map(([name, of]) => html`<tr><th scope="row">${name}</th><td>${of(one)}</td><td>${of(two)}</td></tr>`)}</tbody></table></div>`}</section>`;
}

const LEAST_GAIN = 0.1; // of those whom a guess gets wrong, as the report has it
const title = (a) => state.catalogue?.attacks[a.attack] ?? a.attack;
const rate = (r) => (r?.targets ? share(r.rate) : "–");
/** What an attacker knows of somebody: columns, or how much of what the person has. */
const knows = (a) => (a.items === undefined ? a.knowing : a.items === null ? "everything the person has of it" : `only the ${a.items === 1 ? "rarest value" : `${a.items} rarest values`} of it`);
/** How much more often an attack is right with the release than by naming the most frequent value. */
const gain = (a) => (a.after?.targets ? (a.after.rate - (a.guess ?? 0)) / (1 - (a.guess ?? 0) || 1) : -1);
/** First those that get through, by how often they are right; a guess that is right anyway comes after them. */
const byDanger = (a, b) => Number(gain(b) >= LEAST_GAIN) - Number(gain(a) >= LEAST_GAIN) || (b.after?.rate ?? 0) - (a.after?.rate ?? 0);

/** The attack that succeeds most, but none that would be right without the release. */
function Headline({ attacks }) {
  const [most] = attacks;
  if (gain(most) < LEAST_GAIN) return html`<p><strong>No attack is right much more often than by guessing alone.</strong></p>`;
  return html`<p><strong>${title(most)}${most.sensitive ? ` (${most.sensitive})` : ""} succeeds most: right for ${rate(most.after)} now, ${rate(most.before)} before${most.guess === undefined ? "" : `, ${share(most.guess)} by guessing alone`}.</strong></p>`;
}

function Attacks({ run, same }) {
  const { jobs } = useStore();
  const job = lastJob(jobs, "attack", (each) => each.run === run);
  const busy = job?.state === "running";
  const attacks = [...(job?.result?.attacks ?? [])].sort(byDanger);
  return html`<section class="card stack"><div class="row end"><h3>What an attacker gets out of it</h3>
      <button disabled=${busy || !same} title=${same ? "" : "The policy has been changed since this release was made"} onClick=${() => attempt(() => api("POST", "jobs", { do: "attack", run }))}>${busy ? "Playing…" : attacks.length ? "Play again" : "Play the attacker"}</button></div>
    <p class="small soft">Tries to find people in the table as it was and in this release, knowing of them what your promises say somebody may know.</p>
    ${job?.state === "refused" && html`<p class="bad">${job.told}</p>`}
    ${attacks.length > 0 && html`<${Headline} attacks=${attacks} /><div class="scroll" tabindex="0" role="region" aria-label="Attacks"><table><thead><tr><th scope="col">attack</th><th scope="col">protected column</th><th scope="col">knowing</th><th scope="col" class="n">by guessing</th><th scope="col" class="n">right before</th><th scope="col" class="n">right now</th></tr></thead>
      <tbody>${attacks.map((a) => html`<tr><th scope="row">${title(a)}</th><td>${a.sensitive ?? ""}</td><td>${knows(a)}</td><td class="n">${a.guess === undefined ? "" : share(a.guess)}</td><td class="n">${rate(a.before)}</td><td class="n">${rate(a.after)}</td></tr>`)}</tbody></table></div>
      <details><summary>In sentences</summary><ul>${attacks.map((a) => html`<li>${a.sentence}</li>`)}</ul></details>`}</section>`;
}

export function ResultScreen() {
  const { project, runs, wantedRun, catalogue } = useStore();
  const [chosen, choose] = useState(wantedRun ?? null);
  const [other, compareWith] = useState(null);
  const [report, showReport] = useState(true);
  useEffect(() => { loadRuns(); }, [project.path]);
  if (!runs) return html`<h2>Result</h2><p class="soft">Looking for releases…</p>`;
  if (!runs.length) return html`<h2>Result</h2><p class="lead">No release has been made yet. <button class="link" onClick=${() => go("run")}>Make one</button>.</p>`;
  const entry = runs.find((r) => r.run === chosen) ?? runs[0];
  const { run, account, files, command, same_policy: same } = entry;
  const counts = account.individuals ?? account.records ?? {};
  const noun = account.individuals ? "people" : "records";
  const holding = account.guarantees.filter((g) => g.holds).length;
  const smallest = Math.min(...account.guarantees.filter((g) => g.model === "k-anonymity").map((g) => g.worst));
  const quasi = withRole(project.content, "quasi-identifier");
  return html`<h2>Result</h2><p class="lead">Made ${run} with ${account.algorithm}.</p>
    <div class="notice"><p class="big">✓ Verified: ${holding} of ${account.guarantees.length} promises hold</p><p>No check can know whether the columns were rightly named; that was your decision on Columns.</p></div>
    <ul class="tiles"><li><b>${number(counts.released)}</b><span>of ${number(counts.input)} ${noun} released</span></li><li><b>${number(counts.suppressed)}</b><span>left out</span></li><li><b>${share(account.loss?.ncp ?? 0)}</b><span>of the detail lost</span></li><li><b>${number(smallest)}</b><span>look alike at least</span></li></ul>
    <section class="card"><h3>What holds</h3><ul>${account.guarantees.map((g) => html`<li><span class=${g.holds ? "good" : "bad"}>${g.holds ? "✓" : "✗"}</span> ${sentence(g, quasi, noun)} <span class="soft small">${catalogue?.worst[g.model] ?? "nearest to breaking it"}: ${typeof g.worst === "number" ? number(Number(g.worst.toFixed(3))) : g.worst ?? "–"}</span></li>`)}${(account.dependencies ?? []).map((d) => html`<li><span class=${d.holds ? "good" : "bad"}>${d.holds ? "✓" : "✗"}</span> ${d.rule}</li>`)}</ul>${account.previous && html`<p>Together with ${count(account.previous.releases - 1, "earlier release")}: ${number(account.previous.newcomers)} are shown for the first time, ${number(account.previous.leavers)} of the earlier ones no more, and every promise holds on those who look alike in all of them.</p>`}
      ${account.warnings?.length > 0 && html`<div class="notice warn">${account.warnings.map((w) => html`<p>${w}</p>`)}</div>`}</section>
    <${Files} run=${run} files=${files} />
    <section class="card"><h3>Before and after</h3><${Before} run=${run} /></section>
    <${Losses} account=${account} />
    <${Attacks} run=${run} same=${same} />
    <section class="card"><div class="row end"><h3>The report, for your eyes</h3><button class="tight" onClick=${() => showReport(!report)}>${report ? "Fold away" : "Show"}</button></div>
      ${report && html`<iframe class="report" sandbox="" title="Report of this release" src=${`api/runs/${encodeURIComponent(run)}/report.html?show=1`}></iframe>`}</section>
    <section class="card"><h3>The same on the command line</h3>
      ${same ? html`<p class="small soft">In the folder ${project.folder}, this gives the same bytes:</p><div class="command"><code tabindex="0">${command}</code><${Copy} text=${command} /></div>`
        : html`<p>The policy has been changed since. What this release was made with is its own policy.yaml, under “For you alone”; put it beside the table under another name to make the same release again.</p>`}</section>
    <${Earlier} runs=${runs} chosen=${run} choose=${choose} other=${other} compareWith=${compareWith} />`;
}
