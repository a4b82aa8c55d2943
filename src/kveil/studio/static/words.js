// Words for stewards: what the policy calls a thing, and what the page calls it.
import { state } from "./store.js";

export const ROLES = {
  identifier: { name: "Names somebody", does: "never released" },
  individual: { name: "Whose record it is", does: "never released, counts people" },
  "quasi-identifier": { name: "Others may know it", does: "made coarser where needed" },
  sensitive: { name: "To be protected", does: "released, guarded" },
  insensitive: { name: "Harmless", does: "released as it is" },
};

/** What a promise is called: A, B, … Z, AA, AB, … */
export const letter = (i) => (i < 26 ? "" : letter(Math.floor(i / 26) - 1)) + String.fromCharCode(65 + (i % 26));
export const number = (n) => (n === null || n === undefined ? "–" : Number(n).toLocaleString("en"));
export const count = (n, noun, plural) => `${number(n)} ${n === 1 ? noun : plural ?? `${noun}s`}`;
export const share = (x, digits = 1) => `${(100 * x).toFixed(digits)} %`;
export const listing = (names, last = "and") =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} ${last} ${names.at(-1)}`;
export const seconds = (s) => (s < 60 ? `${s.toFixed(s < 10 ? 1 : 0)} s` : `${Math.floor(s / 60)}:${String(Math.floor(s % 60)).padStart(2, "0")} min`);
export const size = (bytes) => (bytes < 1e3 ? `${bytes} B` : bytes < 1e6 ? `${Math.round(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);

export const MODELS = {
  "k-anonymity": { name: "look alike", keys: ["k"] },
  "l-diversity": { name: "different values among those who look alike", keys: ["sensitive", "l", "variant", "c"] },
  "p-sensitive": { name: "at least p different values", keys: ["sensitive", "p"] },
  "alpha-k": { name: "no value too frequent among look-alikes", keys: ["sensitive", "alpha", "k"] },
  "t-closeness": { name: "spread as everywhere", keys: ["sensitive", "t", "distance"] },
  "kl-diversity": { name: "what one person has is shared by others", keys: ["sensitive", "k", "l"] },
  "k-km-anonymity": { name: "any few items are shared by others", keys: ["sensitive", "k", "m"] },
};
export const SETTINGS = {
  k: { label: "at least so many look alike (k)", start: 5 }, l: { label: "at least so many values (l)", start: 3 },
  p: { label: "at least so many values (p)", start: 2 }, m: { label: "items somebody may know (m)", start: 2 },
  alpha: { label: "largest share of one value (alpha)", start: 0.5 }, t: { label: "largest distance (t)", start: 0.2 },
  c: { label: "factor (c)", start: 3 },
  variant: { label: "values count as", choices: { distinct: "different", entropy: "spread out (entropy)", recursive: "not dominated (recursive)", frequency: "none above 1/l (frequency)" } },
  distance: { label: "distance", choices: { equal: "values are just different (equal)", ordered: "values have an order (ordered)", hierarchical: "values have a tree (hierarchical)" } },
};

/** What a promise says: the report's own sentence, which the server sends with its other words. */
export function sentence(model, attributes, noun) {
  const words = { ...model, noun, over: (model.attributes ?? attributes).join(", ") || "nothing", sensitive: [model.sensitive ?? "?"].flat().join(", "),
    kind: (model.variant ?? "distinct") === "distinct" ? "different" : "well-represented" };
  const said = state.catalogue?.promises[model.model]?.replace(/\{(\w+)\}/g, (_, key) => words[key] ?? "?") ?? `a promise of the kind ${model.model}`;
  return `${said[0].toUpperCase()}${said.slice(1)}.`;
}

/** Columns of a role, in the policy's order. */
export const withRole = (content, role) =>
  Object.entries(content?.attributes ?? {}).filter(([, a]) => a?.role === role).map(([name]) => name);

export function stepsInWords(attribute) {
  const spec = attribute?.hierarchy;
  if (!spec) return "value, then anything";
  if (typeof spec === "string") return spec;
  const [form, inside] = Object.entries(spec)[0] ?? [];
  return {
    intervals: () => `bands of ${(inside.widths ?? []).join(", ")}${inside.open ? ", open" : ""}`,
    mask: () => `first ${(inside.keep ?? []).join(", ")} signs`,
    dates: () => inside.join(", "),
    ranges: () => `ranges${inside.round ? `, rounded to ${inside.round}` : ""}`,
    tree: () => "a tree in the policy",
  }[form]?.() ?? "?";
}

export function limitInWords(attribute) {
  const limit = attribute?.boundary;
  if (!limit) return "none";
  if (Array.isArray(limit)) return limit.length > 2 ? `${limit.length} marked` : limit.join(", ");
  return "level" in limit ? `step ${limit.level}` : `at most ${limit.max_width} wide`;
}

export const STAGES = {
  starting: "starting", reading: "reading the table", encoding: "sorting the values", loading: "getting ready",
  solving: "looking for the best release", refining: "improving it", verifying: "verifying it from outside",
  writing: "writing it", playing: "playing the attacker", drawing: "drawing the report", testing: "testing the limits",
  looking: "looking for who is alone",
};
export const stageInWords = (stage) => {
  const first = stage.split(/[ :]/)[0];
  const which = /with (\S+)( \(\d+ of \d+\))?/.exec(stage);
  return `${STAGES[first] ?? stage}${which ? `: ${which[1]}${which[2] ?? ""}` : ""}`;
};
