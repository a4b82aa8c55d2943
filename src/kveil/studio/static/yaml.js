// The policy's text beside every screen: what is clicked stands here, what is typed is clicked.
import { html, useEffect, useRef } from "./vendor/preact.js";
import {
  EditorState, EditorView, StateEffect, StateField, Decoration, keymap, lineNumbers, highlightActiveLine, drawSelection,
  defaultKeymap, indentOnInput, bracketMatching, syntaxHighlighting, HighlightStyle, indentUnit, yaml,
  setDiagnostics, autocompletion, completionKeymap, tags, Annotation,
} from "./vendor/editor.js";
import { api, set, state, take, useStore, undo, redo, Refused, complain } from "./store.js";
import { Copy } from "./copy.js";
import { ROLES, MODELS } from "./words.js";

const theme = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--card)", fontSize: "12.5px" },
  ".cm-content": { fontFamily: 'ui-monospace, "SF Mono", Menlo, Consolas, monospace', caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--card)", color: "var(--soft)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--hover)" },
  "&.cm-focused": { outline: "2px solid var(--after)", outlineOffset: "-2px" },
  ".cm-selectionBackground, &.cm-focused .cm-selectionBackground": { backgroundColor: "var(--tint) !important" },
  ".cm-lit": { backgroundColor: "var(--tint)" },
  ".cm-tooltip": { backgroundColor: "var(--card)", color: "var(--text)", border: "1px solid var(--line)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--after)", color: "var(--on)" },
  ".cm-scroller": { overflow: "auto", lineHeight: "1.55" },
});
const colours = HighlightStyle.define([
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--after)" },
  { tag: tags.string, color: "var(--text)" },
]);
const fromServer = Annotation.define();
const light = StateEffect.define();
const lit = StateField.define({
  create: () => Decoration.none,
  update(marks, change) {
    marks = marks.map(change.changes);
    for (const effect of change.effects) if (effect.is(light)) marks = effect.value;
    return marks;
  },
  provide: (field) => EditorView.decorations.from(field),
});

function complete(context) {
  const word = context.matchBefore(/[\w*+-]*/);
  if (!context.explicit && (!word || word.from === word.to)) return null;
  const content = state.project?.content ?? {};
  const schema = state.catalogue?.schema?.properties ?? {};
  const words = [...Object.keys(schema), ...Object.keys(ROLES), ...Object.keys(MODELS), ...(state.catalogue?.algorithms ?? []),
    ...Object.keys(content.attributes ?? {}), "role", "hierarchy", "boundary", "weight", "intervals", "mask", "dates", "ranges",
    "tree", "level", "max_width", "model", "sensitive", "attributes", "variant", "distance", "month", "quarter", "year", "decade"];
  return { from: word?.from ?? context.pos, options: [...new Set(words)].map((label) => ({ label })), validFor: /[\w*+-]*/ };
}

