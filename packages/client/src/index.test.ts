import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

test("nothing that index.ts imports needs Node, so a browser can load it", async () => {
  const reached = await reachFrom(new URL("./index.ts", import.meta.url));
  const packages = [...reached].filter((specifier) => !specifier.startsWith("file:"));
  assert.deepEqual(packages, ["@downlink/protocol"]);
  assert.ok(reached.size > 6, "the walk must have found the modules");
});

async function reachFrom(file: URL, reached = new Set<string>()): Promise<Set<string>> {
  if (reached.has(file.href)) return reached;
  reached.add(file.href);
  const source = await readFile(file, "utf8");
  for (const [, specifier] of source.matchAll(/^(?:import|export) (?!type\b)[^;]*?from "([^"]+)"/gms)) {
    if (specifier!.startsWith(".")) await reachFrom(new URL(specifier!, file), reached);
    else reached.add(specifier!);
  }
  return reached;
}
