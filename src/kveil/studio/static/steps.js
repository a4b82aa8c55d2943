// 3 Steps and limits: how values become coarser, and how coarse at most.
import { html, useEffect, useMemo, useState } from "./vendor/preact.js";
import { api, attempt, change, drop, go, put, useStore } from "./store.js";
import { count, limitInWords, number, stepsInWords, withRole } from "./words.js";
import { Tree } from "./tree.js";
import { grown, height, markedNodes, stops } from "./plant.js";

const ENDS = [["", "are errors"], ["below", "below are taken"], ["above", "above are taken"], ["both", "are taken"]];
const KINDS = [["tree", "a tree"], ["mask", "cut from the end"], ["intervals", "numbers in bands"], ["dates", "dates"], ["ranges", "ranges of numbers"], ["none", "none in between"]];
const UNITS = ["month", "quarter", "year", "decade", "century"];
const kindOf = (spec) => (!spec ? "none" : typeof spec === "string" ? "tree" : Object.keys(spec)[0]);

/** The largest k that a promise over this column asks for. */
export function largestK(content, column) {
  const ks = (content.privacy ?? []).filter((m) => !m.attributes || m.attributes.includes(column)).map((m) => Number(m.k ?? m.l ?? m.p ?? 1));
  return Math.max(1, ...ks.filter(Number.isFinite));
}

function NumberList({ label, values, save, falling }) {
  const [text, type] = useState("");
  const sorted = (list) => [...new Set(list)].sort((a, b) => (falling ? Number(b) - Number(a) : Number(a) - Number(b)));
  return html`<div class="row"><span>${label}</span><span class="chips">${values.map((v, i) => html`<span class="chip">${v}<button aria-label=${`Without ${v}`} disabled=${values.length < 2} onClick=${() => save(values.filter((_, j) => j !== i))}>✕</button></span>`)}</span>
    <form class="row" onSubmit=${(e) => { e.preventDefault(); if (text) save(sorted([...values, text])); type(""); }}><input type="number" step="any" min="0" aria-label=${`${label}: another one`} value=${text} onInput=${(e) => type(e.target.value)} /><button class="tight">Add</button></form></div>`;
}

function NumberInput({ label, value, save, optional }) {
  const [draft, type] = useState(null);
  const done = () => { if (draft !== null && draft !== String(value ?? "")) save(draft); type(null); };
  return html`<label>${label} <input type="number" step="any" value=${draft ?? value ?? ""} placeholder=${optional ? "none" : ""} onInput=${(e) => type(e.target.value)} onBlur=${done} onKeyDown=${(e) => e.key === "Enter" && done()} /></label>`;
}

function Histogram({ bins, from, to, width, groups, k }) {
  if (!bins?.numbers) return null;
  const [w, h] = [640, 120];
  const low = Math.min(bins.low, Number(from ?? bins.low));
  const high = Math.max(bins.low + bins.width * bins.bins.length, Number(to ?? bins.high));
  const x = (v) => ((v - low) / (high - low || 1)) * w;
  const top = Math.max(...bins.bins, 1);
  const edges = [];
  if (width > 0 && (high - low) / width <= 200) for (let v = Number(from); v < Number(to); v += width) edges.push([v, Math.min(v + width, Number(to) + (bins.whole ? 1 : 0))]);
  const counts = new Map(groups ?? []);
  const small = [...counts].filter(([, n]) => n > 0 && n < k);
  return html`<svg class="chart" viewBox=${`0 0 ${w} ${h + 34}`} role="img" aria-label=${`${count(bins.bins.reduce((a, b) => a + b, 0), "record")} between ${number(bins.low)} and ${number(bins.high)}${edges.length ? `, in ${count(edges.length, "band")} of ${width}` : ""}`}>
      ${bins.bins.map((n, i) => html`<rect class="column" x=${x(bins.low + i * bins.width)} y=${h - (h * n) / top} width=${Math.max(1, x(low + bins.width) - 1)} height=${(h * n) / top} />`)}
      ${edges.map(([a, b]) => html`<path class="band" d=${`M${x(a) + 1} ${h + 4} v6 H${x(b) - 1} v-6`} />`)}
      <text x="0" y=${h + 28}>${number(low)}</text><text x=${w} y=${h + 28} text-anchor="end">${number(bins.high)}</text></svg>
    ${small.length > 0 && html`<p class="small"><span class="bad">${small.slice(0, 4).map(([label, n]) => `${label}: ${count(n, "record")}`).join(" · ")}</span>, fewer than ${k}</p>`}`;
}

