// 5 Check: who can never be kept, whose fault it is, and one button that loosens it.
import { html } from "./vendor/preact.js";
import { api, attempt, change, go, lastJob, put, set, useStore } from "./store.js";
import { ROLES, count, letter, listing, number, seconds, share } from "./words.js";
import { Loosen } from "./steps.js";

function Answer({ check, project }) {
  if (project.error) return html`<div class="notice bad"><p class="big">The policy is not complete yet</p><p>${project.error.told}</p></div>`;
  if (check.state === "running") return html`<div class="notice" role="status"><p class="big">Checking…</p><p>${check.seconds > 1 ? `It took ${seconds(check.seconds)} last time.` : ""}</p></div>`;
  if (check.state === "stale") return html`<div class="notice"><p class="big">Changed since the last check</p><div class="row"><button class="main" onClick=${() => attempt(() => api("POST", "check"))}>Check now, about ${seconds(check.seconds)}</button></div></div>`;
  if (check.state === "refused") return html`<div class="notice bad"><p class="big">The policy and the table contradict each other</p>${check.disagreement ? html`<${AtOdds} ...${check.disagreement} content=${project.content} />` : html`<p>${check.told}</p>`}</div>`;
  if (check.state !== "done") return html`<p class="soft">Nothing to check yet.</p>`;
  if (!check.possible) {
    const worst = check.attributes.filter((a) => a.to_blame_for > 0).sort((a, b) => b.to_blame_for - a.to_blame_for)[0];
    const faults = check.impossible_promises ?? [];
    const others = check.impossible.filter((told) => !faults.some((fault) => fault.why === told));
    return html`<div class="notice bad"><p class="big">✗ ${faults.length ? `${faults.length === 1 ? "A promise" : count(faults.length, "promise")} cannot be kept` : others[0]}</p>
      ${faults.map(({ privacy, why }) => html`<p><button class="link" onClick=${() => { set({ promise: privacy }); go("promises"); }}>Promise ${letter(privacy)}</button>: ${why}</p>`)}
      ${others.slice(faults.length ? 0 : 1).map((told) => html`<p>${told}</p>`)}
      ${check.looking && !faults.length ? html`<p>Looking for the limit that is to blame…</p>` : worst ? html`<p>The limit on ${worst.attribute} is to blame for ${number(worst.to_blame_for)}.</p>` : faults.length ? "" : html`<p>Loosen a limit, ask for less, or allow more to be left out.</p>`}
      <div class="row">${!faults.length && check.never_kept > check.allowed && html`<button onClick=${() => go("promises")}>Allow more to be left out, or ask for less</button>`}</div></div>`;
  }
  return html`<div class="notice"><p class="big">✓ Nothing is impossible</p><p>${check.never_kept ? `${count(check.never_kept, check.noun, check.plural)} of ${number(check.records)} can never be kept, whatever is done; ${number(check.allowed)} may be left out.` : `All ${number(check.records)} ${check.plural} can be kept, as far as limits and promises alone can tell.`}</p></div>`;
}

/** Columns that a person's records disagree on, in the words of Columns, and what to do about it at a click. */
function AtOdds({ columns, generalizable, content }) {
  const one = columns.length === 1;
  const give = (role) => change(() => ({ names: columns, role }), "policy/roles");
  if (generalizable) {
    return html`<p>Records of the same person differ in ${listing(columns)}, which others may know of somebody; a released row is a person and shows one value.</p>
      <div class="row"><button onClick=${() => put(["individual", "conflicts"], "generalize", "people: show what covers all of a person's values")}>Show what covers all of a person's values</button>
      <button onClick=${() => give("identifier")}>Never release ${one ? "it" : "them"} (${ROLES.identifier.name})</button></div>`;
  }
  return html`<p>${listing(columns)} ${one ? "is" : "are"} ${ROLES[content.attributes?.[columns[0]]?.role]?.name ?? "released unchanged"}, and records of the same person differ in ${one ? "it" : "them"}; a released row is a person and could show only one of the values.</p>
    <div class="row"><button onClick=${() => give("sensitive")}>Release all of a person's values (${ROLES.sensitive.name})</button>
    <button onClick=${() => give("identifier")}>Never release ${one ? "it" : "them"} (${ROLES.identifier.name})</button></div>`;
}

