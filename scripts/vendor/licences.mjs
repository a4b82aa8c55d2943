// Prints the licence of every package that is part of a bundle.
import { existsSync, readFileSync, readdirSync } from "node:fs";

const lock = JSON.parse(readFileSync("package-lock.json", "utf8"));
for (const [path, entry] of Object.entries(lock.packages).sort()) {
  if (!path || entry.dev || !existsSync(path)) continue;
  const about = JSON.parse(readFileSync(`${path}/package.json`, "utf8"));
  const file = readdirSync(path).find((name) => /^licen[cs]e/i.test(name));
  console.log(`${about.name} ${about.version} (${about.license})\n`);
  console.log(file ? readFileSync(`${path}/${file}`, "utf8").trim() : "");
  console.log(`\n${"-".repeat(80)}\n`);
}