function Ways({ ways }) {
  if (!ways?.length) return null;
  return html`<div aria-label="Examples">${ways.map((way) => html`<div class="way">${way.map((label, i) => html`${i > 0 && html`<i>→</i>`}<span>${label}</span>`)}</div>`)}</div>`;
}

function Builder({ column, attribute, k }) {
  const spec = attribute.hierarchy;
  const kind = kindOf(spec);
  const [bins, setBins] = useState(null);
  const [preview, setPreview] = useState(null);
  const numeric = kind === "intervals" || kind === "ranges";
  useEffect(() => { setBins(null); if (numeric) attempt(() => api("GET", `bins?column=${encodeURIComponent(column)}`)).then(setBins); }, [column, numeric]);
  useEffect(() => { let on = true; if (kind !== "tree" && kind !== "ranges") attempt(() => api("POST", "preview", { column, hierarchy: spec ?? null })).then((a) => on && setPreview(a)); else setPreview(null); return () => { on = false; }; }, [column, JSON.stringify(spec)]);
  const path = ["attributes", column, "hierarchy"];
  const inside = spec && typeof spec === "object" ? Object.values(spec)[0] : null;
  const save = (changes, words) => change(() => ({ changes, words: `${column}: ${words}` }));
  if (kind === "mask") {
    return html`<div class="stack"><${NumberList} label="Signs kept, step by step:" values=${inside.keep} falling save=${(keep) => save([{ path: [...path, "mask", "keep"], value: keep }], `keep ${keep.join(", ")} signs`)} /><${Ways} ways=${preview?.ways} /></div>`;
  }
  if (kind === "dates") {
    return html`<div class="stack"><fieldset><legend class="sr">Units</legend>${UNITS.map((unit) => html`<label class="choice"><input type="checkbox" checked=${inside.includes(unit)} disabled=${inside.length === 1 && inside.includes(unit)} onChange=${(e) => { const next = UNITS.filter((u) => (u === unit ? e.target.checked : inside.includes(u))); save([{ path: [...path, "dates"], value: next }], `dates by ${next.join(", ")}`); }} />${unit}</label>`)}</fieldset><${Ways} ways=${preview?.ways} /></div>`;
  }
  if (kind === "intervals") {
    const set = (key, value) => save([{ path: [...path, "intervals", key], value }], `${key} ${value}`);
    return html`<div class="stack"><div class="row"><${NumberInput} label="from" value=${inside.from} save=${(v) => set("from", v)} /><${NumberInput} label="to" value=${inside.to} save=${(v) => set("to", v)} />
      <${NumberList} label="in bands of" values=${inside.widths} save=${(widths) => set("widths", widths)} />
      <label>numbers beyond <select value=${inside.open ?? ""} onChange=${(e) => save([e.target.value ? { path: [...path, "intervals", "open"], value: e.target.value } : { path: [...path, "intervals", "open"] }], e.target.value ? `open ${e.target.value}` : "closed at both ends")}>${ENDS.map(([id, words]) => html`<option value=${id}>${words}</option>`)}</select></label></div>
      <p class="small soft">Each width must be a multiple of the one before. At an open end the outermost band takes every number beyond it, such as >=90.</p>
      <${Histogram} bins=${bins} from=${inside.from} to=${inside.to} width=${Number(inside.widths?.at(-1))} groups=${preview?.groups} k=${k} /><${Ways} ways=${preview?.ways} /></div>`;
  }
  if (kind === "ranges") {
    const limit = attribute.boundary?.max_width;
    const middle = (bounds) => save(bounds === "values" ? [{ path: [...path, "ranges", "bounds"] }] : [{ path: [...path, "ranges", "bounds"], value: bounds }, { path: ["attributes", column, "boundary"] }], `ranges by ${bounds}`);
    return html`<div class="stack"><div class="row"><${NumberInput} label="from" value=${inside.within?.[0]} save=${(v) => save([{ path: [...path, "ranges", "within"], value: [v, inside.within[1]] }], `ranges from ${v}`)} />
      <${NumberInput} label="to" value=${inside.within?.[1]} save=${(v) => save([{ path: [...path, "ranges", "within"], value: [inside.within[0], v] }], `ranges to ${v}`)} />
      <label>a group shows <select value=${inside.bounds ?? "values"} onChange=${(e) => middle(e.target.value)}><option value="values">its smallest and largest number</option><option value="midpoints">halfway to the next numbers, on a grid (midpoints)</option></select></label></div>
      <div class="row"><${NumberInput} label="rounded to" optional value=${inside.round} save=${(v) => save([v ? { path: [...path, "ranges", "round"], value: v } : { path: [...path, "ranges", "round"] }], v ? `rounded to ${v}` : "not rounded")} />
      ${inside.bounds === "midpoints" ? null : html`<${NumberInput} label="at most so wide" optional value=${limit} save=${(v) => save([v ? { path: ["attributes", column, "boundary"], value: { max_width: v } } : { path: ["attributes", column, "boundary"] }], v ? `at most ${v} wide` : "as wide as needed")} />`}</div>
      <p class="small soft">${inside.bounds === "midpoints" ? "Both ends move outward to multiples of the number they are rounded to (a twentieth of the whole if you give none), and on halfway to the next number that is released. The outermost ends are those of the whole. There is no largest width." : "A group of people shows the smallest and the largest number among them, such as 60-65. Not every method can do this."}</p>
      <${Histogram} bins=${bins} from=${inside.within?.[0]} to=${inside.within?.[1]} k=${k} /></div>`;
  }
  if (kind === "none") return html`<p class="soft">A value is shown, or <code>*</code>, anything. Right for few values, such as a sex.</p>`;
  return null;
}

