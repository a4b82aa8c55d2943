// The tree of a column: limits marked by click or Space, what each costs at once; renaming, moving, grouping by keys.
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./vendor/preact.js";
import { change, say } from "./store.js";
import { count, number } from "./words.js";
import { grown, markedNodes, stops, visible, wanted } from "./plant.js";

const ROW = 30;

export function Tree({ column, answer, boundary, limited, k, noun }) {
  const tree = useMemo(() => grown(answer), [answer]);
  const marked = useMemo(() => markedNodes(tree, boundary), [tree, boundary]);
  const { stopping, free } = useMemo(() => stops(tree, marked), [tree, marked]);
  const [open, setOpen] = useState(() => new Set([tree.root, ...(tree.children[tree.root].length < 40 && tree.order.length < 400 ? tree.children[tree.root] : [])]));
  const [at, setAt] = useState(tree.root);
  const [ticked, setTicked] = useState(new Set());
  const [cut, setCut] = useState([]);
  const [find, setFind] = useState("");
  const [onlyLimits, setOnlyLimits] = useState(false);
  const [asking, ask] = useState(null);
  const [top, setTop] = useState(0);
  const [high, setHigh] = useState(430);
  const [drag, setDrag] = useState(null);
  const box = useRef(null);
  const typed = useRef({ text: "", when: 0 });
  const only = useMemo(() => {
    const text = find.trim().toLowerCase();
    if (text) return wanted(tree, (node) => tree.labels[node].toLowerCase().includes(text));
    return onlyLimits ? wanted(tree, (node) => marked.has(node)) : null;
  }, [tree, find, onlyLimits, marked]);
  const rows = useMemo(() => visible(tree, open, only), [tree, open, only]);
  const place = Math.max(0, rows.indexOf(at));
  const here = rows[place] ?? tree.root;
  const most = Math.max(1, tree.records[tree.root]);

  useEffect(() => { setTicked(new Set()); setCut([]); if (!rows.includes(at)) setAt(tree.root); }, [tree]);
  useLayoutEffect(() => { if (box.current && box.current.clientHeight !== high) setHigh(box.current.clientHeight); }, [rows.length]);
  const show = (index) => {
    const scroller = box.current;
    if (!scroller) return;
    if (index * ROW < scroller.scrollTop) scroller.scrollTop = index * ROW;
    else if ((index + 1) * ROW > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = (index + 1) * ROW - scroller.clientHeight;
  };
  const move = (index) => { const to = Math.max(0, Math.min(rows.length - 1, index)); setAt(rows[to]); show(to); };
  const toggle = (node, wish) => { const next = new Set(open); if (wish ?? !next.has(node)) next.add(node); else next.delete(node); setOpen(next); };

  const mark = (node) => {
    if (!limited) return;
    const label = tree.labels[node];
    change((content) => {
      const now = content.attributes[column].boundary;
      const list = Array.isArray(now) ? now : now ? [...markedNodes(tree, now)].map((n) => tree.labels[n]) : [];
      const next = list.includes(label) ? list.filter((each) => each !== label) : [...list, label];
      const path = ["attributes", column, "boundary"];
      return { changes: [next.length ? { path, value: next } : { path }], words: `${column}: ${list.includes(label) ? "no limit" : "limit"} at ${label}` };
    }).then((ok) => ok && say(`${label}: ${marked.has(node) ? "no limit any more" : "limit set"}`));
  };
  const tick = (node) => { const next = new Set(ticked); if (next.has(node)) next.delete(node); else next.add(node); setTicked(next); };
  const plant = (wish) => change(() => ({ column, ...wish }), "tree");
  const names = (nodes) => [...nodes].map((node) => tree.labels[node]);
  const isGroup = (node) => tree.children[node].length > 0;
  const rename = (node) => (isGroup(node) && node !== tree.root ? ask({ what: "rename", node, text: tree.labels[node] }) : say("Only groups of values can be renamed; values and the top keep their names."));
  const group = () => (ticked.size ? ask({ what: "group", text: "" }) : say("Tick some nodes that stand side by side first (Enter, or Ctrl and click)."));
  const dissolve = (node) => (isGroup(node) && node !== tree.root ? plant({ do: "dissolve", label: tree.labels[node] }) : say("Only groups between the values and the top can be dissolved."));
  const takeUp = () => { const some = ticked.size ? names(ticked) : [tree.labels[here]]; setCut(some); say(`${count(some.length, "node")} taken up. Go to a group and press Ctrl+V.`); };
  const paste = (under) => (cut.length ? plant({ do: "move", labels: cut, under: tree.labels[under] }) : say("Take something up first with Ctrl+X."));

  const keys = (event) => {
    const ctrl = event.ctrlKey || event.metaKey;
    const page = Math.max(1, Math.floor(high / ROW) - 1);
    const key = event.key;
    let used = true;
    if (ctrl && key === "g") group();
    else if (ctrl && key === "x") takeUp();
    else if (ctrl && key === "v") paste(here);
    else if (ctrl || event.altKey) used = false;
    else if (key === "ArrowDown") move(place + 1);
    else if (key === "ArrowUp") move(place - 1);
    else if (key === "PageDown") move(place + page);
    else if (key === "PageUp") move(place - page);
    else if (key === "Home") move(0);
    else if (key === "End") move(rows.length - 1);
    else if (key === "ArrowRight") { if (isGroup(here) && !open.has(here)) toggle(here, true); else if (isGroup(here)) move(place + 1); }
    else if (key === "ArrowLeft") { if (open.has(here) && isGroup(here)) toggle(here, false); else if (tree.parents[here] >= 0) move(rows.indexOf(tree.parents[here])); }
    else if (key === " ") mark(here);
    else if (key === "Enter") tick(here);
    else if (key === "F2") rename(here);
    else if (key === "Delete") dissolve(here);
    else if (key === "*") setOpen(new Set(tree.order.filter(isGroup)));
    else if (key.length === 1) {
      const now = performance.now();
      typed.current = { text: (now - typed.current.when < 800 ? typed.current.text : "") + key.toLowerCase(), when: now };
      const from = typed.current.text.length > 1 ? place : place + 1;
      const hit = [...rows.keys()].map((i) => (from + i) % rows.length).find((i) => tree.labels[rows[i]].toLowerCase().startsWith(typed.current.text));
      if (hit !== undefined) move(hit);
    } else used = false;
    if (used) { event.preventDefault(); event.stopPropagation(); }
  };

  const nodeAt = (event) => { const row = document.elementFromPoint(event.clientX, event.clientY)?.closest?.("[data-node]"); return row ? Number(row.dataset.node) : null; };
  const down = (event, node) => {
    if (event.button !== 0 || event.target.closest(".twist, .mark") || node === tree.root) return;
    setDrag({ node, x: event.clientX, y: event.clientY, on: false, over: null });
  };
  useEffect(() => {
    if (!drag) return undefined;
    const moved = (event) => {
      const far = drag.on || Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > 8;
      if (far) setDrag({ ...drag, on: true, over: nodeAt(event) });
    };
    const up = () => {
      if (drag.on && drag.over !== null && drag.over !== drag.node) plant({ do: "move", labels: ticked.has(drag.node) ? names(ticked) : [tree.labels[drag.node]], under: tree.labels[drag.over] });
      setDrag(null);
    };
    addEventListener("pointermove", moved);
    addEventListener("pointerup", up);
    return () => { removeEventListener("pointermove", moved); removeEventListener("pointerup", up); };
  }, [drag]);

  const first = Math.max(0, Math.floor(top / ROW) - 6);
  const some = rows.slice(first, first + Math.ceil(high / ROW) + 12);
  const step = Math.max(10, Math.min(20, 200 / (1 + Math.max(...some.map((n) => tree.depth[n])))));
  const row = (node, i) => {
    const index = first + i;
    const stop = stopping[node];
    const isMarked = marked.has(node);
    const few = isMarked && node !== tree.root && stop > 0 && stop < k;
    const never = limited && marked.size > 0 && !isMarked && isGroup(node) && free[node] === 0 && tree.records[node] > 0;
    const siblings = tree.parents[node] < 0 ? [node] : tree.children[tree.parents[node]];
    const told = isMarked && node !== tree.root ? `${number(stop)} stop here${few ? `, fewer than ${k}` : ""}` : "";
    return html`<div key=${node} id=${`n${node}`} data-node=${node} role="treeitem" class=${`node ${isMarked && limited ? "marked" : ""} ${node === here ? "at" : ""} ${ticked.has(node) ? "ticked" : ""} ${never ? "never" : ""} ${drag?.on && drag.over === node ? "target" : ""}`}
      aria-level=${tree.depth[node] + 1} aria-setsize=${siblings.length} aria-posinset=${siblings.indexOf(node) + 1} aria-expanded=${isGroup(node) ? open.has(node) || Boolean(only) : null} aria-selected=${ticked.has(node)} aria-checked=${limited ? isMarked : null}
      aria-label=${`${tree.labels[node]}, ${count(tree.records[node], "record")}${told ? `, limit, ${told}` : ""}${never ? ", never shown" : ""}`}
      style=${{ top: `${index * ROW}px`, paddingLeft: `${6 + tree.depth[node] * step}px` }}
      onPointerDown=${(e) => down(e, node)} onClick=${(e) => { setAt(node); if (e.ctrlKey || e.metaKey) tick(node); else if (e.shiftKey) { const [a, b] = [place, index].sort((x, y) => x - y); setTicked(new Set([...ticked, ...rows.slice(a, b + 1)])); } }}
      onDblClick=${() => isGroup(node) && toggle(node)}>
      <span class="twist" aria-hidden="true" onClick=${() => isGroup(node) && toggle(node)}>${isGroup(node) ? (open.has(node) || only ? "▾" : "▸") : ""}</span>
      ${limited && node !== tree.root && html`<span class="mark" aria-hidden="true" title=${isMarked ? "Take this limit away" : "No coarser than this"} onClick=${() => mark(node)}>${isMarked ? "▣" : "▢"}</span>`}
      <span class="name" title=${tree.labels[node]}>${tree.labels[node]}</span>
      ${told && html`<span class=${few ? "few" : "stops"}>${told}</span>`}<span class="gap"></span>
      <span class="meter"><i style=${{ width: `${Math.max(0.5, (100 * tree.records[node]) / most)}%` }}></i></span><span class="records">${number(tree.records[node])}</span></div>`;
  };
  const answerAsked = (event) => {
    event.preventDefault();
    plant(asking.what === "rename" ? { do: "rename", label: tree.labels[asking.node], name: asking.text } : { do: "group", labels: names(ticked), name: asking.text });
    ask(null);
    box.current.focus();
  };
  return html`<div class="stack">
    <div class="row tools"><input aria-label="Find in the tree" placeholder="find…" value=${find} onInput=${(e) => setFind(e.target.value)} />
      ${limited && html`<label class="choice"><input type="checkbox" checked=${onlyLimits} onChange=${(e) => setOnlyLimits(e.target.checked)} />only nodes with limits</label>`}
      <button class="tight" onClick=${() => setOpen(new Set(tree.order.filter(isGroup)))}>Open all</button><button class="tight" onClick=${() => setOpen(new Set([tree.root]))}>Close all</button></div>
    ${asking && html`<form class="row" onSubmit=${answerAsked}><label>${asking.what === "rename" ? `New name for ${tree.labels[asking.node]}` : "Name of the new group"} <input autofocus ref=${(e) => e && document.activeElement !== e && !asking.seen && ((asking.seen = true), e.focus())} value=${asking.text} onInput=${(e) => ask({ ...asking, text: e.target.value })} onKeyDown=${(e) => e.key === "Escape" && ask(null)} /></label><button class="main">Do it</button><button type="button" onClick=${() => ask(null)}>Never mind</button></form>`}
    <div class="tree" role="tree" tabindex="0" aria-label=${`Steps of ${column}`} aria-multiselectable="true" aria-activedescendant=${`n${here}`} ref=${box} style=${{ height: `min(27rem, ${Math.max(4, rows.length) * ROW + 2}px)` }} onKeyDown=${keys} onScroll=${(e) => setTop(e.target.scrollTop)}>
      <div class="all" role="presentation" style=${{ height: `${rows.length * ROW}px` }}>${some.map(row)}</div></div>
    <div class="row"><button class="tight" onClick=${() => rename(here)}>Rename</button><button class="tight" onClick=${group}>Group ticked (${ticked.size})</button><button class="tight" onClick=${() => dissolve(here)}>Dissolve</button></div>
    <p class="keys">${limited ? html`<kbd>Space</kbd> marks a limit, no coarser than this · ` : ""}<kbd>Enter</kbd> ticks · <kbd>F2</kbd> renames · drag, or <kbd>Ctrl</kbd>+<kbd>X</kbd> and <kbd>V</kbd>, moves · <kbd>Ctrl</kbd>+<kbd>G</kbd> groups · <kbd>Del</kbd> dissolves · letters find</p></div>`;
}
