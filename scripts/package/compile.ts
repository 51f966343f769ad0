import { globSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type BuildFacts, ROOT, runTool } from "./build-facts.ts";

/** Compiles the packages again: what earlier builds left of sources that are gone would be packed, too. */
export function compile(programs: readonly string[], facts: BuildFacts): void {
  // The console's pages are built by the set-up.
  const former = globSync(["packages/*/dist", "packages/*/*.tsbuildinfo"], { cwd: ROOT });
  for (const path of former.filter((one) => !one.startsWith("packages/console/")))
    rmSync(join(ROOT, path), { recursive: true, force: true });
  const projects = programs.map((program) => join("packages", program));
  runTool([process.execPath, join(ROOT, "node_modules/typescript/bin/tsc"), "--build", ...projects], facts);
}