function Import({ column }) {
  const [how, choose] = useState(null);
  const [text, type] = useState("");
  const [path, setPath] = useState("");
  const [files, setFiles] = useState([]);
  const { project, root } = useStore();
  const beside = project.folder.startsWith(`${root}/`) ? project.folder.slice(root.length + 1) : "";
  useEffect(() => { // those beside the policy first, by their names alone
    if (how !== "import") return;
    const listed = (under) => attempt(() => api("GET", `files?under=${encodeURIComponent(under)}`)).then((a) => (a?.entries ?? []).filter((e) => /\.(csv|txt|tsv)$/.test(e.name)));
    Promise.all([...new Set([beside, ""])].map(listed)).then((lists) => setFiles(lists.flat().map((e, i) => ({ path: e.path, name: i < lists[0].length ? e.name : `${e.path}, where the studio was started` }))));
  }, [how, beside]);
  const plant = (wish) => change(() => ({ column, ...wish }), "tree").then((ok) => ok && choose((now) => (now === how ? null : now)));
  return html`<div class="row"><button class="tight" aria-expanded=${how === "import"} onClick=${() => choose(how === "import" ? null : "import")}>Take a tree from a file…</button>
    <button class="tight" aria-expanded=${how === "paste"} onClick=${() => choose(how === "paste" ? null : "paste")}>Paste from a spreadsheet…</button></div>
    ${how === "import" && html`<form class="row" onSubmit=${(e) => { e.preventDefault(); plant({ do: "import", path }); }}><label>File <select aria-label="File of the tree" required value=${path} onChange=${(e) => setPath(e.target.value)}><option value="">choose…</option>${files.map((f) => html`<option value=${f.path}>${f.name}</option>`)}</select></label><button class="main" disabled=${!path}>Take it</button></form>`}
    ${how === "paste" && html`<form class="stack" onSubmit=${(e) => { e.preventDefault(); plant({ do: "paste", text }); }}><label>One row for each value: the value, then its groups, from the narrowest to the widest<br /><textarea rows="6" value=${text} onInput=${(e) => type(e.target.value)} placeholder=${"02138\tCambridge\tMassachusetts\n05401\tBurlington\tVermont"} required></textarea></label><button class="main">Take these rows</button></form>`}`;
}