function Risk() {
  const { jobs } = useStore();
  const job = lastJob(jobs, "risk");
  const risk = job?.result?.risk;
  return html`<section class="card stack"><h3>Before anything is done</h3><p class="small soft">How many people could be found in the table as it is, by what others may know.</p>
    <div class="row"><button disabled=${job?.state === "running"} onClick=${() => attempt(() => api("POST", "jobs", { do: "risk" }))}>${job?.state === "running" ? "Looking…" : risk ? "Look again" : "Look how many are alone"}</button></div>
    ${job?.state === "refused" && html`<p class="bad">${job.told}</p>`}
    ${risk && job.current === false && html`<p class="small soft">This was before the policy was changed; look again for how it is now.</p>`}
    ${risk && html`<${Facts} risk=${risk} />`}</section>`;
}

function Facts({ risk }) {
  const noun = risk.counts;
  return html`<ul class="tiles"><li><b>${share(risk.unique.share)}</b><span>of all ${noun} are alone with everything others may know</span></li>
      ${risk.constraints.slice(0, 3).map((c) => html`<li><b>${share(c.share)}</b><span>have fewer than ${c.k} that look alike in ${listing(c.attributes)}</span></li>`)}</ul>
    ${risk.smallest_sets?.sets?.length > 0 && html`<p>${risk.smallest_sets.sets.slice(0, 3).map((s) => `${listing(s.attributes)} alone ${s.attributes.length === 1 ? "singles" : "single"} out ${share(s.share)}`).join("; ")}.</p>`}
    <div class="scroll" tabindex="0" role="region" aria-label="Columns others may know"><table><thead><tr><th scope="col">column</th><th scope="col" class="n">values</th><th scope="col" class="n">${noun} alone by it</th><th scope="col" class="n">alone only because of it</th></tr></thead>
      <tbody>${risk.attributes.map((a) => html`<tr><th scope="row">${a.attribute}</th><td class="n">${number(a.values)}</td><td class="n">${number(a.unique_alone)}</td><td class="n">${number(a.unique_through_it)}</td></tr>`)}</tbody></table></div>`;
}

export function CheckScreen() {
  const { project, check } = useStore();
  const done = check.state === "done";
  const red = Boolean(project.error) || check.state === "refused" || (done && !check.possible);
  return html`<h2>Can it be done at all?</h2><p class="lead">This looks again after every change, before any release is made.</p>
    <div aria-live="polite"><${Answer} check=${check} project=${project} /></div>
    ${done && check.attributes.length > 0 && html`<section class="card"><h3>What each limit costs</h3>
      <div class="scroll" tabindex="0" role="region" aria-label="What each limit costs"><table><thead><tr><th scope="col">limit on</th><th scope="col" class="n">never kept without it</th><th scope="col" class="n">one step looser</th><th scope="col"><span class="sr">what to do</span></th></tr></thead>
      <tbody>${check.attributes.map((a) => html`<tr><th scope="row">${a.attribute}</th><td class="n">${number(a.without)}</td><td class="n">${number(a.one_level_up)}${a.saves ? html` <span class="good">saves ${number(a.saves)}</span>` : ""}</td>
        <td><span class="row"><${Loosen} column=${a.attribute} saves=${a.saves} /><button class="quiet" onClick=${() => go("steps", a.attribute)}>Show its tree</button></span></td></tr>`)}</tbody></table></div></section>`}
    ${done && !check.whole && !check.looking && html`<section class="card"><h3>What each limit costs</h3><div class="row"><button onClick=${() => attempt(() => api("POST", "check"))}>See what each limit costs, about ${seconds(check.seconds_of_limits)}</button></div></section>`}
    ${done && html`<section class="card"><h3>Which methods can do it</h3>${check.algorithms.length ? html`<p>${listing(check.algorithms)} (${check.algorithms.length}). On Run, kveil tries them all and takes the smallest loss, unless you name one.</p>` : html`<p class="bad">None in this version honours the whole policy; take a part of it out.</p>`}</section>`}
    <${Risk} />
    <p><button class="main" disabled=${red} title=${red ? "What stands in red above has to be corrected first" : ""} onClick=${() => go("run")}>Go on to the run</button></p>`;
}