/** Replace only what differs, so that the cursor stays; return the lines that changed. */
function follow(view, text) {
  const old = view.state.doc.toString();
  if (old === text) return;
  let start = 0;
  while (start < old.length && start < text.length && old[start] === text[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < text.length - start && old.at(-1 - end) === text.at(-1 - end)) end += 1;
  const insert = text.slice(start, text.length - end);
  view.dispatch({ changes: { from: start, to: old.length - end, insert }, annotations: fromServer.of(true) });
  const marks = [];
  const first = view.state.doc.lineAt(start).number;
  const last = view.state.doc.lineAt(start + insert.length).number;
  for (let n = first; n <= Math.min(last, first + 60); n += 1) marks.push(Decoration.line({ class: "cm-lit" }).range(view.state.doc.line(n).from));
  const whole = first === 1 && last === view.state.doc.lines;
  view.dispatch({ effects: light.of(whole ? Decoration.none : Decoration.set(marks)) });
  if (!whole) { // its own scroller alone: the page stays where it is
    const block = view.lineBlockAt(view.state.doc.line(first).from);
    view.scrollDOM.scrollTop = block.top - view.scrollDOM.clientHeight / 2;
  }
}

const KEPT = "kveil-unsaved-text"; // a text that could not be saved, never data

export function Text() {
  const { project, command, broken, folded, screen, column } = useStore();
  const holder = useRef(null);
  const view = useRef(null);
  const timer = useRef(null);
  const sending = useRef(false);
  const waiting = useRef(null); // the policy that a text is meant for which is not sent yet

  async function send() {
    const { opening, project: { path } } = state;
    waiting.current = null;
    const text = view.current.state.doc.toString();
    if (text === state.project.text) { set({ broken: null }); return; }
    sending.current = true;
    try {
      const answer = await api("PUT", "policy/text", { number: state.project.number, text });
      sessionStorage.removeItem(KEPT);
      set({ broken: null });
      take(answer);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (error.status === 409) {
        if (opening !== state.opening) sessionStorage.setItem(KEPT, JSON.stringify({ path, text }));
        take(await api("GET", "state"));
        complain(error.message);
      } else if (opening === state.opening) {
        sessionStorage.setItem(KEPT, JSON.stringify({ path, text }));
        set({ broken: { told: error.message, line: error.answer.line } });
      }
    } finally { sending.current = false; }
  }

  useEffect(() => {
    if (!project || !holder.current || view.current) return;
    const nonce = document.querySelector("meta[name=kveil-nonce]").content;
    view.current = new EditorView({
      parent: holder.current,
      state: EditorState.create({
        doc: project.text,
        extensions: [
          EditorView.cspNonce.of(nonce), lineNumbers(), drawSelection(), highlightActiveLine(), indentOnInput(),
          bracketMatching(), yaml(), syntaxHighlighting(colours), theme, lit, indentUnit.of("  "), EditorView.lineWrapping,
          autocompletion({ override: [complete] }),
          EditorView.contentAttributes.of({ "aria-label": "The policy's text" }),
          keymap.of([
            { key: "Mod-z", run: () => { clearTimeout(timer.current); (state.broken ? follow(view.current, state.project.text) || set({ broken: null }) : undo()); return true; } },
            { key: "Mod-y", run: () => { redo(); return true; } }, { key: "Mod-Shift-z", run: () => { redo(); return true; } },
            { key: "Escape", run: () => { view.current.contentDOM.blur(); return true; } },
            ...completionKeymap, ...defaultKeymap,
          ]),
          EditorView.updateListener.of((update) => {
            if (!update.docChanged || update.transactions.some((t) => t.annotation(fromServer))) return;
            clearTimeout(timer.current);
            waiting.current = state.project.path;
            timer.current = setTimeout(send, 500);
          }),
        ],
      }),
    });
    view.current.scrollDOM.tabIndex = 0;
    const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
    if (kept && kept.path === project.path && kept.text !== project.text) {
      set({ broken: { told: "This is what was typed before the page was loaded again." } });
      view.current.dispatch({ changes: { from: 0, to: view.current.state.doc.length, insert: kept.text } });
    }
  }, [project, folded]);

  useEffect(() => () => { // another table was opened: what was typed a moment ago belongs to this one, and waits for it
    clearTimeout(timer.current);
    const text = view.current?.state.doc.toString();
    if (waiting.current) sessionStorage.setItem(KEPT, JSON.stringify({ path: waiting.current, text }));
    view.current?.destroy();
    view.current = null;
  }, []);

  useEffect(() => {
    if (!view.current || !project || state.broken || sending.current) return;
    clearTimeout(timer.current);
    follow(view.current, project.text);
  }, [project?.text, project?.path]);

  useEffect(() => {
    if (!view.current || !project) return;
    const wrong = broken ?? project.error;
    const found = [];
    if (wrong?.line && wrong.line <= view.current.state.doc.lines) {
      const line = view.current.state.doc.line(wrong.line);
      found.push({ from: line.from, to: line.to, severity: "error", message: wrong.told });
    }
    view.current.dispatch(setDiagnostics(view.current.state, found));
  }, [broken, project?.error, project?.text]);

  useEffect(() => { // the line that a screen is about; only the text itself is scrolled
    const key = { columns: "attributes", steps: column, promises: "privacy", run: "algorithm", file: "data" }[screen];
    if (!view.current || !key || view.current.hasFocus) return;
    const quoted = key.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    const at = new RegExp(`^ *["']?${quoted}["']? *:`, "m").exec(view.current.state.doc.toString());
    if (!at) return;
    const above = Math.max(0, view.current.lineBlockAt(at.index).top - view.current.scrollDOM.clientHeight / 3);
    view.current.scrollDOM.scrollTop = above < 60 ? 0 : view.current.lineBlockAtHeight(above).top; // no line is cut in half
  }, [screen, column, folded]);

  if (!project) return null;
  if (folded) {
    return html`<aside class="text" aria-label="Policy text"><button onClick=${() => { view.current = null; set({ folded: false }); }}>Show the text</button></aside>`;
  }
  const wrong = broken ?? project.error;
  return html`<aside class="text" aria-label="Policy text">
    <div class="head"><h2 title=${project.path}>${project.name}</h2>
      <button class="quiet tight" onClick=${() => set({ folded: true })}>Fold away</button></div>
    <div class="editor" ref=${holder}></div>
    <div aria-live="polite">
      ${broken ? html`<div class="notice bad"><p><strong>Not saved.</strong> ${broken.told}</p>
          <div class="row"><button class="tight" onClick=${() => { follow(view.current, project.text); sessionStorage.removeItem(KEPT); set({ broken: null }); }}>Go back to the saved text</button></div></div>`
      : wrong ? html`<div class="notice warn"><p>${wrong.told}</p></div>`
      : html`<p class="said">Saved. Clicks change this text, and typing here changes the form.</p>`}
    </div>
    <div class="command"><code tabindex="0" aria-label="The same on the command line">${command}</code>
<${Copy} text=${command} /></div>
  </aside>`;
}