function Unknown({ column, answer }) {
  const [under, choose] = useState("");
  if (!answer?.unknown_values) return null;
  const groups = grown(answer);
  const options = groups.order.filter((node) => groups.children[node].length);
  const values = answer.unknown.map(([value]) => value);
  return html`<div class="notice bad"><p><strong>Not in the tree:</strong> ${count(answer.unknown_values, "value")}, ${count(answer.unknown_records, "record")}: ${values.slice(0, 8).join(", ")}${answer.unknown_values > 8 ? " …" : ""}</p>
    ${!answer.built && html`<form class="row" onSubmit=${(e) => { e.preventDefault(); change(() => ({ column, do: "place", labels: values, under }), "tree"); }}><label>Put ${values.length === 1 ? "it" : "them"} under <select value=${under} required onChange=${(e) => choose(e.target.value)}><option value="">choose…</option>${options.slice(0, 500).map((node) => html`<option value=${answer.labels[node]}>${"\u2003".repeat(groups.depth[node])}${answer.labels[node]}</option>`)}</select></label><button disabled=${!under}>Put ${values.length === 1 ? "it" : "them"} there</button></form>`}
    ${answer.built && html`<p>These steps do not fit such values. Choose other steps, or say on File that they mean “not recorded”.</p>`}</div>`;
}

function Limit({ column, attribute, tree }) {
  const boundary = attribute.boundary;
  const kind = !boundary ? "none" : Array.isArray(boundary) ? "marked" : "level";
  const path = ["attributes", column, "boundary"];
  const most = tree ? Math.max(1, height(tree) - 1) : 1;
  const choose = (value) => {
    if (value === "none") drop(path, `${column}: no limit`);
    else if (value === "level") put(path, { level: Math.min(most, 1) }, `${column}: limit by step`);
    else change(() => { const labels = boundary && tree ? [...markedNodes(tree, boundary)].filter((n) => n !== tree.root).map((n) => tree.labels[n]) : []; return labels.length ? { changes: [{ path, value: labels }], words: `${column}: limits by hand` } : null; });
  };
  return html`<div class="row"><label>Limit <select aria-label="Limit" value=${kind} onChange=${(e) => choose(e.target.value)}><option value="none">${kind === "none" ? "none: mark nodes below" : "none"}</option><option value="marked" disabled=${!boundary}>marked by hand</option><option value="level">the same step everywhere</option></select></label>
    ${kind === "level" && html`<fieldset class="row"><legend class="sr">Step</legend>${[...Array(most + 1).keys()].map((n) => html`<label class="choice"><input type="radio" name=${`level-${column}`} checked=${Number(boundary.level) === n} onChange=${() => put([...path, "level"], n, `${column}: limit at step ${n}`)} />${n === 0 ? "the value itself" : `step ${n}`}</label>`)}</fieldset>`}</div>`;
}

