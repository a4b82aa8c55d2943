// A tree as arrays: what is open, what is visible, where values stop. Pure functions, compared with Python in the tests.

/** Children, depths and leaves of a tree given as labels and parents (−1 for the root). */
export function grown({ labels, parents, records_below }) {
  const children = labels.map(() => []);
  let root = 0;
  parents.forEach((parent, node) => { if (parent < 0) root = node; else children[parent].push(node); });
  const depth = new Int32Array(labels.length);
  const order = [];
  const stack = [root];
  while (stack.length) {
    const node = stack.pop();
    order.push(node);
    for (let i = children[node].length - 1; i >= 0; i -= 1) { depth[children[node][i]] = depth[node] + 1; stack.push(children[node][i]); }
  }
  return { labels, parents, records: records_below, children, root, depth, order, at: new Map(labels.map((label, i) => [label, i])) };
}

/** The nodes a limit marks: by name, or every node that has a leaf so many edges below it. */
export function markedNodes(tree, boundary) {
  if (!boundary) return new Set();
  if (Array.isArray(boundary)) return new Set(boundary.map((label) => tree.at.get(label)).filter((node) => node !== undefined));
  const marked = new Set();
  if (!("level" in boundary)) return marked;
  for (const node of tree.order) {
    if (tree.children[node].length) continue;
    let up = node;
    for (let i = 0; i < Number(boundary.level) && up >= 0; i += 1) up = tree.parents[up];
    if (up >= 0) marked.add(up);
  }
  return marked;
}

/** For every node: records that stop there because of a limit, and records that may still climb through it. */
export function stops(tree, marked) {
  const stopping = new Float64Array(tree.labels.length);
  const free = new Float64Array(tree.labels.length);
  for (let i = tree.order.length - 1; i >= 0; i -= 1) {
    const node = tree.order[i];
    if (!tree.children[node].length) free[node] += tree.records[node];
    if (marked.has(node) && node !== tree.root) stopping[node] = free[node];
    else if (tree.parents[node] >= 0) free[tree.parents[node]] += free[node];
  }
  return { stopping, free };
}

/** The rows that show, from the top, with the open nodes' children. */
export function visible(tree, open, only = null) {
  const rows = [];
  const stack = [tree.root];
  while (stack.length) {
    const node = stack.pop();
    if (only && !only.has(node)) continue;
    rows.push(node);
    if (tree.children[node].length && (only || open.has(node))) for (let i = tree.children[node].length - 1; i >= 0; i -= 1) stack.push(tree.children[node][i]);
  }
  return rows;
}

/** The nodes that match a text, or have a limit, with everything above them. */
export function wanted(tree, test) {
  const keep = new Set();
  for (const node of tree.order) {
    if (!test(node)) continue;
    for (let up = node; up >= 0 && !keep.has(up); up = tree.parents[up]) keep.add(up);
  }
  return keep;
}

export const height = (tree) => Math.max(...tree.order.map((node) => tree.depth[node]));
