// A button that copies a text.
import { html } from "./vendor/preact.js";
import { say } from "./store.js";

export function Copy({ text }) {
  const copy = () => navigator.clipboard.writeText(text).then(() => say("Copied."), () => say("The browser does not let the page copy; mark the text instead."));
  return html`<button class="tight" onClick=${copy}>Copy</button>`;
}