function Cost({ column, check, boundary }) {
  if (check.state !== "done" || !check.never_kept) return null;
  const fault = check.attributes.find((a) => a.attribute === column);
  if (!fault || (!fault.to_blame_for && !fault.saves)) return null;
  return html`<div class="notice bad"><p><strong>${count(check.never_kept, check.noun, check.plural)} can never be kept</strong>, ${number(fault.to_blame_for)} of them because of this limit. One step looser would save ${number(fault.saves)}.</p>
    <div class="row"><${Loosen} column=${column} saves=${fault.saves} /></div></div>`;
}

/** The limit of a column one step looser, as the check reckoned it. */
export function loosened(attribute, tree) {
  const limit = attribute.boundary;
  if (!limit) return null;
  if ("max_width" in limit) return { max_width: 2 * Number(limit.max_width) };
  if ("level" in limit) return { level: Number(limit.level) + 1 };
  const up = limit.map((label) => tree?.at.get(label)).filter((n) => n !== undefined).map((n) => tree.parents[n]).filter((n) => n >= 0 && n !== tree.root);
  return [...new Set(up)].map((n) => tree.labels[n]);
}

export function Loosen({ column, saves }) {
  const { project } = useStore();
  const loosen = async () => {
    const attribute = project.content.attributes[column];
    const answer = Array.isArray(attribute.boundary) ? await attempt(() => api("GET", `tree?column=${encodeURIComponent(column)}`)) : null;
    const next = loosened(attribute, answer && grown(answer));
    const path = ["attributes", column, "boundary"];
    change(() => ({ changes: [!next || next.length === 0 ? { path } : { path, value: next }], words: `${column}: limit one step looser` }));
  };
  return html`<button disabled=${!saves} onClick=${loosen}>Loosen it by one step${saves ? `: saves ${number(saves)}` : ""}</button>`;
}

