export { EditorState, EditorSelection, StateEffect, StateField, Annotation, Compartment } from "@codemirror/state";
export {
  EditorView, Decoration, keymap, lineNumbers, highlightActiveLine, highlightActiveLineGutter, drawSelection,
} from "@codemirror/view";
export { defaultKeymap, indentWithTab } from "@codemirror/commands";
export { indentOnInput, bracketMatching, syntaxHighlighting, HighlightStyle, indentUnit } from "@codemirror/language";
export { yaml } from "@codemirror/lang-yaml";
export { setDiagnostics, lintGutter } from "@codemirror/lint";
export { autocompletion, completionKeymap } from "@codemirror/autocomplete";
export { tags } from "@lezer/highlight";