export function StepsScreen() {
  const { project, check, column: wanted, table } = useStore();
  const content = project.content;
  const quasi = withRole(content, "quasi-identifier");
  const names = [...quasi, ...withRole(content, "sensitive")];
  const column = names.includes(wanted) ? wanted : names[0];
  const attribute = content.attributes?.[column] ?? {};
  const [answer, setAnswer] = useState(null);
  const [wrong, setWrong] = useState(null);
  const spec = attribute.hierarchy;
  const missing = JSON.stringify(content.data?.missing ?? null);
  const k = largestK(content, column);
  useEffect(() => {
    if (!column) return undefined;
    let on = true;
    setWrong(null);
    api("GET", `tree?column=${encodeURIComponent(column)}`).then((found) => on && setAnswer({ ...found, column }), (error) => { if (on) { setAnswer(null); setWrong(error.message); } });
    return () => { on = false; };
  }, [column, JSON.stringify(spec), missing, project.trees[spec], table?.name]);
  const shown = answer?.column === column ? answer : null;
  const tree = useMemo(() => (shown && !shown.ranges ? grown(shown) : null), [shown]);
  const limited = attribute.role === "quasi-identifier";
  const sum = useMemo(() => (tree ? stops(tree, markedNodes(tree, attribute.boundary)) : null), [tree, attribute.boundary]);
  const kind = kindOf(spec);
  const path = ["attributes", column, "hierarchy"];
  const choose = async (to) => {
    if (to === kind) return;
    const clear = attribute.boundary ? [{ path: ["attributes", column, "boundary"] }] : [];
    const write = (value) => change(() => ({ changes: [value === null ? { path } : { path, value }, ...clear], words: `${column}: steps from ${KINDS.find(([id]) => id === to)[1]}` }));
    if (to === "none") return void write(null);
    if (to === "dates") return void write({ dates: ["month", "year", "decade"] });
    if (to === "mask") return void write({ mask: { keep: [4, 3, 2] } });
    if (to === "tree") return void change(() => ({ column, do: "keep" }), "tree");
    const bins = await attempt(() => api("GET", `bins?column=${encodeURIComponent(column)}`));
    const low = Math.floor(bins?.low ?? 0);
    const high = Math.ceil(bins?.high ?? 100);
    const width = 10 ** Math.max(0, Math.floor(Math.log10((high - low) / 8 || 1)));
    const from = Math.floor(low / (4 * width)) * 4 * width;
    if (to === "ranges") return void write({ ranges: { within: [from, high], round: width } });
    return void write({ intervals: { from, to: Math.max(from + 4 * width, Math.ceil((high + 1) / (4 * width)) * 4 * width - 1), widths: [width, 2 * width, 4 * width] } });
  };
  if (!names.length) return html`<h2>Steps and limits</h2><p class="lead">No column is one that others may know. <button class="link" onClick=${() => go("columns")}>Say so on Columns</button>, then say here how it becomes coarser.</p>`;
  return html`<h2>How do values become coarser, and how coarse at most?</h2>
    <p class="lead">A value climbs only as far as it must, and never beyond a limit you mark.</p>
    <div class="split"><div>
      <select class="pick" aria-label="Column" value=${column} onChange=${(e) => go("steps", e.target.value)}>${names.map((name) => html`<option value=${name} selected=${name === column}>${name}</option>`)}</select>
      <ul class="side">${names.map((name) => html`<li><button aria-current=${name === column ? "true" : null} onClick=${() => go("steps", name)}>${name}<small>${stepsInWords(content.attributes[name])}${content.attributes[name].boundary ? ` · limit ${limitInWords(content.attributes[name])}` : ""}</small></button></li>`)}</ul></div>
    <section class="card stack" aria-label=${`Steps of ${column}`}>
      <div class="row end"><h3>${column}</h3><span class="soft small">${shown ? `${count(shown.values, "value")}, ${count(shown.records, "record")}${shown.missing ? `, ${number(shown.missing)} missing` : ""}` : ""}</span></div>
      <fieldset><legend class="small soft">Steps from</legend>${KINDS.filter(([id]) => limited || id !== "ranges").map(([id, words]) => html`<label class="choice"><input type="radio" name="kind" checked=${kind === id} onChange=${() => choose(id)} />${words}</label>`)}</fieldset>
      ${wrong && html`<div class="notice bad"><p>${wrong}</p></div>`}
      <${Unknown} column=${column} answer=${shown} />
      <${Builder} column=${column} attribute=${attribute} k=${k} />
      ${limited && html`<${Cost} column=${column} check=${check} boundary=${attribute.boundary} />`}
      ${tree && html`
        ${limited && html`<${Limit} column=${column} attribute=${attribute} tree=${tree} />`}
        ${limited && sum && attribute.boundary && html`<p class="small">${sum.free[tree.root] > 0 ? `${count(sum.free[tree.root], "record")} have no limit and may become ${tree.labels[tree.root]}.` : "Every record stops at a limit."}</p>`}
        <${Tree} key=${column} column=${column} answer=${shown} boundary=${attribute.boundary} limited=${limited} k=${k} />
        ${shown.built ? html`<div class="row"><button class="tight" onClick=${() => change(() => ({ column, do: "keep" }), "tree")}>Make it a tree I can change</button><span class="small soft">it is written as a file, or into the policy where it is small</span></div>` : ""}
        <${Import} column=${column} />`}
      ${limited && html`<details><summary>How much its detail matters</summary><div class="row"><${NumberInput} label="weight" optional value=${attribute.weight} save=${(v) => change(() => ({ changes: [v && Number(v) !== 1 ? { path: ["attributes", column, "weight"], value: v } : { path: ["attributes", column, "weight"] }], words: `${column}: weight ${v || 1}` }))} /><span class="small soft">1 where it is empty; 2 makes a step of this column cost twice as much as one of another</span></div></details>`}
    </section></div>
    <p><button class="main" onClick=${() => go("promises")}>Go on to the promises</button></p>`;
}
